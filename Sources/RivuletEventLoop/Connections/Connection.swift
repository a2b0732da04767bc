internal import CLibuv

/// One connection, in its own memory, which never moves and has no Swift reference count.
///
/// The handle comes first, so that a pointer from libuv is a pointer to the connection. `EventLoop` checks this layout
/// once. A connection has about 320 bytes, and also a `WriteQueue` if it has unsent bytes.
@safe
struct Connection: ~Copyable {
    enum Phase: UInt8 {
        /// Both sides may write.
        case open
        /// The queued bytes are sent, then this side ends.
        case flushing
        /// This side has ended; bytes that the peer still sends are discarded.
        case lingering
        /// `uv_close` was called, and its callback has not run.
        case closing
    }

    var tcp = unsafe uv_tcp_t()
    let id: ConnectionID
    var phase = Phase.open
    var hasPeerEnded = false
    /// True if the delegate wants the bytes that arrive.
    var isReading = false
    /// True if the connection has used its read of this turn, so that libuv does not read it before the next turn.
    var isResting = false
    /// The number of bytes that were read and discarded while lingering.
    var lingerBytes: Int32 = 0
    var closeReason = CloseReason.local
    /// True if one of this turn's reads is reserved for the connection.
    ///
    /// A declaration of this flag before `lingerBytes` would make each connection 16 bytes larger.
    var isNext = false
    var closeTimer: TimerID?
    /// The bytes that wait to be sent; nil if there are none.
    // SAFETY: allocated and freed by `EventLoop` only, and freed before the connection.
    var queue: UnsafeMutablePointer<WriteQueue>?

    init(id: ConnectionID) { unsafe (self.id, queue) = (id, nil) }
}
