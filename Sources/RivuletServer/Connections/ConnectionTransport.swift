import RivuletEventLoop

/// The transport of connections: an event loop's sockets, or memory.
///
/// All calls are made on the loop's thread, and mean the same as those of ``EventLoop``.
protocol ConnectionTransport: AnyObject {
    func write(_ id: ConnectionID, _ bytes: [UInt8]) -> WriteOutcome
    func write(_ id: ConnectionID, _ bytes: SharedBytes) -> WriteOutcome
    func write(_ bytes: SharedBytes, toEach ids: Span<ConnectionID>) -> (sent: Int, outcome: WriteOutcome)
    func write(_ id: ConnectionID, _ head: [UInt8], _ blocks: ArraySlice<SharedBytes>) -> WriteOutcome
    var hasRoomInTurn: Bool { get }
    func unsentBytes(_ id: ConnectionID) -> Int
    func stalledMilliseconds(_ id: ConnectionID) -> UInt64?
    func pauseReading(_ id: ConnectionID)
    func resumeReading(_ id: ConnectionID)
    func close(_ id: ConnectionID, _ reason: CloseReason)
    func closeAfterFlush(_ id: ConnectionID, within time: Duration)
    func setStreaming(_ id: ConnectionID)
}

extension EventLoop: ConnectionTransport {}

extension ConnectionTransport {
    func write(_ bytes: SharedBytes, toEach ids: Span<ConnectionID>) -> (sent: Int, outcome: WriteOutcome) {
        for index in ids.indices {
            let outcome = write(ids[index], bytes)
            guard outcome == .sent else { return (index, outcome) }
        }
        return (ids.count, .sent)
    }
}
