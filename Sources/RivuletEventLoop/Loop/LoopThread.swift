internal import CLibuv

/// A thread that runs a loop until it stops.
///
/// Source: <https://docs.libuv.org/en/v1.x/threading.html>
package final class LoopThread: Sendable {
    private let thread: uv_thread_t

    /// Starts a thread that runs the loop.
    ///
    /// - Throws: `EAGAIN` if the system cannot create a thread.
    package init(running loop: EventLoop) throws(LoopError) {
        // SAFETY: the thread takes the reference that is counted here, and is started at most once with it.
        let context = unsafe Unmanaged.passRetained(loop)
        var thread = uv_thread_t()
        let status = unsafe uv_thread_create(
            &thread,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
            },
            context.toOpaque()
        )
        guard status == 0 else {
            unsafe context.release()
            throw LoopError(call: "uv_thread_create", code: status)
        }
        self.thread = thread
    }

    /// Waits until the loop has stopped; may be called once.
    package func join() {
        var thread = thread
        // The only failures are a thread joined twice or by itself. Source: pthread_join(3)
        _ = unsafe uv_thread_join(&thread)
    }
}
