// Part of Rivulet. See README.md for the architecture.
// Owns what libuv tells of a connection: bytes, ends, finished writes, closes; and the way of a connection to its end.

internal import CLibuv
internal import Glibc

extension EventLoop {
    // MARK: Reading

    func startReading(_ connection: UnsafeMutablePointer<Connection>) {
        guard unsafe !connection.pointee.isReading, unsafe !connection.pointee.hasPeerEnded else { return }
        let status = unsafe uv_read_start(
            connection.stream,
            { handle, _, buffer in
                unsafe EventLoop.withLoop(of: handle?.pointee.loop) { unsafe buffer?.pointee = $0.readTarget }
            },
            { stream, count, _ in
                unsafe EventLoop.withLoop(of: stream?.pointee.loop) { loop in
                    if let connection = unsafe stream?.connection { unsafe loop.didRead(connection, count) }
                }
            }
        )
        guard status == 0 else {
            unsafe close(connection, .failed(LoopError(call: "uv_read_start", code: status)))
            return
        }
        unsafe connection.pointee.isReading = true
    }

    func stopReading(_ connection: UnsafeMutablePointer<Connection>) {
        guard unsafe connection.pointee.isReading else { return }
        // Always 0. Source: docs.libuv.org/en/v1.x/stream.html
        _ = unsafe uv_read_stop(connection.stream)
        unsafe connection.pointee.isReading = false
    }

    /// The loop's one read buffer, as libuv wants it.
    private var readTarget: uv_buf_t {
        unsafe UnsafeMutableRawPointer(readBuffer.baseAddress).map { base in
            unsafe uv_buf_init(base.assumingMemoryBound(to: CChar.self), UInt32(readBuffer.count))
        } ?? uv_buf_t()
    }

    private func didRead(_ connection: UnsafeMutablePointer<Connection>, _ count: Int) {
        if count > 0 {
            unsafe didReceive(connection, count)
        } else if count == Int(UV_EOF.rawValue) {
            unsafe didEnd(connection)
        } else if count < 0 {
            unsafe close(connection, .failed(LoopError(call: "read", code: Int32(count))))
        }
    }

    private func didReceive(_ connection: UnsafeMutablePointer<Connection>, _ count: Int) {
        switch unsafe connection.pointee.phase {
        case .open:
            // SAFETY: libuv has written `count` bytes to the buffer, and nothing reads into it during this call.
            let bytes = unsafe UnsafeBufferPointer(rebasing: readBuffer[..<count])
            unsafe state.delegate?.connection(connection.pointee.id, didReceive: bytes.span)
        case .flushing, .lingering:
            unsafe connection.pointee.lingerBytes += Int32(count)
            guard unsafe Int(connection.pointee.lingerBytes) > limits.lingerBytesMax else { return }
            unsafe close(connection, .local)
        case .closing:
            break
        }
    }

    private func didEnd(_ connection: UnsafeMutablePointer<Connection>) {
        unsafe connection.pointee.hasPeerEnded = true
        unsafe stopReading(connection)
        switch unsafe connection.pointee.phase {
        case .open: unsafe state.delegate?.connectionDidEnd(connection.pointee.id)
        case .lingering: unsafe close(connection, .local)
        case .flushing, .closing: break
        }
    }

    // MARK: Writing

    /// What uv_try_write says: the number of bytes the kernel took, or a code.
    @inline(__always)
    func tryWrite(_ connection: UnsafeMutablePointer<Connection>, _ bytes: Span<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { source in
            // SAFETY: libuv's buffers are mutable for reading's sake; writing only reads them, within this call.
            let start = unsafe UnsafeMutableRawPointer(mutating: source.baseAddress)
            var buffer = unsafe uv_buf_t(base: start?.assumingMemoryBound(to: CChar.self), len: source.count)
            return Int(unsafe uv_try_write(connection.stream, &buffer, 1))
        }
    }

    /// Copies `bytes` behind what waits, and starts a write if none is under way.
    func enqueue(_ connection: UnsafeMutablePointer<Connection>, _ bytes: Span<UInt8>) -> WriteOutcome {
        guard unsafe connection.pointee.unsentBytes + bytes.count <= limits.unsentBytesMax else {
            unsafe close(connection, .unsentLimit)
            return .closed
        }
        if let queue = unsafe connection.pointee.queue {
            unsafe queue.pointee.pending.append(bytes)
            return .queued(unsentBytes: unsafe connection.pointee.unsentBytes)
        }
        let queue = UnsafeMutablePointer<WriteQueue>.allocate(capacity: 1)
        unsafe queue.initialize(to: WriteQueue())
        unsafe queue.pointee.inFlight.append(bytes)
        unsafe connection.pointee.queue = queue
        let isStarted = unsafe submit(connection, queue)
        return isStarted ? .queued(unsentBytes: bytes.count) : .closed
    }

    /// Hands the bytes in flight to libuv; false when that fails and the connection is closing.
    private func submit(
        _ connection: UnsafeMutablePointer<Connection>,
        _ queue: UnsafeMutablePointer<WriteQueue>
    ) -> Bool {
        let start = unsafe queue.pointee.inFlight.base?.assumingMemoryBound(to: CChar.self)
        var buffer = unsafe uv_buf_t(base: start, len: queue.pointee.inFlight.count)
        let status = unsafe uv_write(queue.request, connection.stream, &buffer, 1) { request, status in
            unsafe EventLoop.withLoop(of: request?.pointee.handle?.pointee.loop) { loop in
                guard let connection = unsafe request?.pointee.handle?.connection else { return }
                unsafe loop.didWrite(connection, status)
            }
        }
        guard status < 0 else { return true }
        unsafe close(connection, .failed(LoopError(call: "uv_write", code: status)))
        return false
    }

    private func didWrite(_ connection: UnsafeMutablePointer<Connection>, _ status: Int32) {
        guard unsafe connection.pointee.phase != .closing, let queue = unsafe connection.pointee.queue else { return }
        guard status == 0 else {
            unsafe close(connection, .failed(LoopError(call: "write", code: status)))
            return
        }
        guard unsafe !queue.pointee.moveOn() else {
            _ = unsafe submit(connection, queue)
            return
        }
        unsafe freeQueue(of: connection)
        if unsafe connection.pointee.phase == .flushing {
            unsafe linger(connection)
        } else {
            unsafe state.delegate?.connectionDidDrain(connection.pointee.id)
        }
    }

    private func freeQueue(of connection: UnsafeMutablePointer<Connection>) {
        guard let queue = unsafe connection.pointee.queue else { return }
        unsafe connection.pointee.queue = nil
        unsafe queue.deinitialize(count: 1)
        unsafe queue.deallocate()
    }

    // MARK: Ending

    /// Ends this side, and waits for the peer to end its own.
    func linger(_ connection: UnsafeMutablePointer<Connection>) {
        guard unsafe !connection.pointee.hasPeerEnded else {
            unsafe close(connection, .local)
            return
        }
        unsafe connection.pointee.phase = .lingering
        unsafe limitLinger(connection)
        // Not uv_shutdown: nothing is queued, so there is nothing to wait for, and no request to keep.
        guard unsafe shutdown(connection.pointee.descriptor, Int32(SHUT_WR)) == 0 else {
            unsafe close(connection, .local)
            return
        }
        unsafe startReading(connection)
    }

    /// What is left is the peer's turn: the time for flushing may be long, the one for this is not.
    private func limitLinger(_ connection: UnsafeMutablePointer<Connection>) {
        if let timer = unsafe connection.pointee.closeTimer { cancel(timer) }
        let id = unsafe connection.pointee.id
        let timer = schedule(after: limits.lingerTime) { [unowned self] in closeTimePassed(id) }
        unsafe connection.pointee.closeTimer = timer
    }

    func closeTimePassed(_ id: ConnectionID) {
        guard let connection = unsafe state.connections[id] else { return }
        unsafe connection.pointee.closeTimer = nil
        unsafe close(connection, connection.pointee.phase == .flushing ? .flushTimedOut : .local)
    }

    func close(_ connection: UnsafeMutablePointer<Connection>, _ reason: CloseReason) {
        guard unsafe connection.pointee.phase != .closing else { return }
        unsafe connection.pointee.phase = .closing
        unsafe connection.pointee.closeReason = reason
        if let timer = unsafe connection.pointee.closeTimer { cancel(timer) }
        unsafe uv_close(connection.handle) { handle in
            unsafe EventLoop.withLoop(of: handle?.pointee.loop) { loop in
                if let connection = unsafe handle?.connection { unsafe loop.didClose(connection) }
            }
        }
    }

    /// Closes a connection that the delegate was not told of.
    func discard(_ connection: UnsafeMutablePointer<Connection>) {
        unsafe connection.pointee.phase = .closing
        unsafe uv_close(connection.handle) { handle in
            unsafe EventLoop.withLoop(of: handle?.pointee.loop) { loop in
                guard let connection = unsafe handle?.connection else { return }
                unsafe loop.state.connections.remove(connection.pointee.id)
            }
        }
    }

    private func didClose(_ connection: UnsafeMutablePointer<Connection>) {
        let (id, reason) = unsafe (connection.pointee.id, connection.pointee.closeReason)
        // libuv has called back for the write under way before this, so nothing reads the queue any more.
        unsafe freeQueue(of: connection)
        state.connections.remove(id)
        state.delegate?.connectionDidClose(id, reason: reason)
    }
}
