// Owns what libuv tells of a connection: bytes, ends, closes; and the way of a connection to its end.

internal import CLibuv
internal import Glibc

extension EventLoop {
    // MARK: Reading

    func startReading(_ connection: UnsafeMutablePointer<Connection>) {
        guard unsafe !connection.pointee.isReading, unsafe !connection.pointee.hasPeerEnded else { return }
        guard unsafe !connection.pointee.isResting else {
            unsafe connection.pointee.isReading = true
            return
        }
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
        unsafe connection.pointee.isReading = false
        guard unsafe !connection.pointee.isResting else { return }
        // Always 0. Source: <https://docs.libuv.org/en/v1.x/stream.html>
        _ = unsafe uv_read_stop(connection.stream)
    }

    /// Ends the connection's turn of reading: libuv would read up to 32 times, and the others wait meanwhile.
    private func rest(_ connection: UnsafeMutablePointer<Connection>) {
        guard unsafe connection.pointee.isReading, unsafe !connection.pointee.isResting else { return }
        _ = unsafe uv_read_stop(connection.stream)
        unsafe connection.pointee.isResting = true
        unsafe state.resting.append(connection.pointee.id)
    }

    /// Reads again what rested in this turn.
    func readOn() {
        for id in exchange(&state.resting, with: []) {
            guard let connection = unsafe state.connections[id], unsafe connection.pointee.isResting,
                unsafe connection.pointee.phase != .closing
            else { continue }
            unsafe connection.pointee.isResting = false
            guard unsafe exchange(&connection.pointee.isReading, with: false) else { continue }
            unsafe startReading(connection)
        }
    }

    /// The loop's one read buffer, as libuv wants it.
    private var readTarget: uv_buf_t {
        unsafe UnsafeMutableRawPointer(readBuffer.baseAddress).map { base in
            unsafe uv_buf_init(base.assumingMemoryBound(to: CChar.self), UInt32(readBuffer.count))
        } ?? uv_buf_t()
    }

    private func didRead(_ connection: UnsafeMutablePointer<Connection>, _ count: Int) {
        if count > 0 {
            if unsafe count == readBuffer.count { unsafe rest(connection) }
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
