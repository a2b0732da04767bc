// Owns the conversions between a connection, its handle and its queue, which are one address with several types.

internal import CLibuv

extension UnsafeMutablePointer where Pointee == Connection {
    /// The connection's handle, for libuv's calls on TCP handles.
    var tcp: UnsafeMutablePointer<uv_tcp_t> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: uv_tcp_t.self)
    }

    /// The connection's handle, for libuv's calls on streams.
    var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: uv_stream_t.self)
    }

    /// The connection's handle, for libuv's calls on handles.
    var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: uv_handle_t.self)
    }
}

extension UnsafeMutablePointer where Pointee == uv_handle_t {
    /// The connection of this handle.
    // SAFETY: only called on handles that `EventLoop.open` made.
    var connection: UnsafeMutablePointer<Connection> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: Connection.self)
    }
}

extension UnsafeMutablePointer where Pointee == uv_stream_t {
    /// The connection of this handle.
    // SAFETY: only called on handles that `EventLoop.open` made.
    var connection: UnsafeMutablePointer<Connection> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: Connection.self)
    }
}

extension UnsafeMutablePointer where Pointee == WriteQueue {
    /// The queue's request, for `uv_write`.
    var request: UnsafeMutablePointer<uv_write_t> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: uv_write_t.self)
    }
}

extension Connection {
    /// The number of written bytes that the kernel has not taken.
    var unsentBytes: Int {
        guard let queue = unsafe queue else { return 0 }
        return unsafe queue.pointee.count - queue.pointee.inFlight + tcp.write_queue_size
    }

    /// The socket.
    var descriptor: Int32 { unsafe tcp.io_watcher.fd }

    /// Stops the program unless handles and requests have the address of the structs that contain them.
    ///
    /// The pointers above depend on this. Swift lays fields out in order, but does not guarantee it.
    static func checkLayout() {
        var connection = Connection(id: ConnectionID(slot: 0, generation: 0))
        var queue = WriteQueue(now: 0, account: nil)
        let tcp = unsafe withUnsafeMutablePointer(to: &connection) { connection in
            unsafe withUnsafeMutablePointer(to: &connection.pointee.tcp) { unsafe UnsafeRawPointer($0) == connection }
        }
        let request = unsafe withUnsafeMutablePointer(to: &queue) { queue in
            unsafe withUnsafeMutablePointer(to: &queue.pointee.request) { unsafe UnsafeRawPointer($0) == queue }
        }
        precondition(tcp && request, "the compiler does not put libuv's structs first")
    }
}
