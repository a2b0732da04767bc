/// An error in the node, which the simulation must find; only a build for debugging can have one.
package enum NodeFault: Hashable, Sendable {
    /// A claim does not end the right of the owner in its record.
    case writesNoFence
    /// A claim waits for one lease, without the margin for clocks.
    case watchesWithoutMargin
    /// Writes are answered when the log has them.
    case answersBeforeApply
    /// A cut removes the message of the base's position, too.
    case cutsLastFrame
    /// An unknown outcome counts as a refusal.
    case takesUnknownAsRefused
    /// Messages are applied without a check of their chain.
    case ignoresChain
}
