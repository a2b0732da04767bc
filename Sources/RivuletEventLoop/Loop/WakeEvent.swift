internal import CLibuv
internal import Glibc

/// An event that ends the sleep of the loop that watches its descriptor.
///
/// libuv's `uv_async_t` is not used. With it, the loop spins while the waking thread is still in its call. If both
/// share one core, the waking thread makes no progress meanwhile. Source:
/// <https://github.com/libuv/libuv/blob/v1.x/src/unix/async.c>, `uv__async_spin`.
final class WakeEvent: Sendable {
    let descriptor: Int32

    /// Makes an event that is not signalled.
    ///
    /// - Throws: `EMFILE` or `ENOMEM`.
    init() throws(LoopError) {
        let descriptor = rivulet_event()
        try check(descriptor, "eventfd")
        self.descriptor = descriptor
    }

    // A signalling thread holds the event, so the descriptor cannot be closed and used again meanwhile.
    deinit { _ = close(descriptor) }

    /// Ends the current sleep, or the next one.
    ///
    /// May be called on any thread.
    func signal() { rivulet_event_signal(descriptor) }
}
