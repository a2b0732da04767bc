import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// Renders each event once, and hands the bytes to every loop that has members: one message per loop and turn.
final class ShardSink: StreamSink {
    private unowned let loop: ServerLoop
    /// What each loop is told at the end of this turn, by its index.
    private var outboxes: [Int: [StreamMessage]] = [:]
    /// The event that was rendered last, its cursor and its block: several groups may get it one after the other.
    private var rendered: (event: StreamEvent, cursor: String, block: StreamBlock)?

    init(_ loop: ServerLoop) {
        self.loop = loop
    }

    func join(
        _ stream: StreamID,
        at place: StreamPlace,
        session: SessionKey,
        topic: StreamTopic,
        first: [StreamEvent],
        cursor: Cursor
    ) {
        let join = StreamJoin(
            stream: stream,
            place: place,
            source: .session(session, topic),
            first: FirstEvents(first, account: loop.context.heldBytes),
            cursor: "\(cursor)"
        )
        tell(stream.loop, .join(join))
    }

    func deliver(_ event: StreamEvent, to group: GroupID, loops: [Int]) {
        let (cursor, block) = rendered(event)
        for index in loops { tell(index, .deliver(block, cursor: cursor, group: group)) }
    }

    func end(_ group: GroupID, because reason: StreamEvent.ByeReason, loops: [Int]) {
        for index in loops { tell(index, .end(group, reason)) }
    }

    func refuse(_ stream: StreamID, with refusal: StreamRefusal) {
        tell(stream.loop, .refuse(stream, refusal))
    }

    /// Posts what the other loops are to be told.
    func flush() {
        rendered = nil
        guard !outboxes.isEmpty else { return }
        for (index, messages) in exchange(&outboxes, with: [:]) {
            loop.onLoop(index) { $0.take(messages) }
        }
    }

    private func tell(_ index: Int, _ message: StreamMessage) {
        guard index != loop.index else { return loop.take(message) }
        outboxes[index, default: []].append(message)
    }

    private func rendered(_ event: StreamEvent) -> (cursor: String, block: StreamBlock) {
        if let rendered, rendered.event === event { return (rendered.cursor, rendered.block) }
        let cursor = event.cursor?.description
        let block = event.block(cursor: cursor, account: loop.context.heldBytes)
        rendered = (event, cursor ?? "", block)
        return (cursor ?? "", block)
    }
}

extension FirstEvents {
    /// Renders the events; a snapshot or a reset leaves room for the stream's name.
    init(_ events: [StreamEvent], account: SharedBytes.Account) {
        guard let first = events.first else {
            self = .none
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
            start: first.name == .snapshot ? .fresh : first.resetReason.map { StreamStart($0) }
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
