// Part of Rivulet. See README.md for the architecture.
// Owns what one connection still has to send.

internal import CLibuv

/// The bytes that one connection still has to send: one write under way, and all that came after it.
@safe
struct WriteQueue: ~Copyable {
    /// First, so that a pointer libuv gives back is a pointer to the queue.
    var request = unsafe uv_write_t()
    /// What libuv is writing; neither moved nor changed until it says so.
    var inFlight = ByteBlock()
    /// What is written next, as one write.
    var pending = ByteBlock()

    /// Puts what is pending in flight, all bytes in flight having been sent; false when nothing is.
    mutating func moveOn() -> Bool {
        inFlight.removeAll()
        swap(&inFlight, &pending)
        return inFlight.count > 0
    }
}
