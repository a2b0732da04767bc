/// Takes the events of one loop.
///
/// Every call is made on the loop's thread, and none is made from within a call to the loop: a close that `write`
/// causes is told later in the turn.
package protocol LoopDelegate: AnyObject {
    /// A connection was accepted; it is already reading.
    func connectionDidOpen(_ id: ConnectionID, peer: PeerAddress)
    /// Bytes arrived, 1 to 65,536; the span is the loop's own buffer and is valid in this call only.
    func connection(_ id: ConnectionID, didReceive bytes: Span<UInt8>)
    /// The peer has ended its side (FIN). It may still read: answer and `closeAfterFlush`, or `close`; until then the
    /// connection stays open.
    func connectionDidEnd(_ id: ConnectionID)
    /// All bytes of a write that was `queued` have reached the kernel.
    func connectionDidDrain(_ id: ConnectionID)
    /// The connection is gone: exactly once after `connectionDidOpen`, and the last call for this id.
    func connectionDidClose(_ id: ConnectionID, reason: CloseReason)
    /// The turn's events are all told: write here what they have brought about. Once per turn, before the loop sleeps.
    ///
    /// - Returns: Whether more is to be written: the loop then only looks whether anything has happened, and asks again.
    func loopWillSleep() -> Bool
    /// A connection was turned away, or could not be accepted; the peer got nothing but a close.
    func loopDidRefuseConnection(_ cause: AcceptFailure)
}

/// Why a connection did not come to be.
package enum AcceptFailure: Hashable, Sendable {
    /// `LoopLimits.connectionsMax` are open.
    case connectionLimit
    /// The system refused, mostly for want of descriptors (`EMFILE`); the listener rests for `LoopLimits.acceptPause`.
    case failed(LoopError)
}

/// Why a connection was closed.
package indirect enum CloseReason: Hashable, Sendable {
    /// This side closed it, having nothing more to say.
    case local
    /// The peer ended its side, and this side had nothing more to say.
    case peerEnded
    /// Reading or writing failed, mostly because the peer has gone (`ECONNRESET`, `EPIPE`).
    case failed(LoopError)
    /// The peer did not take what was written within the time that `closeAfterFlush` gave it.
    case flushTimedOut
    /// More was written than `LoopLimits.unsentBytesMax` while the peer did not read.
    case unsentLimit
    /// One of the caller's own deadlines passed.
    case timedOut
    /// The loop is stopping.
    case loopStopped
}
