import RivuletBase
public import RivuletEngine

/// The limits of sessions and of the shards that hold them.
public struct SessionLimits: Sendable, Hashable {
    /// The engine's limits.
    public var engine: EngineLimits
    /// The most sessions in memory per shard; a request for a further one is answered 503 if no session can be evicted.
    public var residentSessionsMax: Int
    /// The time for which an event may hold its loop before the log says that it is slow.
    public var slowEventTimeMin: Duration
    /// The most bytes that the sessions of a shard take in memory, roughly, including passivated ones.
    ///
    /// A request for a further session is answered 503 if no session can be evicted. While memory is full, an event
    /// that makes a state larger is answered 503, too. A server does not start with less than 8,192 bytes plus the
    /// bytes of the largest default state of its apps.
    public var residentBytesMax: Int
    /// The most bytes of one session's state as JSON, with stored and transient fields; an event that would exceed them
    /// is answered 507.
    ///
    /// Fields in `OmitCoding` are in no JSON and not counted.
    public var stateBytesMax: Int
    /// The most bytes of JSON that are read or written within one turn of a loop; a larger state is read and written on
    /// a work thread.
    public var turnJSONBytesMax: Int
    /// The most bytes of dispatches that wait in one session; a further dispatch is answered 503.
    public var waitingBytesMax: Int
    /// The time for which a session without requests stays in memory; a session with streams may stay longer, for
    /// values that storage does not keep.
    public var idleTimeMax: Duration
    /// The most streams of one session.
    public var streamsPerSessionMax: Int
    /// The most key paths of one stream.
    public var pathsPerStreamMax: Int
    /// The most changes that a session keeps in memory for resuming streams.
    public var tailChangesMax: Int
    /// The most bytes of the changes that a session keeps in memory for resuming streams.
    public var tailBytesMax: Int
    /// The most paths for which a session keeps the last change, for streams that resume or are slow.
    ///
    /// With more paths, the paths that changed longest ago are replaced by the paths that contain them.
    public var indexEntriesMax: Int
    /// The most bytes of the paths for which a session keeps the last change.
    public var indexBytesMax: Int
    /// The number of versions that a stored log keeps for resuming streams and for reads of the past.
    ///
    /// The log may keep more versions, up to the distance between two snapshots.
    public var logVersionsMax: UInt64
    /// The most bytes of entries that a stored log keeps; the oldest entries are dropped first.
    ///
    /// The log may keep more bytes, up to the distance between two snapshots.
    public var logBytesMax: Int
    /// The time for which a stored log keeps an entry.
    ///
    /// A session in use keeps an entry up to a quarter longer. A session that is not in use keeps it until its next
    /// use.
    public var logAgeMax: Duration
    /// The most versions between two snapshots, which a load or a read of the past has to replay.
    ///
    /// A snapshot waits longer if the state is large compared with the log.
    public var snapshotVersionsMax: UInt64
    /// The bytes of new log entries after which a snapshot is due.
    ///
    /// If the last snapshot is larger than this limit, the snapshot's own size is the limit.
    public var snapshotBytesMin: Int
    /// The most requests that wait for one session to be loaded.
    public var loadWaitersMax: Int
    /// The most versions that a resuming stream reads from storage; a stream that missed more gets a `reset`.
    public var resumeVersionsMax: Int
    /// The most versions in one piece for a stream that resumes version by version.
    public var resumePageVersionsMax: Int
    /// The most bytes of log in such a piece, except for a single larger version.
    public var resumePageBytesMax: Int
    /// The most resuming streams and requests for earlier versions that read logs at once, per shard; further ones are
    /// asked to retry.
    public var resumesMax: Int
    /// The most bytes of one answer of log entries, except for a single larger entry.
    public var logAnswerBytesMax: Int
    /// The most stored sessions that are searched for a path that a migration step needs and a loaded session lacks.
    ///
    /// If more sessions are stored, the result is decided by those that were searched.
    public var migrationSearchSessionsMax: Int
    /// The time for which the answer to a dispatch with an idempotency key is kept.
    public var idempotencyRecordTime: Duration
    /// The most idempotency records that a session keeps; a dispatch with a new key is refused with 429 until the
    /// oldest record expires.
    public var idempotencyRecordsMax: Int
    /// The bytes of a session's idempotency records at which a dispatch with a new key is refused with 429.
    public var idempotencyRecordBytesMax: Int

    /// Makes limits with the documented defaults.
    public init(
        engine: EngineLimits = EngineLimits(),
        residentSessionsMax: Int = 50_000,
        residentBytesMax: Int = 1_073_741_824,
        stateBytesMax: Int = 16_777_216,
        turnJSONBytesMax: Int = 262_144,
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
        logBytesMax: Int = 268_435_456,
        logAgeMax: Duration = .seconds(604_800),
        snapshotVersionsMax: UInt64 = 256,
        snapshotBytesMin: Int = 262_144,
        loadWaitersMax: Int = 32_768,
        resumeVersionsMax: Int = 10_000,
        resumePageVersionsMax: Int = 256,
        resumePageBytesMax: Int = 262_144,
        resumesMax: Int = 64,
        logAnswerBytesMax: Int = 1_048_576,
        migrationSearchSessionsMax: Int = 100_000,
        idempotencyRecordTime: Duration = .seconds(86_400),
        idempotencyRecordsMax: Int = 10_000,
        idempotencyRecordBytesMax: Int = 67_108_864
    ) {
        self.engine = engine
        self.residentSessionsMax = residentSessionsMax
        self.residentBytesMax = residentBytesMax
        self.stateBytesMax = stateBytesMax
        self.turnJSONBytesMax = turnJSONBytesMax
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
        self.logBytesMax = logBytesMax
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
        self.idempotencyRecordTime = idempotencyRecordTime
        self.idempotencyRecordsMax = idempotencyRecordsMax
        self.idempotencyRecordBytesMax = idempotencyRecordBytesMax
    }

    /// `idempotencyRecordTime` in milliseconds.
    var idempotencyRecordMilliseconds: Int64 { Int64(idempotencyRecordTime.milliseconds) }
}
