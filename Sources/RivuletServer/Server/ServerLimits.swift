/// The limits on the resources that clients use.
public struct ServerLimits: Sendable, Hashable {
    /// The most bytes of a request's header block; a larger block gets 431.
    public var headerBytesMax: Int
    /// The most bytes of a request's target; a longer target gets 414.
    public var targetBytesMax: Int
    /// The most bytes of a request's body; a larger body gets 413.
    public var bodyBytesMax: Int
    /// The most bytes of bodies that the server reads at once.
    ///
    /// A body for which there is no room waits up to `bodyWaitTimeMax`.
    ///
    /// An eighth of the bytes is for bodies with a declared length of at most 16 KiB, so that large bodies do not lock
    /// them out. Small bodies that wait have a sixteenth of the bytes, and large bodies that wait have another
    /// sixteenth. The value must be at least 131,072, and at least four thirds of `bodyBytesMax`.
    public var heldBodyBytesMax: Int
    /// The longest time for which a body waits for room under `heldBodyBytesMax`; then the request gets 503.
    public var bodyWaitTimeMax: Duration
    /// The longest time without progress of a body while other bodies wait for room; then the request gets 408.
    public var bodyProgressTimeMax: Duration
    /// The fewest bytes of a body that count as progress.
    ///
    /// While other bodies wait, this many bytes must arrive in each period of `bodyProgressTimeMax`.
    public var bodyProgressBytesMin: Int
    /// The time in which a client must send a request's head; a slower request gets 408.
    public var headTimeMax: Duration
    /// The time in which a client must send a request's body; a slower request gets 408.
    public var bodyTimeMax: Duration
    /// The longest time for which a connection stays open between requests.
    public var idleTimeMax: Duration
    /// The most connections of the server; a further connection is closed at once.
    public var connectionsMax: Int
    /// The most streams of the server; a further stream gets `bye` and `retry:`.
    public var streamsMax: Int
    /// The most streams of one client's address, or IPv6 network (/64); a further stream gets `bye` and `retry:`.
    ///
    /// Nil sets no limit, because clients behind a proxy that names no clients have one address together.
    public var streamsPerAddressMax: Int?
    /// The most bytes that wait for one slow stream, without the framing of chunks.
    ///
    /// Beyond this limit, the stream's changes are merged until the waiting bytes are sent.
    public var unsentBytesMax: Int
    /// The most bytes of events, snapshots and answers that wait for clients to take them.
    ///
    /// The sum includes the framing of chunks. Bytes that several clients share are included once. Beyond this limit,
    /// new streams get `bye` with the reason `limit`, reads get 503, and connections that have taken nothing for ten
    /// seconds are closed.
    public var heldBytesMax: Int
    /// The time without traffic after which a stream gets a comment.
    public var heartbeatInterval: Duration
    /// The lifetime of a stream, up to a fifth shorter or longer.
    public var streamLifetime: Duration
    /// The time over which a stopping server ends its streams.
    public var drainSpread: Duration
    /// The longest time for which a stopping server waits for answers and streams to end.
    public var drainTimeMax: Duration
    /// The most bytes of one file in the public folder.
    public var staticFileBytesMax: Int
    /// The fewest bytes of an answer that are worth compressing.
    public var compressedBytesMin: Int
    /// The most lines of an `application/x-ndjson` body; a body with more lines gets 413.
    public var linesPerRequestMax: Int
    /// The most bytes of answers to the lines of one request.
    ///
    /// Beyond this limit, the further lines of the request are not dispatched. The answers to lines that are already
    /// under way may exceed it a little.
    public var lineAnswerBytesMax: Int
    /// The most log lines about refused dispatches that one loop writes in a second.
    ///
    /// The same limit holds separately for lines about failed requests. A later line has the number of the lines that
    /// were left out.
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
