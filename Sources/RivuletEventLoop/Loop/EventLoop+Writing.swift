// Owns the transfer of bytes to the kernel: directly, or through a connection's queue, one part in each turn.

internal import CLibuv

extension EventLoop {
    // MARK: Directly

    /// Writes bytes after everything written before.
    ///
    /// If nothing is queued and the turn has bytes left, a part is passed to the kernel at once. The rest is queued.
    ///
    /// - Parameters:
    ///   - connection: An open connection.
    ///   - count: The number of bytes.
    ///   - direct: Passes at most this number of the first bytes to the kernel; returns a result like uv_try_write.
    ///   - hold: Puts the bytes after the first `sent` ones into the queue.
    /// - Returns: The outcome for all bytes.
    @inline(__always)
    func write(
        _ connection: UnsafeMutablePointer<Connection>,
        _ count: Int,
        direct: (_ bytesMax: Int) -> Int,
        hold: (_ queue: inout WriteQueue, _ sent: Int) -> Void
    ) -> WriteOutcome {
        guard unsafe connection.pointee.queue == nil, hasRoomInTurn else {
            return unsafe enqueue(connection, count, isFull: false) { hold(&$0, 0) }
        }
        let part = min(count, limits.bytesPerWriteMax)
        let status = part > 0 ? direct(part) : 0
        if status == count {
            state.directBytesLeft -= count
            return .sent
        }
        return unsafe settle(connection, count, part, status, hold)
    }

    /// Queues the bytes of a direct write that the kernel has not taken.
    ///
    /// - Parameters:
    ///   - connection: An open connection with nothing queued.
    ///   - count: The number of bytes.
    ///   - part: The number of bytes that were passed to the kernel.
    ///   - status: The result of the direct write, as uv_try_write returns it.
    ///   - hold: Puts the bytes after the first `sent` ones into the queue.
    /// - Returns: The outcome for all bytes.
    func settle(
        _ connection: UnsafeMutablePointer<Connection>,
        _ count: Int,
        _ part: Int,
        _ status: Int,
        _ hold: (_ queue: inout WriteQueue, _ sent: Int) -> Void
    ) -> WriteOutcome {
        guard status >= 0 || status == Int(UV_EAGAIN.rawValue) else {
            unsafe close(connection, .failed(LoopError(call: "write", code: Int32(status))))
            return .closed
        }
        let sent = max(status, 0)
        state.directBytesLeft -= sent
        return unsafe enqueue(connection, count - sent, isFull: sent < part) { hold(&$0, sent) }
    }

    /// True if direct writes are allowed in this turn; otherwise bytes are queued, even if the kernel has room.
    @inline(__always)
    package var hasRoomInTurn: Bool { state.directBytesLeft > 0 }

    /// Returns the number of bytes that the kernel took of the first `bytesMax`, or a code; allowed only while nothing
    /// is queued.
    @inline(__always)
    func tryWrite(
        _ connection: UnsafeMutablePointer<Connection>,
        _ bytes: Span<UInt8>,
        _ bytesMax: Int
    ) -> Int {
        unsafe bytes.withUnsafeBytes { source in
            unsafe rivulet_send(connection.pointee.descriptor, source.baseAddress, bytesMax)
        }
    }

    /// Returns the result of uv_try_write for the first `bytesMax` bytes of `head` and the blocks after it.
    func tryWrite(
        _ connection: UnsafeMutablePointer<Connection>,
        _ head: [UInt8],
        _ blocks: ArraySlice<SharedBytes>,
        _ bytesMax: Int
    ) -> Int {
        unsafe head.withUnsafeBytes { source in
            unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: WriteQueue.piecesMax) { buffers in
                var pieces = 0
                var left = bytesMax
                if let start = source.baseAddress, source.count > 0 {
                    // SAFETY: libuv's buffers are mutable because reads use the same type. A write only reads them,
                    // within this call.
                    let first = unsafe UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: CChar.self)
                    let count = min(source.count, left)
                    unsafe buffers.initializeElement(at: 0, to: uv_buf_t(base: first, len: count))
                    pieces = 1
                    left -= count
                }
                for block in blocks.prefix(WriteQueue.piecesMax - pieces) where block.count > 0 && left > 0 {
                    let count = min(block.count, left)
                    unsafe buffers.initializeElement(at: pieces, to: block.buffer(0..<count))
                    pieces += 1
                    left -= count
                }
                return Int(unsafe uv_try_write(connection.stream, buffers.baseAddress, UInt32(pieces)))
            }
        }
    }

    // MARK: Through the queue

    /// Queues bytes; a queue over `LoopLimits.unsentBytesMax` closes the connection.
    ///
    /// - Parameters:
    ///   - connection: An open connection.
    ///   - count: The number of bytes.
    ///   - isFull: True if the kernel has just taken fewer bytes than it was passed.
    ///   - append: Puts the bytes into the queue.
    /// - Returns: The outcome for the bytes.
    private func enqueue(
        _ connection: UnsafeMutablePointer<Connection>,
        _ count: Int,
        isFull: Bool,
        _ append: (inout WriteQueue) -> Void
    ) -> WriteOutcome {
        let unsent = unsafe connection.pointee.unsentBytes + count
        guard unsent > 0 else { return .sent }
        guard unsent <= limits.unsentBytesMax else {
            unsafe close(connection, .unsentLimit)
            return .closed
        }
        if let queue = unsafe connection.pointee.queue {
            unsafe append(&queue.pointee)
            return .queued(unsentBytes: unsent)
        }
        let queue = UnsafeMutablePointer<WriteQueue>.allocate(capacity: 1)
        unsafe queue.initialize(to: WriteQueue(now: uv.now, account: account))
        unsafe append(&queue.pointee)
        unsafe connection.pointee.queue = queue
        guard isFull else {
            unsafe setDue(connection, queue)
            return .queued(unsentBytes: unsent)
        }
        return unsafe submit(connection, queue) ? .queued(unsentBytes: unsent) : .closed
    }

    /// Adds a connection to the list of connections with a due part.
    private func setDue(_ connection: UnsafeMutablePointer<Connection>, _ queue: UnsafeMutablePointer<WriteQueue>) {
        guard unsafe !queue.pointee.isDue else { return }
        unsafe queue.pointee.isDue = true
        unsafe state.due.append(connection.pointee.id)
    }

    /// Passes the next part of each due connection to the kernel, within the bytes of the turn.
    func writeDue() {
        let due = exchange(&state.due, with: [])
        var next = 0
        while next < due.count, state.dueBytesLeft > 0 {
            if let connection = unsafe state.connections[due[next]] { unsafe writePart(of: connection) }
            next += 1
        }
        // Connections that had no part in this turn come first in the next turn.
        state.due.insert(contentsOf: due[next...], at: 0)
    }

    private func writePart(of connection: UnsafeMutablePointer<Connection>) {
        guard unsafe connection.pointee.phase != .closing, let queue = unsafe connection.pointee.queue else { return }
        unsafe queue.pointee.isDue = false
        let (count, status) = unsafe queue.pointee.withFirst(limits.bytesPerWriteMax) { buffers, pieces in
            unsafe uv_try_write(connection.stream, buffers, pieces)
        }
        guard status >= 0 || status == UV_EAGAIN.rawValue else {
            unsafe close(connection, .failed(LoopError(call: "write", code: status)))
            return
        }
        let sent = max(Int(status), 0)
        unsafe didTake(sent, of: queue)
        guard sent == count else {
            _ = unsafe submit(connection, queue)
            return
        }
        unsafe didWritePart(connection, queue)
    }

    /// Makes libuv write the next part when the socket has room; returns false if that fails and the connection is
    /// closing.
    private func submit(
        _ connection: UnsafeMutablePointer<Connection>,
        _ queue: UnsafeMutablePointer<WriteQueue>
    ) -> Bool {
        let (count, status) = unsafe queue.pointee.withFirst(limits.bytesPerWriteMax) { buffers, pieces in
            unsafe uv_write(queue.request, connection.stream, buffers, pieces) { request, status in
                unsafe EventLoop.withLoop(of: request?.pointee.handle?.pointee.loop) { loop in
                    guard let connection = unsafe request?.pointee.handle?.connection else { return }
                    unsafe loop.didSubmit(connection, status)
                }
            }
        }
        unsafe queue.pointee.inFlight = count
        unsafe queue.pointee.leftInFlight = count
        guard status < 0 else { return true }
        unsafe close(connection, .failed(LoopError(call: "uv_write", code: status)))
        return false
    }

    private func didSubmit(_ connection: UnsafeMutablePointer<Connection>, _ status: Int32) {
        guard unsafe connection.pointee.phase != .closing, let queue = unsafe connection.pointee.queue else { return }
        guard status == 0 else {
            unsafe close(connection, .failed(LoopError(call: "write", code: status)))
            return
        }
        unsafe didTake(exchange(&queue.pointee.inFlight, with: 0), of: queue)
        unsafe didWritePart(connection, queue)
    }

    private func didTake(_ count: Int, of queue: UnsafeMutablePointer<WriteQueue>) {
        guard count > 0 else { return }
        unsafe queue.pointee.remove(count)
        unsafe queue.pointee.lastTaken = uv.now
        state.dueBytesLeft -= count
    }

    private func didWritePart(
        _ connection: UnsafeMutablePointer<Connection>,
        _ queue: UnsafeMutablePointer<WriteQueue>
    ) {
        guard unsafe queue.pointee.count == 0 else { return unsafe setDue(connection, queue) }
        unsafe freeQueue(of: connection)
        if unsafe connection.pointee.phase == .flushing {
            unsafe linger(connection)
        } else {
            unsafe state.delegate?.connectionDidDrain(connection.pointee.id)
        }
    }

    func freeQueue(of connection: UnsafeMutablePointer<Connection>) {
        guard let queue = unsafe connection.pointee.queue else { return }
        unsafe connection.pointee.queue = nil
        unsafe queue.deinitialize(count: 1)
        unsafe queue.deallocate()
    }
}
