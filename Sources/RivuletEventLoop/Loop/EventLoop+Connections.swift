// Owns the calls on a connection, and its opening.

internal import CLibuv
internal import Glibc

extension EventLoop {
    /// The number of connections, including closing ones that were not reported as closed yet.
    package var connectionCount: Int { state.connections.count }

    /// Writes `bytes` after everything written before.
    ///
    /// If nothing is queued and the turn has bytes left, up to `LoopLimits.bytesPerWriteMax` bytes are passed directly
    /// to the kernel. The rest is copied. A queue over `LoopLimits.unsentBytesMax` closes the connection.
    package func write(_ id: ConnectionID, _ bytes: Span<UInt8>) -> WriteOutcome {
        guard let connection = unsafe openConnection(id) else { return .closed }
        return unsafe write(connection, bytes.count) { bytesMax in
            unsafe tryWrite(connection, bytes, bytesMax)
        } hold: { queue, sent in
            queue.append(bytes.extracting(sent...))
        }
    }

    /// Writes `bytes` after everything written before.
    package func write(_ id: ConnectionID, _ bytes: [UInt8]) -> WriteOutcome { write(id, bytes.span) }

    /// Writes bytes that other connections share, after everything written before.
    ///
    /// The bytes that the kernel does not take stay shared in the queue. Fewer than 4 KiB are copied.
    package func write(_ id: ConnectionID, _ bytes: SharedBytes) -> WriteOutcome {
        guard let connection = unsafe openConnection(id) else { return .closed }
        return unsafe write(connection, bytes.count) { bytesMax in
            unsafe rivulet_send(connection.pointee.descriptor, bytes.base, bytesMax)
        } hold: { queue, sent in
            queue.append(bytes, from: sent)
        }
    }

    /// Writes the bytes to one connection after the other, until the kernel takes only a part of them.
    ///
    /// One call for many connections takes half the instructions of one call for each connection.
    ///
    /// - Parameters:
    ///   - bytes: The bytes for each connection; not empty.
    ///   - ids: The connections.
    /// - Returns: The number of connections that have everything, and the outcome of the write to the next connection.
    ///   The outcome is `sent` if no connection is left.
    package func write(
        _ bytes: SharedBytes,
        toEach ids: Span<ConnectionID>
    ) -> (sent: Int, outcome: WriteOutcome) {
        let (base, count) = unsafe (bytes.base, bytes.count)
        let isOnePart = count <= limits.bytesPerWriteMax && hasRoomInTurn
        let most = isOnePart ? min(ids.count, state.directBytesLeft / count + 1) : 0
        let part = ids.extracting(0..<most)
        for index in part.indices {
            guard let connection = unsafe openConnection(part[index]), unsafe connection.pointee.queue == nil else {
                state.directBytesLeft -= index * count
                return (index, write(part[index], bytes))
            }
            let status = unsafe rivulet_send(connection.pointee.descriptor, base, count)
            guard status == count else {
                state.directBytesLeft -= index * count
                let outcome = unsafe settle(connection, count, count, status) { $0.append(bytes, from: $1) }
                return (index, outcome)
            }
        }
        state.directBytesLeft -= most * count
        // The turn has no bytes left for the next connection, or the bytes are more than one part.
        return most == ids.count ? (most, .sent) : (most, write(ids[most], bytes))
    }

    /// Writes `head` and then the blocks, as one write, after everything written before.
    package func write(
        _ id: ConnectionID,
        _ head: [UInt8],
        _ blocks: ArraySlice<SharedBytes>
    ) -> WriteOutcome {
        guard let connection = unsafe openConnection(id) else { return .closed }
        let count = blocks.reduce(head.count) { $0 + $1.count }
        return unsafe write(connection, count) { bytesMax in
            unsafe tryWrite(connection, head, blocks, bytesMax)
        } hold: { queue, sent in
            if sent < head.count { queue.append(head.span.extracting(sent...)) }
            var before = max(sent - head.count, 0)
            for block in blocks {
                if before < block.count { queue.append(block, from: before) }
                before = max(before - block.count, 0)
            }
        }
    }

    /// Returns the number of written bytes that wait for the kernel; 0 for a closed connection.
    package func unsentBytes(_ id: ConnectionID) -> Int {
        guard let connection = unsafe state.connections[id] else { return 0 }
        return unsafe connection.pointee.unsentBytes
    }

    /// Returns the milliseconds for which the kernel has taken no waiting bytes of a connection; nil if no bytes wait.
    ///
    /// Progress within one part is detected only in this call, so a caller must call it regularly.
    package func stalledMilliseconds(_ id: ConnectionID) -> UInt64? {
        guard let connection = unsafe state.connections[id], let queue = unsafe connection.pointee.queue else {
            return nil
        }
        let left = unsafe queue.pointee.inFlight > 0 ? connection.pointee.tcp.write_queue_size : 0
        if unsafe left < queue.pointee.leftInFlight { unsafe queue.pointee.lastTaken = uv.now }
        unsafe queue.pointee.leftInFlight = left
        return unsafe uv.now - queue.pointee.lastTaken
    }

    /// Stops reading; a full buffer of the kernel then slows the peer down, and an end of the peer's side is not
    /// detected.
    package func pauseReading(_ id: ConnectionID) {
        guard let connection = unsafe openConnection(id) else { return }
        unsafe stopReading(connection)
    }

    /// Reads again after `pauseReading`.
    package func resumeReading(_ id: ConnectionID) {
        guard let connection = unsafe openConnection(id) else { return }
        unsafe startReading(connection)
    }

    /// Keeps the kernel's unsent bytes below 16 KiB, so that a slow reader of a stream gets new events instead of
    /// megabytes of old ones.
    ///
    /// A Unix socket has no such option, and the kernel keeps at most some 200 KiB for it.
    /// Source: tcp(7), TCP_NOTSENT_LOWAT.
    package func setStreaming(_ id: ConnectionID) {
        guard let connection = unsafe openConnection(id) else { return }
        let descriptor = unsafe connection.pointee.descriptor
        do throws(LoopError) {
            try ListeningSocket.set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 16_384, "setsockopt")
        } catch {
            guard error.code != -EOPNOTSUPP else { return }
            unsafe close(connection, .failed(error))
        }
    }

    /// Ends this side after all written bytes are sent, and the connection after the peer has ended its side.
    ///
    /// Bytes that the peer still sends are read and discarded. If they were left unread, the kernel would answer with a
    /// reset, and the peer could lose the last answer. Source: RFC 9112 section 9.6.
    ///
    /// - Parameters:
    ///   - id: The connection; from now on nothing is received from it, and nothing can be written to it.
    ///   - time: The time after which it is closed in any case, with `flushTimedOut`. After all bytes are sent, the
    ///     peer has `LoopLimits.lingerTime` to end its side.
    package func closeAfterFlush(_ id: ConnectionID, within time: Duration) {
        guard let connection = unsafe openConnection(id) else { return }
        unsafe connection.pointee.phase = .flushing
        let timer = schedule(after: time) { [unowned self] in closeTimePassed(id) }
        unsafe connection.pointee.closeTimer = timer
        if unsafe connection.pointee.queue == nil { unsafe linger(connection) }
    }

    /// Closes at once; unsent bytes are dropped.
    ///
    /// `connectionDidClose` follows with this reason, later in the turn.
    package func close(_ id: ConnectionID, _ reason: CloseReason = .local) {
        guard let connection = unsafe state.connections[id] else { return }
        unsafe close(connection, reason)
    }

    // Inlined, like all code that every delivery runs.
    @inline(__always)
    private func openConnection(_ id: ConnectionID) -> UnsafeMutablePointer<Connection>? {
        guard let connection = unsafe state.connections[id] else { return nil }
        return unsafe connection.pointee.phase == .open ? connection : nil
    }

    /// Takes over an accepted socket.
    func open(_ descriptor: Int32, _ peer: PeerAddress) {
        guard state.connections.count < limits.connectionsMax else {
            Glibc.close(descriptor)
            state.delegate?.loopDidRefuseConnection(.connectionLimit)
            return
        }
        let connection = unsafe state.connections.add()
        let id = unsafe connection.pointee.id
        do throws(LoopError) {
            // Cannot fail: without a socket to create, the call only sets fields.
            // A Unix socket is opened in the same way, because libuv takes any stream socket here.
            // Source: <https://github.com/libuv/libuv/blob/v1.x/src/unix/tcp.c>,
            // <https://docs.libuv.org/en/v1.x/tcp.html#c.uv_tcp_open>
            try check(unsafe uv_tcp_init(uv.pointer, connection.tcp), "uv_tcp_init")
            try check(unsafe uv_tcp_open(connection.tcp, descriptor), "uv_tcp_open")
        } catch {
            Glibc.close(descriptor)
            unsafe discard(connection)
            state.delegate?.loopDidRefuseConnection(.failed(error))
            return
        }
        unsafe startReading(connection)
        state.delegate?.connectionDidOpen(id, peer: peer)
    }
}

/// The outcome of one write.
package enum WriteOutcome: Hashable, Sendable {
    /// The kernel has all bytes.
    case sent
    /// Some bytes wait in the connection's queue, which now has `unsentBytes` bytes.
    ///
    /// They wait for the kernel or for the next turn. `connectionDidDrain` follows when the kernel has all of them.
    case queued(unsentBytes: Int)
    /// The connection is closed or closing, and no bytes were taken.
    case closed
}
