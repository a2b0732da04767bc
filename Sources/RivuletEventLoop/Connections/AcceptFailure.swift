/// Why a connection did not come to be.
package enum AcceptFailure: Hashable, Sendable {
    /// `LoopLimits.connectionsMax` are open.
    case connectionLimit
    /// The system refused, mostly for want of descriptors (`EMFILE`); the listener rests for `LoopLimits.acceptPause`.
    case failed(LoopError)
}
