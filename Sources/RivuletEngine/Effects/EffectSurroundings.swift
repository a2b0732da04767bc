/// The thread to which effects return, their clock, their threads and their limits.
package struct EffectSurroundings: Sendable {
    package let executor: any SessionExecutor
    package let clock: EffectClock
    /// The executor that runs the works; nil if they run on Swift's own thread pool.
    package let taskExecutor: (any TaskExecutor)?
    package let limits: EngineLimits

    package init(
        executor: any SessionExecutor,
        clock: EffectClock,
        taskExecutor: (any TaskExecutor)?,
        limits: EngineLimits
    ) {
        self.executor = executor
        self.clock = clock
        self.taskExecutor = taskExecutor
        self.limits = limits
    }
}

/// A clock that begins at zero when this value is created.
package struct EffectClock: Sendable {
    /// The clock itself.
    package let clock: any Clock<Duration>
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    package init(_ clock: some Clock<Duration>) {
        let start = clock.now
        self.clock = clock
        read = { start.duration(to: clock.now) }
        wait = { deadline in try await clock.sleep(until: start.advanced(by: deadline), tolerance: nil) }
    }

    /// The time since this value was created.
    package var now: Duration { read() }

    /// Waits until the given time since this value was created.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(until deadline: Duration) async throws {
        try await wait(deadline)
    }
}
