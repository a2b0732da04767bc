import RivuletEngine
import RivuletEventLoop
import RivuletSessions

/// Carries connections in memory.
///
/// The bytes of a client go into the loop's parser. The bytes that the loop writes go to the client's sink at once.
final class MemoryTransport: ConnectionTransport {
    /// One open connection.
    private struct Entry {
        let sink: @Sendable ([UInt8]?) -> Void
        var isReading = true
        /// The bytes that came while reading was paused.
        var unread: [UInt8] = []
    }

    /// The most bytes that are delivered at once, as by a socket.
    private static let chunkBytesMax = 65_536
    /// The address of every client.
    private static let peer = PeerAddress(ip: PeerAddress.IP(v4: 0x7F00_0001), port: 0)

    private let loop: EventLoop
    private weak let delegate: (any LoopDelegate)?
    private var entries: [ConnectionID: Entry] = [:]
    private var lastSlot: UInt32 = 0

    init(loop: EventLoop, delegate: any LoopDelegate) {
        self.loop = loop
        self.delegate = delegate
    }

    /// Opens a connection with a sink that gets the server's bytes, and nil at the end.
    func open(_ sink: @escaping @Sendable ([UInt8]?) -> Void) -> ConnectionID {
        // Slots are not used again, because a test has few connections.
        let id = ConnectionID(slot: lastSlot, generation: 1)
        lastSlot += 1
        entries[id] = Entry(sink: sink)
        delegate?.connectionDidOpen(id, peer: Self.peer)
        return id
    }

    /// Passes the bytes of a client to the server.
    func receive(_ id: ConnectionID, _ bytes: [UInt8]) {
        entries[id]?.unread += bytes
        deliver(id)
    }

    private func deliver(_ id: ConnectionID) {
        while let entry = entries[id], entry.isReading, !entry.unread.isEmpty {
            let chunk = Array(entry.unread.prefix(Self.chunkBytesMax))
            entries[id]?.unread.removeFirst(chunk.count)
            delegate?.connection(id, didReceive: chunk.span)
        }
    }

    func write(_ id: ConnectionID, _ bytes: [UInt8]) -> WriteOutcome {
        guard let entry = entries[id] else { return .closed }
        entry.sink(bytes)
        return .sent
    }

    func write(_ id: ConnectionID, _ bytes: SharedBytes) -> WriteOutcome { write(id, [], [bytes]) }

    func write(_ id: ConnectionID, _ head: [UInt8], _ blocks: ArraySlice<SharedBytes>) -> WriteOutcome {
        var bytes = head
        for block in blocks { block.append(to: &bytes) }
        return write(id, bytes)
    }

    func setStreaming(_ id: ConnectionID) {}

    var hasRoomInTurn: Bool { true }

    func unsentBytes(_ id: ConnectionID) -> Int { 0 }

    func stalledMilliseconds(_ id: ConnectionID) -> UInt64? { nil }

    func pauseReading(_ id: ConnectionID) { entries[id]?.isReading = false }

    func resumeReading(_ id: ConnectionID) {
        guard entries[id]?.isReading == false else { return }
        entries[id]?.isReading = true
        // This is posted, because the delegate is not called from within a call of the loop.
        let loopBound = LoopBound(self, to: loop)
        loopBound.post { $0.deliver(id) }
    }

    func close(_ id: ConnectionID, _ reason: CloseReason) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        entry.sink(nil)
        let loopBound = LoopBound(self, to: loop)
        loopBound.post { $0.delegate?.connectionDidClose(id, reason: reason) }
    }

    func closeAfterFlush(_ id: ConnectionID, within time: Duration) { close(id, .local) }
}
