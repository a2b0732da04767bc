package import Logging
package import RivuletEngine

/// The surroundings of all sessions of one shard.
package final class SessionEnvironment {
    package let executor: any SessionExecutor
    package let storage: SessionStorage
    package let limits: SessionLimits
    /// The limits of logs, converted once because each commit compares them.
    let logLimits: SessionLog.Limits
    /// The time for which an idempotency record is kept, in milliseconds; each commit deletes older records.
    let idempotencyRecordMilliseconds: Int64
    package let logger: Logger
    /// The calendar time in milliseconds since 1970, for log entries and metadata.
    package let wallClock: @Sendable () -> Int64
    /// The monotonic time, for idle times.
    package let uptime: @Sendable () -> Duration
    /// Runs a job on the executor's thread after a delay; a job that waits when the server stops may never run.
    package let schedule: (_ delay: Duration, _ job: @escaping () -> Void) -> Void
    /// The jobs on work threads; jobs under way when the server stops may never run.
    let jobs: LongJobs
    /// The clock and the threads of effects.
    package let effects: EffectSurroundings
    package let sink: any StreamSink
    /// The limit on streams and requests that read logs at once.
    package let resumes: ResumeGate
    /// The measurement of slow events; nil if events are not measured.
    let slowEvents: SlowEvents?
    /// The memory account of the sessions.
    package let memory: ResidentMemory
    /// Makes a group's id, unique in the process.
    package let makeGroupID: () -> GroupID
    /// True if sessions may be handed out now; nil if they always may.
    let mayHandOut: (() -> Bool)?

    package init(
        executor: any SessionExecutor,
        storage: SessionStorage,
        limits: SessionLimits,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        uptime: @escaping @Sendable () -> Duration,
        schedule: @escaping (_ delay: Duration, _ job: @escaping () -> Void) -> Void,
        work: @escaping WorkThreads,
        clock: any Clock<Duration>,
        taskExecutor: (any TaskExecutor)? = nil,
        sink: any StreamSink,
        slowEvents: SlowEvents? = nil,
        makeGroupID: @escaping () -> GroupID,
        mayHandOut: (() -> Bool)? = nil
    ) {
        self.executor = executor
        self.storage = storage
        self.limits = limits
        logLimits = SessionLog.Limits(limits)
        idempotencyRecordMilliseconds = limits.idempotencyRecordMilliseconds
        memory = ResidentMemory(bytesMax: limits.residentBytesMax)
        resumes = ResumeGate(underWayMax: limits.resumesMax)
        self.logger = logger
        self.wallClock = wallClock
        self.uptime = uptime
        self.schedule = schedule
        jobs = LongJobs(work)
        effects = EffectSurroundings(
            executor: executor,
            clock: EffectClock(clock),
            taskExecutor: taskExecutor,
            limits: limits.engine
        )
        self.sink = sink
        self.slowEvents = slowEvents
        self.makeGroupID = makeGroupID
        self.mayHandOut = mayHandOut
    }
}
