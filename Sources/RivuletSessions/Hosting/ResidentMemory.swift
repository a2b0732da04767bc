/// Counts the bytes of a shard's resident and passivated sessions; each resident session reports its own changes.
///
/// It is used on the shard's thread only.
package final class ResidentMemory {
    /// The approximate memory of the resident sessions, in bytes.
    private var residentBytes = 0
    /// The approximate memory of the passivated sessions, in bytes.
    private var passivatedBytes = 0
    /// The most bytes of all sessions.
    let bytesMax: Int
    private var onWant: (() -> Void)?

    /// The divisor of `bytesMax` that gives the reserve.
    ///
    /// If less memory than the reserve is free, sessions are evicted, so that events need not be refused.
    private static let reserveShare = 32

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// Sets the closure that is called when room is needed.
    ///
    /// The call comes in the middle of a session's work: `body` must not touch the sessions before that work is over.
    func onWant(_ body: @escaping () -> Void) { onWant = body }

    /// The approximate memory of all sessions, in bytes.
    var bytes: Int { residentBytes + passivatedBytes }

    /// True if the sessions use `bytesMax` bytes or more.
    var isFull: Bool { bytes >= bytesMax }

    /// True if less memory than the reserve is free.
    var isCrowded: Bool { bytes > bytesMax - bytesMax / Self.reserveShare }

    /// Adds bytes to the resident sessions; a negative number subtracts.
    func add(_ bytes: Int) {
        residentBytes += bytes
    }

    /// Sets the bytes of the passivated sessions.
    func countPassivated(_ bytes: Int) { passivatedBytes = bytes }

    /// Requests room for a session.
    func wantRoom() { onWant?() }
}
