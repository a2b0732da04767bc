import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// Renders each event of a loop's sessions once, and passes the bytes to every loop that has members.
final class ShardSink: StreamSink {
    private let outbox: StreamOutbox
    private let account: SharedBytes.Account
    /// The event that was rendered last, its cursor and its block: several groups may get it one after the other.
    private var rendered: (event: StreamEvent, cursor: String, block: StreamBlock)?

    init(_ outbox: StreamOutbox, account: SharedBytes.Account) {
        self.outbox = outbox
        self.account = account
    }

    func join(
        _ stream: StreamID,
        at place: StreamPlace,
        session: SessionKey,
        topic: StreamTopic,
        first: [StreamEvent],
        cursor: Cursor,
        resumesAll: Bool
    ) {
        let join = StreamJoin(
            stream: stream,
            place: place,
            source: .session(session, topic),
            first: FirstEvents(first, resumesAll: resumesAll, account: account),
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

    func refuse(_ stream: StreamID, with refusal: StreamRefusal) {
        outbox.send(.refuse(stream, .session(refusal)), to: stream.loop)
    }

    /// Forgets the event that was rendered last.
    func endTurn() { rendered = nil }

    private func rendered(_ event: StreamEvent) -> (cursor: String, block: StreamBlock) {
        if let rendered, rendered.event === event { return (rendered.cursor, rendered.block) }
        let cursor = event.cursor?.description
        let block = event.block(cursor: cursor, account: account)
        rendered = (event, cursor ?? "", block)
        return (cursor ?? "", block)
    }
}

extension FirstEvents {
    /// Renders the events; a snapshot or a reset leaves room for the stream's name.
    init(_ events: [StreamEvent], resumesAll: Bool, account: SharedBytes.Account) {
        let resumed = resumesAll ? StreamStart.all : .merged
        guard let first = events.first else {
            self.init(head: [], body: [], start: resumed)
            return
        }
        var (head, bytes): ([UInt8], [UInt8]) = ([], [])
        var rest = events[...]
        if first.name == .snapshot || first.name == .reset {
            ServerSentEvent.append(event: first.name.rawValue, id: first.cursor.map { "\($0)" }, to: &head)
            head.append(contentsOf: "data: {".utf8)
            // The data is one line, an object with at least a version: its name goes first.
            bytes.append(contentsOf: first.data.dropFirst())
            bytes.append(contentsOf: "\n\n".utf8)
            rest = rest.dropFirst()
        }
        for event in rest { event.append(to: &bytes) }
        self.init(
            head: head,
            body: bytes.isEmpty ? [] : [SharedBytes(bytes, account: account)],
            start: first.name == .snapshot ? .fresh : first.resetReason.map { StreamStart($0) } ?? resumed
        )
    }
}

extension StreamEvent {
    /// Appends the event as an event stream has it.
    func append(to bytes: inout [UInt8]) {
        let data = data
        ServerSentEvent.append(event: name.rawValue, id: cursor?.description, data: data.span, to: &bytes)
    }

    /// The same as a block for many streams, with the cursor's text.
    fileprivate func block(cursor: String?, account: SharedBytes.Account) -> StreamBlock {
        let (name, data) = (name.rawValue, data)
        let capacity = ServerSentEvent.byteCountMax(event: name, id: cursor, data: data.span)
        return StreamBlock(capacity: capacity, account: account) { output in
            ServerSentEvent.append(event: name, id: cursor, data: data.span, to: &output)
        }
    }
}
