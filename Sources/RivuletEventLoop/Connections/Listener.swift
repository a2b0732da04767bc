internal import CLibuv

/// One listening socket that a loop watches.
@safe
final class Listener {
    let socket: ListeningSocket
    // SAFETY: valid from `init` to `close`; libuv frees it in the close callback.
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private unowned let loop: EventLoop
    private var isOpen = true

    /// Watches `socket` on `loop`, which must keep the listener.
    init(socket: consuming ListeningSocket, loop: EventLoop) throws(LoopError) {
        let descriptor = socket.descriptor
        self.socket = socket
        self.loop = loop
        unsafe poll = .allocate(capacity: 1)
        unsafe poll.initialize(to: uv_poll_t())
        do throws(LoopError) {
            try check(unsafe uv_poll_init(loop.uv.pointer, poll, descriptor), "uv_poll_init")
        } catch {
            unsafe poll.deallocate()
            throw error
        }
        unsafe poll.pointee.data = unsafe Unmanaged.passUnretained(self).toOpaque()
        start()
    }

    /// Watches for connections; resumes the watch after `rest`.
    func start() {
        guard isOpen else { return }
        let status = unsafe uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { poll, _, _ in
            guard let data = unsafe poll?.pointee.data else { return }
            // SAFETY: `data` is the listener, which its loop keeps until it has closed it.
            unsafe Unmanaged<Listener>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.loop.accept(from: $0) }
        }
        precondition(status == 0, "uv_poll_start failed with \(status) on a listener that is open")
    }

    /// Accepts no connections until `start`; they wait in the kernel's backlog.
    func rest() {
        guard isOpen else { return }
        _ = unsafe uv_poll_stop(poll)
    }

    /// Ends the watch; the socket is closed when this object is released.
    func close() {
        guard isOpen else { return }
        isOpen = false
        _ = unsafe uv_poll_stop(poll)
        unsafe uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            unsafe UnsafeMutableRawPointer(handle)?.deallocate()
        }
    }
}
