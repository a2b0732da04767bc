// Owns the events of a connection from libuv (bytes, ends, closes), and the steps that end a connection.

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
                unsafe EventLoop.withLoop(of: handle?.pointee.loop) { loop in
                    unsafe buffer?.pointee = loop.readTarget(of: handle?.connection)
                }
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

    /// Ends the connection's reads in this turn; libuv would read up to 32 times while the other connections wait.
    private func rest(_ connection: UnsafeMutablePointer<Connection>) {
        guard unsafe connection.pointee.isReading, unsafe !connection.pointee.isResting else { return }
        _ = unsafe uv_read_stop(connection.stream)
        unsafe connection.pointee.isResting = true
        unsafe state.resting.append(connection.pointee.id)
    }

    /// Resumes the reading of resting connections, as many as one turn reads.
    func readOn() {
        let next = state.resting.prefix(limits.readsPerTurnMax)
        state.resting.removeFirst(next.count)
        // One read is reserved for each of these connections. The kernel first reports the connections that were read
        // in the last turn, and those could take all reads.
        state.readsKept = next.count
        state.readsLeft -= next.count
        for id in next {
            guard let connection = unsafe state.connections[id], unsafe connection.pointee.isResting,
                unsafe connection.pointee.phase != .closing
            else { continue }
            unsafe connection.pointee.isResting = false
            unsafe connection.pointee.isNext = true
            guard unsafe exchange(&connection.pointee.isReading, with: false) else { continue }
            unsafe startReading(connection)
        }
    }

    /// Returns the loop's read buffer for libuv; empty if the turn has no read left for the connection.
    private func readTarget(of connection: UnsafeMutablePointer<Connection>?) -> uv_buf_t {
        guard let connection = unsafe connection, unsafe takeRead(for: connection) else { return unsafe uv_buf_t() }
        return unsafe UnsafeMutableRawPointer(readBuffer.baseAddress).map { base in
            unsafe uv_buf_init(base.assumingMemoryBound(to: CChar.self), UInt32(readBuffer.count))
        } ?? uv_buf_t()
    }

    private func takeRead(for connection: UnsafeMutablePointer<Connection>) -> Bool {
        if state.firstRead == 0 { state.firstRead = uv.now }
        if unsafe exchange(&connection.pointee.isNext, with: false), state.readsKept > 0 {
            state.readsKept -= 1
            return true
        }
        guard state.readsLeft > 0 else { return false }
        state.readsLeft -= 1
        return true
    }

    private func didRead(_ connection: UnsafeMutablePointer<Connection>, _ count: Int) {
        if count > 0 {
            if unsafe count == readBuffer.count { unsafe rest(connection) }
            unsafe didReceive(connection, count)
        } else if count == Int(UV_ENOBUFS.rawValue) {
            unsafe rest(connection)
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
        // uv_shutdown is not used: nothing is queued, so there is nothing to wait for, and no request to keep.
        guard unsafe shutdown(connection.pointee.descriptor, Int32(SHUT_WR)) == 0 else {
            unsafe close(connection, .local)
            return
        }
        unsafe startReading(connection)
    }

    /// Starts the time limit for the peer to end its side; it replaces the limit for flushing, which may be longer.
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

    /// Closes a connection that was not reported to the delegate.
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
        // libuv has called back for the pending write before this, so nothing reads the queue any more.
        unsafe freeQueue(of: connection)
        state.connections.remove(id)
        state.delegate?.connectionDidClose(id, reason: reason)
    }
}
