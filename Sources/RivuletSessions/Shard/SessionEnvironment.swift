package import Logging
package import RivuletEngine

/// The surroundings of all sessions of one shard.
package final class SessionEnvironment {
    package let executor: any SessionExecutor
    package let storage: SessionStorage
    package let limits: SessionLimits
    /// Those of `limits` that a log compares at each commit.
    let logLimits: SessionLog.Limits
    /// The milliseconds for which an answer is kept; each commit forgets older ones.
    let keptAnswerMilliseconds: Int64
    package let logger: Logger
    /// Milliseconds since 1970, for the log and for people.
    package let wallClock: @Sendable () -> Int64
    /// Monotonic, for idle times.
    package let uptime: @Sendable () -> Duration
    /// Runs a job on the executor's thread when so much time has passed; what is under way when the server stops may never run.
    package let schedule: (_ delay: Duration, _ job: @escaping () -> Void) -> Void
    /// What effects run on: their clock, their threads.
    package let effects: EffectSurroundings
    package let sink: any StreamSink
    /// How many streams and requests read logs.
    package let resumes: ResumeGate
    /// What measures events.
    let slowEvents: SlowEvents?
    /// What the sessions take of memory.
    package let memory: ResidentMemory
    /// Makes a group's name, unique in the process.
    package let makeGroupID: () -> GroupID

    package init(
        executor: any SessionExecutor,
        storage: SessionStorage,
        limits: SessionLimits,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        uptime: @escaping @Sendable () -> Duration,
        schedule: @escaping (_ delay: Duration, _ job: @escaping () -> Void) -> Void,
        clock: any Clock<Duration>,
        taskExecutor: (any TaskExecutor)? = nil,
        sink: any StreamSink,
        slowEvents: SlowEvents? = nil,
        makeGroupID: @escaping () -> GroupID
    ) {
        self.executor = executor
        self.storage = storage
        self.limits = limits
        logLimits = SessionLog.Limits(limits)
        keptAnswerMilliseconds = limits.keptAnswerMilliseconds
        memory = ResidentMemory(bytesMax: limits.residentBytesMax)
        resumes = ResumeGate(underWayMax: limits.resumesMax)
        self.logger = logger
        self.wallClock = wallClock
        self.uptime = uptime
        self.schedule = schedule
        effects = EffectSurroundings(
            executor: executor,
            clock: EffectClock(clock),
            taskExecutor: taskExecutor,
            limits: limits.engine
        )
        self.sink = sink
        self.slowEvents = slowEvents
        self.makeGroupID = makeGroupID
    }
}
