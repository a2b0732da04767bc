/// What clients may take of the server at most; each limit has an answer of its own.
public struct ServerLimits: Sendable, Hashable {
    /// The most bytes of a request's header block; more is 431.
    public var headerBytesMax: Int
    /// The most bytes of a request's target; more is 414.
    public var targetBytesMax: Int
    /// The most bytes of a request's body; more is 413.
    public var bodyBytesMax: Int
    /// The most bytes of bodies that the server is reading at once; a body that finds no room waits for `bodyWaitTimeMax`.
    ///
    /// An eighth is for bodies of at most 16 KiB, so that large ones do not lock them out. A sixteenth is for the waiting ones among them,
    /// and a sixteenth for the other waiting bodies. At least 131,072, and at least four thirds of `bodyBytesMax`.
    public var heldBodyBytesMax: Int
    /// How long a body waits for room among `heldBodyBytesMax`; then 503.
    public var bodyWaitTimeMax: Duration
    /// How long a body may make no progress while others wait for room; then 408.
    public var bodyProgressTimeMax: Duration
    /// The fewest bytes of a body that are progress: while others wait, as many have to arrive in each `bodyProgressTimeMax`.
    public var bodyProgressBytesMin: Int
    /// How long a client may take to send a request's head; then 408.
    public var headTimeMax: Duration
    /// How long a client may take to send a request's body; then 408.
    public var bodyTimeMax: Duration
    /// How long a connection stays open between requests.
    public var idleTimeMax: Duration
    /// The most connections per server; a further one is closed at once.
    public var connectionsMax: Int
    /// The most streams per server; a further one gets `bye` and `retry:`.
    public var streamsMax: Int
    /// The most streams of one source address; a further one gets `bye` and `retry:`.
    ///
    /// Nil sets no limit: behind a proxy all streams have its address.
    public var streamsPerAddressMax: Int?
    /// The most bytes that wait for one slow stream, without the framing of chunks; then its changes are merged until it drains.
    public var unsentBytesMax: Int
    /// The most bytes of events, snapshots and answers that wait for clients to take them, with the framing of chunks; shared bytes count once.
    ///
    /// Beyond it new streams get `bye` with the reason `limit`, reads are 503, and connections are closed that have taken nothing for ten
    /// seconds.
    public var heldBytesMax: Int
    /// The time without traffic after which a stream gets a comment.
    public var heartbeatInterval: Duration
    /// How long a stream lives, give or take a fifth.
    public var streamLifetime: Duration
    /// The time over which a stopping server ends its streams.
    public var drainSpread: Duration
    /// How long a stopping server waits for answers and streams to end.
    public var drainTimeMax: Duration
    /// The most bytes of one file in the public folder.
    public var staticFileBytesMax: Int
    /// The fewest bytes of an answer that are worth compressing.
    public var compressedBytesMin: Int
    /// The most lines of an `application/x-ndjson` body; more is 413.
    public var linesPerRequestMax: Int
    /// The bytes of answers from which on the further lines of a request are not dispatched; a few under way may go beyond.
    public var lineAnswerBytesMax: Int
    /// The most lines about refused dispatches, and about failed requests, that each loop writes to the log in a second; one line counts the rest.
    public var refusalLinesPerSecondMax: Int

    /// Sets all limits; the defaults are those of the documentation.
    public init(
        headerBytesMax: Int = 16_384,
        targetBytesMax: Int = 8_192,
        bodyBytesMax: Int = 1_048_576,
        heldBodyBytesMax: Int = 67_108_864,
        bodyWaitTimeMax: Duration = .seconds(5),
        bodyProgressTimeMax: Duration = .seconds(1),
        bodyProgressBytesMin: Int = 4_096,
        headTimeMax: Duration = .seconds(10),
        bodyTimeMax: Duration = .seconds(30),
        idleTimeMax: Duration = .seconds(75),
        connectionsMax: Int = 100_000,
        streamsMax: Int = 100_000,
        streamsPerAddressMax: Int? = nil,
        unsentBytesMax: Int = 262_144,
        heldBytesMax: Int = 268_435_456,
        heartbeatInterval: Duration = .seconds(15),
        streamLifetime: Duration = .seconds(600),
        drainSpread: Duration = .seconds(3),
        drainTimeMax: Duration = .seconds(10),
        staticFileBytesMax: Int = 16_777_216,
        compressedBytesMin: Int = 1_024,
        linesPerRequestMax: Int = 1_000,
        lineAnswerBytesMax: Int = 8_388_608,
        refusalLinesPerSecondMax: Int = 10
    ) {
        self.headerBytesMax = headerBytesMax
        self.targetBytesMax = targetBytesMax
        self.bodyBytesMax = bodyBytesMax
        self.heldBodyBytesMax = heldBodyBytesMax
        self.bodyWaitTimeMax = bodyWaitTimeMax
        self.bodyProgressTimeMax = bodyProgressTimeMax
        self.bodyProgressBytesMin = bodyProgressBytesMin
        self.headTimeMax = headTimeMax
        self.bodyTimeMax = bodyTimeMax
        self.idleTimeMax = idleTimeMax
        self.connectionsMax = connectionsMax
        self.streamsMax = streamsMax
        self.streamsPerAddressMax = streamsPerAddressMax
        self.unsentBytesMax = unsentBytesMax
        self.heldBytesMax = heldBytesMax
        self.heartbeatInterval = heartbeatInterval
        self.streamLifetime = streamLifetime
        self.drainSpread = drainSpread
        self.drainTimeMax = drainTimeMax
        self.staticFileBytesMax = staticFileBytesMax
        self.compressedBytesMin = compressedBytesMin
        self.linesPerRequestMax = linesPerRequestMax
        self.lineAnswerBytesMax = lineAnswerBytesMax
        self.refusalLinesPerSecondMax = refusalLinesPerSecondMax
    }
}
