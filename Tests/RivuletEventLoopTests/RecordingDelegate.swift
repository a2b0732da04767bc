// Owns a delegate that records the events of a loop.

import RivuletEventLoop

/// An event of a loop.
enum LoopEvent: Equatable, Sendable {
    case opened(ConnectionID)
    case received(ConnectionID, [UInt8])
    case ended(ConnectionID)
    case drained(ConnectionID)
    case closed(ConnectionID, CloseReason)
    case refused(AcceptError)
}

/// A delegate that records every event, and that reacts to bytes and ends as the test specifies.
final class RecordingDelegate: LoopDelegate {
    let events: Handover<LoopEvent>
    var peers: [ConnectionID: PeerAddress] = [:]
    var onOpen: (ConnectionID) -> Void = { _ in }
    var onReceive: (ConnectionID, [UInt8]) -> Void = { _, _ in }
    var onEnd: (ConnectionID) -> Void = { _ in }
    var onSleep: () -> Void = {}

    init(events: Handover<LoopEvent>) { self.events = events }

    func connectionDidOpen(_ id: ConnectionID, peer: PeerAddress) {
        peers[id] = peer
        events.put(.opened(id))
        onOpen(id)
    }

    func connection(_ id: ConnectionID, didReceive bytes: Span<UInt8>) {
        let copy = [UInt8](capacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
        events.put(.received(id, copy))
        onReceive(id, copy)
    }

    func connectionDidEnd(_ id: ConnectionID) {
        events.put(.ended(id))
        onEnd(id)
    }

    func connectionDidDrain(_ id: ConnectionID) { events.put(.drained(id)) }

    func connectionDidClose(_ id: ConnectionID, reason: CloseReason) { events.put(.closed(id, reason)) }

    func loopWillSleep() -> Bool {
        onSleep()
        return false
    }

    func loopDidRefuseConnection(_ error: AcceptError) { events.put(.refused(error)) }
}
