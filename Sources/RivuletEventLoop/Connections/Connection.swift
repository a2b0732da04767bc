internal import CLibuv

/// One connection, in memory of its own that never moves and that Swift does not count references to.
///
/// The handle comes first, so that a pointer libuv gives back is a pointer to the connection; `EventLoop` checks that
/// layout once. About 320 bytes; a connection with unsent bytes has a `WriteQueue` besides.
@safe
struct Connection: ~Copyable {
    enum Phase: UInt8 {
        /// The state while both sides may write.
        case open
        /// The state while what is queued goes out, after which this side ends.
        case flushing
        /// The state after this side's end, while the peer may still send what nobody reads.
        case lingering
        /// The state from `uv_close` to its callback.
        case closing
    }

    var tcp = unsafe uv_tcp_t()
    let id: ConnectionID
    var phase = Phase.open
    var hasPeerEnded = false
    /// Whether the delegate wants its bytes.
    var isReading = false
    /// Whether its turn of reading is over, so that libuv does not read it before the next one.
    var isResting = false
    /// Bytes read and thrown away while lingering.
    var lingerBytes: Int32 = 0
    var closeReason = CloseReason.local
    var closeTimer: TimerID?
    /// What waits to be sent; nil while nothing does.
    // SAFETY: allocated and freed by `EventLoop` only, and freed before the connection is.
    var queue: UnsafeMutablePointer<WriteQueue>?

    init(id: ConnectionID) { unsafe (self.id, queue) = (id, nil) }
}
