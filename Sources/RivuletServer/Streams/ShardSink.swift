import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// Renders each event of a loop's sessions once, and passes the bytes to every loop that has members of the event's
/// group.
final class ShardSink: StreamSink {
    private let outbox: StreamOutbox
    private let account: SharedBytes.Account
    private let context: ServerContext
    /// The event that was rendered last, its cursor and its block; several groups may get it in a row.
    private var rendered: (event: StreamEvent, cursor: String, block: StreamBlock)?
    /// The text of the snapshot that was sent last; several streams may get it in a row.
    private var lastSnapshot: (event: StreamEvent, text: StreamText)?

    init(_ outbox: StreamOutbox, _ core: LoopCore) {
        self.outbox = outbox
        context = core.context
        account = context.heldBytes
    }

    func preparation(isCompressed: Bool) -> @Sendable (_ snapshot: StreamEvent) -> Void {
        { [context, account] event in
            guard context.hasRoomToKeep else { return }
            let text = event.form.value { Self.makeText(ofSnapshot: event, account) }
            if isCompressed { text.compress(account) }
        }
    }

    func join(
        _ stream: StreamID,
        at slot: StreamSlot,
        session: SessionKey,
        topic: StreamTopic,
        first: [StreamEvent],
        cursor: Cursor,
        resumesAll: Bool
    ) {
        let join = StreamJoin(
            stream: stream,
            slot: slot,
            source: .session(session, topic),
            first: beginning(first, resumesAll: resumesAll),
            cursor: "\(cursor)"
        )
        outbox.send(.join(join), to: stream.loop)
    }

    func deliver(_ event: StreamEvent, to group: GroupID, loops: [Int]) {
        let (cursor, block) = rendered(event)
        for index in loops { outbox.send(.deliver(block, cursor: cursor, group: group), to: index) }
    }

    func end(_ group: GroupID, because reason: StreamEvent.ByeReason, loops: [Int]) {
        for index in loops { outbox.send(.end(group, reason), to: index) }
    }

    func refuse(_ stream: StreamID, with error: SessionStreamError) {
        outbox.send(.refuse(stream, .session(error)), to: stream.loop)
    }

    /// Releases the event and the snapshot that were rendered last.
    func endTurn() {
        rendered = nil
        if lastSnapshot != nil { lastSnapshot = nil }
    }

    /// Renders the events with which a stream begins or continues.
    ///
    /// A snapshot is rendered once for all streams that get it.
    private func beginning(_ events: [StreamEvent], resumesAll: Bool) -> FirstEvents {
        let resumed = resumesAll ? StreamStart.all : .merged
        guard let first = events.first else { return FirstEvents(head: [], body: [], start: resumed) }
        var head: [UInt8] = []
        var body: [StreamText] = []
        var rest = events[...]
        if first.name == .snapshot || first.name == .reset {
            ServerSentEvent.append(event: first.name.rawValue, id: first.cursor.map { "\($0)" }, to: &head)
            head.append(contentsOf: "data: {".utf8)
            body.append(text(ofSnapshot: first))
            rest = rest.dropFirst()
        }
        var bytes: [UInt8] = []
        for event in rest { event.append(to: &bytes) }
        if !bytes.isEmpty { body.append(StreamText(bytes, account: account)) }
        let start = first.name == .snapshot ? StreamStart.fresh : first.resetReason.map { StreamStart($0) } ?? resumed
        return FirstEvents(head: head, body: body, start: start)
    }

    /// The rest of a snapshot, after the stream's name.
    private func text(ofSnapshot event: StreamEvent) -> StreamText {
        if let lastSnapshot, lastSnapshot.event === event { return lastSnapshot.text }
        let make = { [account] in Self.makeText(ofSnapshot: event, account) }
        let text = context.hasRoomToKeep ? event.form.value(make) : make()
        lastSnapshot = (event, text)
        return text
    }

    private static func makeText(ofSnapshot event: StreamEvent, _ account: SharedBytes.Account) -> StreamText {
        let data = event.data
        // The data is one line, an object with at least a version. Its brace is left out here: the stream's name goes
        // first.
        let text = SharedBytes(capacity: data.count + 1, account: account) { output in
            output.append(copying: data.span.extracting(1...))
            output.append(UInt8(ascii: "\n"))
            output.append(UInt8(ascii: "\n"))
        }
        return StreamText(text)
    }

    private func rendered(_ event: StreamEvent) -> (cursor: String, block: StreamBlock) {
        if let rendered, rendered.event === event { return (rendered.cursor, rendered.block) }
        let cursor = event.cursor?.description
        let block = event.block(cursor: cursor, account: account)
        rendered = (event, cursor ?? "", block)
        return (cursor ?? "", block)
    }
}

extension StreamEvent {
    /// Appends the event in the format of an event stream.
    func append(to bytes: inout [UInt8]) {
        let data = data
        ServerSentEvent.append(event: name.rawValue, id: cursor?.description, data: data.span, to: &bytes)
    }

    /// The event as a block for many streams; `cursor` is the cursor's text.
    fileprivate func block(cursor: String?, account: SharedBytes.Account) -> StreamBlock {
        let (name, data) = (name.rawValue, data)
        let capacity = ServerSentEvent.byteCountMax(event: name, id: cursor, data: data.span)
        return StreamBlock(capacity: capacity, account: account) { output in
            ServerSentEvent.append(event: name, id: cursor, data: data.span, to: &output)
        }
    }
}
