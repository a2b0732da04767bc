import RivuletEventLoop
import RivuletHTTP
import RivuletSessions

/// Writes the beginning and the end of streams: the heads, the framing, and the events for one stream alone.
struct StreamWriter {
    /// Source: <Documentation/HTTP.md#change-streams>.
    private static let fields = [
        HTTPField("Content-Type", "text/event-stream"),
        HTTPField("Cache-Control", "no-store, no-transform"),
        HTTPField("X-Accel-Buffering", "no"),
        HTTPField("Vary", "Accept-Encoding"),
    ]

    private let core: LoopCore
    private let connections: ConnectionDriver
    private let coder: StreamCoder

    init(_ core: LoopCore, _ connections: ConnectionDriver, _ coder: StreamCoder) {
        (self.core, self.connections, self.coder) = (core, connections, coder)
    }

    /// Begins a stream as the answer to the request under way; nil if no request is under way.
    ///
    /// The head also has the stream's name, because a resumed stream has no snapshot with the name.
    func begin(_ connection: ClientConnection, named name: String, _ facts: OpenStream.Facts) -> [UInt8]? {
        // RFC 8288, and RFC 5023 for "edit": the address at which the stream can be changed.
        var fields = Self.fields + [HTTPField("Link", "</v1/streams/\(name)>; rel=\"edit\"")]
        if facts.isCompressed { fields.append(HTTPField("Content-Encoding", "gzip")) }
        guard let head = connections.beginStream(connection, fields) else { return nil }
        core.transport.setStreaming(connection.id)
        return head
    }

    /// Appends a comment, so that the client sees the head, and a reconnection time, by default of 1 to 3 seconds.
    private static func appendOpening(to bytes: inout [UInt8], retry: Int? = nil) {
        ServerSentEvent.append(comment: "", to: &bytes)
        ServerSentEvent.append(retryMilliseconds: retry ?? Int.random(in: 1_000...3_000), to: &bytes)
    }

    /// Writes the events with which a stream begins or continues.
    ///
    /// - Parameters:
    ///   - first: The events. A snapshot gets the stream's name.
    ///   - name: The name.
    ///   - head: The head of the answer, if the stream begins with these events. Nil for a stream that continues.
    ///   - id: The connection.
    ///   - facts: The form of the body.
    /// - Returns: The outcome, and the tally of the text of a compressed stream.
    func write(
        _ first: FirstEvents,
        named name: String,
        behind head: [UInt8]?,
        to id: ConnectionID,
        _ facts: OpenStream.Facts
    ) -> (outcome: WriteOutcome, text: GzipTally?) {
        var text: [UInt8] = []
        if head != nil { Self.appendOpening(to: &text) }
        if !first.head.isEmpty {
            text += first.head
            text.append(contentsOf: "\"stream\":\"\(name)\",".utf8)
        }
        guard facts.isCompressed else {
            return (writeParts(text, first.body.map(\.plain), behind: head ?? [], to: id, facts), nil)
        }
        return writeCompressed(text, first.body, behind: head ?? [], isFirst: head != nil, to: id, facts)
    }

    /// Writes a head, if any, and the stream's first events as one chunk, so that no event is in two chunks.
    private func writeParts(
        _ text: [UInt8],
        _ body: [SharedBytes],
        behind head: [UInt8],
        to id: ConnectionID,
        _ facts: OpenStream.Facts
    ) -> WriteOutcome {
        let count = body.reduce(text.count) { $0 + $1.count }
        guard facts.isChunked, count > 0 else { return core.transport.write(id, head + text, body[...]) }
        var head = head
        HTTPChunk.appendHead(count: count, to: &head)
        let blocks = body + [core.context.chunkTerminator]
        return core.transport.write(id, head + text, blocks[...])
    }

    /// Writes a head, if any, and the first events of a compressed stream; the body of a new stream begins with a gzip
    /// head.
    ///
    /// A short text is compressed as a whole, which makes it smaller. The parts of a long text are shared with other
    /// streams.
    private func writeCompressed(
        _ text: [UInt8],
        _ body: [StreamText],
        behind head: [UInt8],
        isFirst: Bool,
        to id: ConnectionID,
        _ facts: OpenStream.Facts
    ) -> (outcome: WriteOutcome, text: GzipTally?) {
        let start = isFirst ? StreamCompressor.head : []
        let count = body.reduce(0) { $0 + $1.plain.count }
        guard count >= SharedSnapshots.bytesMin else {
            var text = text
            for part in body { part.plain.append(to: &text) }
            guard !text.isEmpty else { return (core.transport.write(id, head, []), GzipTally()) }
            // No other stream shares the block, but bytes that wait for a client have to be counted.
            let block = coder.block(start + coder.independent(text.span)).bytes(isChunked: facts.isChunked)
            return (core.transport.write(id, head, [block]), GzipTally(text.span))
        }
        let parts = body.map { $0.compressed(by: coder) }
        var tally = GzipTally(text.span)
        for part in parts { tally.append(part.tally) }
        let own = start + (text.isEmpty ? [] : coder.independent(text.span))
        return (writeParts(own, parts.map(\.blocks), behind: head, to: id, facts), tally)
    }

    /// Writes an event to one stream that has taken everything before it.
    ///
    /// - Returns: The outcome, and the tally of the text of a compressed stream.
    func write(
        _ event: StreamEvent,
        to id: ConnectionID,
        _ facts: OpenStream.Facts
    ) -> (outcome: WriteOutcome, text: GzipTally?) {
        var text: [UInt8] = []
        event.append(to: &text)
        let body = StreamText(text, account: core.context.heldBytes)
        return write(FirstEvents(head: [], body: [body], start: .merged), named: "", behind: nil, to: id, facts)
    }

    /// Answers 200 with a stream that has a single `bye`, because a browser does not reconnect after any other status.
    ///
    /// Source: <Documentation/HTTP.md#change-streams>.
    ///
    /// `delay` is the time before the client reconnects, in milliseconds; nil takes a random one. The client may come
    /// back with the ticket of the request.
    func answerBye(_ connection: ClientConnection, _ reason: StreamTurnedAway, after delay: Int? = nil) {
        let isChunked = connection.takesChunks
        let opening = connection.request?.opening
        guard let head = connections.beginStream(connection, Self.fields) else { return }
        if let opening { core.context.giveBack(opening) }
        var text: [UInt8] = []
        Self.appendOpening(to: &text, retry: delay)
        text += Self.bye(reason.bye, after: delay)
        core.counters.streamRefused(reason)
        _ = core.transport.write(connection.id, head + Self.lastBytes(text, isChunked: isChunked))
        core.transport.resumeReading(connection.id)
        connections.closeGently(connection)
    }

    /// The text of a `bye`.
    static func bye(_ reason: StreamEvent.ByeReason, after delay: Int? = nil) -> [UInt8] {
        var text: [UInt8] = []
        StreamEvent.bye(reason, after: delay).append(to: &text)
        return text
    }

    /// Writes the last bytes of a stream, and closes its connection.
    func end(_ connection: ClientConnection, with content: [UInt8], _ facts: OpenStream.Facts) {
        _ = core.transport.write(connection.id, Self.lastBytes(content, isChunked: facts.isChunked))
        connections.closeGently(connection)
    }

    /// The end of a body: the last content and, for a chunked body, the last chunk.
    ///
    /// Only this function writes the last chunk. To a client, a body without it is cut off.
    private static func lastBytes(_ content: [UInt8], isChunked: Bool) -> [UInt8] {
        guard isChunked else { return content }
        var bytes: [UInt8] = []
        HTTPChunk.append(content, to: &bytes)
        return bytes + HTTPChunk.end
    }
}
