// Part of Rivulet. See README.md for the architecture.
// Owns how many streams of a shard read the log at once.

/// Bounds the memory that resuming streams take: each of them holds a part of a log while it is read.
///
/// On the shard's thread.
package final class ResumeGate {
    private let underWayMax: Int
    private var underWay = 0

    /// Lets so many streams read the log at once.
    package init(underWayMax: Int) {
        self.underWayMax = underWayMax
    }

    /// Takes a place; false when there is none.
    func begin() -> Bool {
        guard underWay < underWayMax else { return false }
        underWay += 1
        return true
    }

    /// Gives the place back.
    func end() {
        underWay -= 1
    }
}
