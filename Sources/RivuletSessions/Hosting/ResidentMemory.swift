/// Counts the bytes of a shard's resident sessions, each of which tells it when it takes more or less, and of those that are parked.
///
/// On the shard's thread.
package final class ResidentMemory {
    /// What the resident ones take, roughly.
    private var residentBytes = 0
    /// What is kept of those that left memory while they were watched.
    private var parkedBytes = 0
    /// How many bytes they may take.
    let bytesMax: Int
    private var onWant: (() -> Void)?

    /// It is time when less than this part is free, so that events need not be refused while there are sessions that can leave.
    private static let reserveShare = 32

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// Has `body` called when room is wanted, in the middle of a session's work: it must not touch the sessions before that is over.
    func onWant(_ body: @escaping () -> Void) { onWant = body }

    /// What all of them take, roughly.
    var bytes: Int { residentBytes + parkedBytes }

    /// Whether they take all that they may, or more.
    var isFull: Bool { bytes >= bytesMax }

    /// Whether it is time to make room.
    var isCrowded: Bool { bytes > bytesMax - bytesMax / Self.reserveShare }

    /// Adds what came, or takes away what went.
    func add(_ bytes: Int) {
        residentBytes += bytes
    }

    /// Takes over what is kept of those that are parked now.
    func countParked(_ bytes: Int) { parkedBytes = bytes }

    /// Says that somebody has no room.
    func wantRoom() { onWant?() }
}
