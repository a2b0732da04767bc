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
        // Always 0. Source: <https://docs.libuv.org/en/v1.x/stream.html>
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

    /// The number of bytes that the kernel took at once, or a code; only while nothing is queued.
    @inline(__always)
    func tryWrite(_ connection: UnsafeMutablePointer<Connection>, _ bytes: Span<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { source in
            unsafe rivulet_send(connection.pointee.descriptor, source.baseAddress, source.count)
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

    /// What uv_try_write says of `head` and the blocks after it.
    func tryWrite(
        _ connection: UnsafeMutablePointer<Connection>,
        _ head: [UInt8],
        _ blocks: ArraySlice<SharedBytes>
    ) -> Int {
        unsafe head.withUnsafeBytes { source in
            unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: Self.buffersPerWriteMax) { buffers in
                var count = 0
                if let start = source.baseAddress, source.count > 0 {
                    // SAFETY: libuv's buffers are mutable for reading's sake; writing only reads them, within this call.
                    let first = unsafe UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: CChar.self)
                    unsafe buffers.initializeElement(at: 0, to: uv_buf_t(base: first, len: source.count))
                    count = 1
                }
                for block in blocks.prefix(Self.buffersPerWriteMax - count) where block.count > 0 {
                    unsafe buffers.initializeElement(at: count, to: block.buffer(from: 0))
                    count += 1
                }
                return Int(unsafe uv_try_write(connection.stream, buffers.baseAddress, UInt32(count)))
            }
        }
    }

    /// The most pieces of one direct write; what is beyond them is queued.
    private static var buffersPerWriteMax: Int { 64 }

    /// Queues what the kernel has not taken of `head` and the blocks; `sent` is what uv_try_write said.
    func hold(
        _ connection: UnsafeMutablePointer<Connection>,
        _ head: [UInt8],
        _ blocks: ArraySlice<SharedBytes>,
        sent: Int
    ) -> WriteOutcome {
        guard sent >= 0 || sent == Int(UV_EAGAIN.rawValue) else {
            unsafe close(connection, .failed(LoopError(call: "write", code: Int32(sent))))
            return .closed
        }
        let sent = max(sent, 0)
        let count = blocks.reduce(head.count) { $0 + $1.count } - sent
        guard count <= limits.unsentBytesMax else {
            unsafe close(connection, .unsentLimit)
            return .closed
        }
        let queue = UnsafeMutablePointer<WriteQueue>.allocate(capacity: 1)
        unsafe queue.initialize(to: WriteQueue())
        if sent < head.count { unsafe queue.pointee.inFlight.append(head.span.extracting(sent...)) }
        unsafe queue.pointee.hold(blocks, from: max(sent - head.count, 0))
        unsafe connection.pointee.queue = queue
        let isStarted = unsafe submit(connection, queue)
        return isStarted ? .queued(unsentBytes: count) : .closed
    }

    /// Copies `head` and the blocks behind what waits.
    func enqueue(
        _ connection: UnsafeMutablePointer<Connection>,
        _ head: [UInt8],
        _ blocks: ArraySlice<SharedBytes>
    ) -> WriteOutcome {
        var outcome = unsafe enqueue(connection, head.span)
        for block in blocks where outcome != .closed {
            outcome = block.withBytes { unsafe enqueue(connection, $0) }
        }
        return outcome
    }

    /// Hands the bytes in flight to libuv; false when that fails and the connection is closing.
    private func submit(
        _ connection: UnsafeMutablePointer<Connection>,
        _ queue: UnsafeMutablePointer<WriteQueue>
    ) -> Bool {
        let status = unsafe queue.pointee.withBuffers { buffers, count in
            unsafe uv_write(queue.request, connection.stream, buffers, count) { request, status in
                unsafe EventLoop.withLoop(of: request?.pointee.handle?.pointee.loop) { loop in
                    guard let connection = unsafe request?.pointee.handle?.connection else { return }
                    unsafe loop.didWrite(connection, status)
                }
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
