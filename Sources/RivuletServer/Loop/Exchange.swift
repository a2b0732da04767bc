import RivuletEventLoop
import RivuletSessions

/// Where the answer to a request has to go.
///
/// One connection has one request under way, so the connection names it.
struct Exchange: Hashable, Sendable {
    /// The loop that the connection lives on.
    let loop: Int
    let connection: ConnectionID

    /// The same, as a subscriber's name.
    var stream: StreamID {
        StreamID(loop: loop, connection: UInt64(connection.slot) << 32 | UInt64(connection.generation))
    }
}

extension StreamID {
    /// The connection on its loop.
    var connectionID: ConnectionID {
        ConnectionID(slot: UInt32(connection >> 32), generation: UInt32(truncatingIfNeeded: connection))
    }
}
