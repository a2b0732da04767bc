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
