// Part of Rivulet. See README.md for the architecture.
// Owns the way of stream events from a shard to the loops of its subscribers.

import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// Renders each event once, and hands the bytes to every loop that has members.
final class ShardSink: StreamSink {
    private unowned let loop: ServerLoop

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
        let bytes = first.reduce(into: [UInt8]()) { $1.append(to: &$0) }
        let text = "\(cursor)"
        guard case .group(let group) = place else { preconditionFailure("no stream stands at \(place) yet") }
        loop.onLoop(stream.loop) { target in
            target.join(stream, group: group, source: .session(session, topic), first: bytes, cursor: text)
        }
    }

    func deliver(_ event: StreamEvent, to group: GroupID, loops: [Int]) {
        var bytes: [UInt8] = []
        event.append(to: &bytes)
        let text = event.cursor.map { "\($0)" } ?? ""
        for index in loops {
            loop.onLoop(index) { [bytes] target in target.streams.deliver(bytes, cursor: text, to: group) }
        }
    }

    func end(_ group: GroupID, with event: StreamEvent, loops: [Int]) {
        var bytes: [UInt8] = []
        event.append(to: &bytes)
        for index in loops {
            loop.onLoop(index) { [bytes] target in target.endGroup(group, with: bytes) }
        }
    }

    func refuse(_ stream: StreamID, with refusal: StreamRefusal) {
        loop.onLoop(stream.loop) { target in target.refuseStream(stream.connectionID, with: refusal) }
    }
}

extension StreamEvent {
    /// Appends the event as an event stream has it.
    func append(to bytes: inout [UInt8]) {
        let data = data
        ServerSentEvent.append(event: name.rawValue, id: cursor.map { "\($0)" }, data: data.span, to: &bytes)
    }
}
