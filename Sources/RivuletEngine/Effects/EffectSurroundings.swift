/// The thread to which effects come back, their clock, their threads and their limits.
package struct EffectSurroundings: Sendable {
    package let executor: any SessionExecutor
    package let clock: EffectClock
    /// Where works run; nil for the threads that all tasks share.
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
