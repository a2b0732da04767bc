internal import CLibuv
internal import Glibc

/// Ends the sleep of the loop that watches its descriptor.
///
/// Not libuv's `uv_async_t`: there the loop spins while the thread that wakes it is in its call still, and when both have one core, that thread does not
/// get on meanwhile. Source: <https://github.com/libuv/libuv/blob/v1.x/src/unix/async.c>, `uv__async_spin`.
final class WakeEvent: Sendable {
    let descriptor: Int32

    /// An event that has not been signalled.
    ///
    /// - Throws: `EMFILE` or `ENOMEM`.
    init() throws(LoopError) {
        let descriptor = rivulet_event()
        try check(descriptor, "eventfd")
        self.descriptor = descriptor
    }

    // Whoever signals holds the event: the descriptor is nobody else's meanwhile.
    deinit { _ = close(descriptor) }

    /// Ends the sleep, or the next one.
    ///
    /// Any thread.
    func signal() { rivulet_event_signal(descriptor) }
}
