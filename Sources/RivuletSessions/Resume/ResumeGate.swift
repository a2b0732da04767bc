/// Bounds the memory that resuming streams and requests for the past take: each of them holds a part of a log while it is read.
///
/// On the shard's thread.
package final class ResumeGate {
    private let underWayMax: Int
    private var underWay = 0

    /// Lets so many read logs at once.
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
