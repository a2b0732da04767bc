/// The receiver of the events of one loop.
///
/// Every call is made on the loop's thread, and never from within a call to the loop. A close that `write` causes is
/// reported later in the turn.
package protocol LoopDelegate: AnyObject {
    /// Reports an accepted connection; its reading has begun.
    func connectionDidOpen(_ id: ConnectionID, peer: PeerAddress)
    /// Reports received bytes, 1 to 65,536; the span is the loop's own buffer and is valid in this call only.
    func connection(_ id: ConnectionID, didReceive bytes: Span<UInt8>)
    /// Reports that the peer has ended its side (FIN).
    ///
    /// The peer may still read: answer and call `closeAfterFlush`, or call `close`. Until then the connection stays
    /// open.
    func connectionDidEnd(_ id: ConnectionID)
    /// Reports that all bytes of a `queued` write have reached the kernel.
    func connectionDidDrain(_ id: ConnectionID)
    /// Reports the close of a connection; exactly once after `connectionDidOpen`, or after the reply of
    /// `EventLoop.connect`, as the last call for this id.
    func connectionDidClose(_ id: ConnectionID, reason: CloseReason)
    /// Reports that all events of the turn were reported; called once per turn, before the loop sleeps.
    ///
    /// Write the results of the events here.
    ///
    /// - Returns: True if there is more to write. Then the loop polls without a sleep, and calls this again.
    func loopWillSleep() -> Bool
    /// Reports that a connection was refused, or could not be accepted; the peer gets only a close.
    func loopDidRefuseConnection(_ error: AcceptError)
}

/// The error of a connection that was not accepted.
package enum AcceptError: Hashable, Sendable {
    /// `LoopLimits.connectionsMax` connections are open.
    case connectionLimit
    /// The system refused, mostly because it has no descriptors left (`EMFILE`); the listener pauses for
    /// `LoopLimits.acceptPause`.
    case failed(LoopError)
}

/// The reason that a connection was closed.
package indirect enum CloseReason: Hashable, Sendable {
    /// This side closed the connection, because it had nothing more to send.
    case local
    /// The peer ended its side, and this side had nothing more to send.
    case peerEnded
    /// Reading or writing failed, mostly because the peer closed the connection (`ECONNRESET`, `EPIPE`).
    case failed(LoopError)
    /// The peer did not take the written bytes within the time of `closeAfterFlush`.
    case flushTimedOut
    /// More than `LoopLimits.unsentBytesMax` bytes were unsent because the peer did not read.
    case unsentLimit
    /// A deadline of the caller passed.
    case timedOut
    /// The loop is stopping.
    case loopStopped
}
