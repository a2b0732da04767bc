/// What became of the bytes of one write.
package enum WriteOutcome: Hashable, Sendable {
    /// The kernel has all of them.
    case sent
    /// Some wait in the connection's queue, which now holds this many; `connectionDidDrain` follows.
    case queued(unsentBytes: Int)
    /// The connection is closed or closing: none were taken.
    case closed
}
