import RivuletBase
public import RivuletEngine

/// What a session may take at most.
public struct SessionLimits: Sendable, Hashable {
    /// The engine's limits.
    public var engine: EngineLimits
    /// The most sessions in memory per shard; one more is answered 503 when none can be put out.
    public var residentSessionsMax: Int
    /// The time for which an event may hold its loop before the log says that it is slow.
    public var slowEventTimeMin: Duration
    /// The most bytes that the sessions of a shard take in memory, roughly, those aside for their streams included; a further one is answered 503 when none can be put out.
    ///
    /// While they take as much, an event that makes a state larger is answered 503, too. A server does not start with less than 8,192 and the
    /// bytes of the largest default state of its apps.
    public var residentBytesMax: Int
    /// The most bytes of one session's state as JSON, stored and transient fields; an event that would make it larger is answered 507.
    ///
    /// Fields in `OmitCoding` are in no JSON and not counted.
    public var stateBytesMax: Int
    /// The most bytes of dispatches waiting in one session; one more is answered 503.
    public var waitingBytesMax: Int
    /// How long a session without requests stays in memory; with streams it may have to stay longer, for what storage does not keep.
    public var idleTimeMax: Duration
    /// The most streams of one session.
    public var streamsPerSessionMax: Int
    /// The most key paths of one stream.
    public var pathsPerStreamMax: Int
    /// The most changes that a session keeps in memory for resuming streams.
    public var tailChangesMax: Int
    /// The most bytes that those changes take.
    public var tailBytesMax: Int
    /// The most paths of which a session keeps when they last changed, for streams that resume or are slow; with more, those that
    /// changed longest ago are told less finely.
    public var indexEntriesMax: Int
    /// The most bytes that those paths take.
    public var indexBytesMax: Int
    /// The versions that a stored log keeps for resuming streams and for the past; up to the distance of two snapshots more.
    public var logVersionsMax: UInt64
    /// How long a stored log keeps an entry; up to a quarter longer in a session in use, otherwise until it is used again.
    public var logAgeMax: Duration
    /// The most versions between two snapshots, which loading and reading the past have to replay; a state that is large beside the log
    /// waits longer.
    public var snapshotVersionsMax: UInt64
    /// The least bytes of log between two snapshots; a larger state waits until the log has grown by the state's own size.
    public var snapshotBytesMin: Int
    /// The most requests that wait for one session to be loaded.
    public var loadWaitersMax: Int
    /// The most versions that a resuming stream reads from storage; one that missed more gets a `reset`.
    public var resumeVersionsMax: Int
    /// The most versions that a stream that resumes version by version is given in one piece.
    public var resumePageVersionsMax: Int
    /// The most bytes of log in such a piece, but for a single larger version.
    public var resumePageBytesMax: Int
    /// The most streams that resume and requests for the past that read logs at once, per shard; a further one is told to come back.
    public var resumesMax: Int
    /// The most bytes of one answer of log entries, but for a single larger one.
    public var logAnswerBytesMax: Int
    /// The most stored sessions that are searched for a path that a migration step needs and a loaded session lacks.
    ///
    /// Where more are stored, those that were read decide.
    public var migrationSearchSessionsMax: Int
    /// How long the answer to a dispatch with an idempotency key is kept.
    public var keptAnswerTime: Duration
    /// The most answers that a session keeps; a dispatch with one more key is refused with 429 until the oldest is too old.
    public var keptAnswersMax: Int
    /// The bytes of kept answers from which on a dispatch with one more key is refused in the same way.
    public var keptAnswerBytesMax: Int

    /// Makes limits; the defaults are those of the documentation.
    public init(
        engine: EngineLimits = EngineLimits(),
        residentSessionsMax: Int = 50_000,
        residentBytesMax: Int = 1_073_741_824,
        stateBytesMax: Int = 16_777_216,
        waitingBytesMax: Int = 8_388_608,
        idleTimeMax: Duration = .seconds(300),
        slowEventTimeMin: Duration = .milliseconds(100),
        streamsPerSessionMax: Int = 20_000,
        pathsPerStreamMax: Int = 64,
        tailChangesMax: Int = 1_000,
        tailBytesMax: Int = 262_144,
        indexEntriesMax: Int = 1_024,
        indexBytesMax: Int = 524_288,
        logVersionsMax: UInt64 = 10_000,
        logAgeMax: Duration = .seconds(604_800),
        snapshotVersionsMax: UInt64 = 256,
        snapshotBytesMin: Int = 262_144,
        loadWaitersMax: Int = 1_024,
        resumeVersionsMax: Int = 10_000,
        resumePageVersionsMax: Int = 256,
        resumePageBytesMax: Int = 262_144,
        resumesMax: Int = 64,
        logAnswerBytesMax: Int = 1_048_576,
        migrationSearchSessionsMax: Int = 100_000,
        keptAnswerTime: Duration = .seconds(86_400),
        keptAnswersMax: Int = 10_000,
        keptAnswerBytesMax: Int = 67_108_864
    ) {
        self.engine = engine
        self.residentSessionsMax = residentSessionsMax
        self.residentBytesMax = residentBytesMax
        self.stateBytesMax = stateBytesMax
        self.waitingBytesMax = waitingBytesMax
        self.idleTimeMax = idleTimeMax
        self.slowEventTimeMin = slowEventTimeMin
        self.streamsPerSessionMax = streamsPerSessionMax
        self.pathsPerStreamMax = pathsPerStreamMax
        self.tailChangesMax = tailChangesMax
        self.tailBytesMax = tailBytesMax
        self.indexEntriesMax = indexEntriesMax
        self.indexBytesMax = indexBytesMax
        self.logVersionsMax = logVersionsMax
        self.logAgeMax = logAgeMax
        self.snapshotVersionsMax = snapshotVersionsMax
        self.snapshotBytesMin = snapshotBytesMin
        self.loadWaitersMax = loadWaitersMax
        self.resumeVersionsMax = resumeVersionsMax
        self.resumePageVersionsMax = resumePageVersionsMax
        self.resumePageBytesMax = resumePageBytesMax
        self.resumesMax = resumesMax
        self.logAnswerBytesMax = logAnswerBytesMax
        self.migrationSearchSessionsMax = migrationSearchSessionsMax
        self.keptAnswerTime = keptAnswerTime
        self.keptAnswersMax = keptAnswersMax
        self.keptAnswerBytesMax = keptAnswerBytesMax
    }

    /// `keptAnswerTime` in milliseconds.
    var keptAnswerMilliseconds: Int64 { Int64(keptAnswerTime.milliseconds) }
}
