import DequeModule

/// The last visible changes of one incarnation, bounded in count and bytes.
package struct ChangeTail: Sendable {
    private var records: Deque<VisibleChange> = []
    package private(set) var bytes = 0
    /// The position right before the first kept change.
    private var start: Cursor.Position
    private let changesMax: Int
    private let bytesMax: Int

    /// Begins at a position, without changes after it.
    package init(from start: Cursor.Position, changesMax: Int, bytesMax: Int) {
        self.start = start
        self.changesMax = changesMax
        self.bytesMax = bytesMax
    }

    init(from start: Cursor.Position, limits: SessionLimits) {
        self.init(from: start, changesMax: limits.tailChangesMax, bytesMax: limits.tailBytesMax)
    }

    /// Adds the newest change, and drops the oldest ones if there are too many changes or bytes.
    package mutating func append(_ change: VisibleChange) {
        records.append(change)
        bytes += change.bytes
        while records.count > changesMax || bytes > bytesMax, let oldest = records.popFirst() {
            bytes -= oldest.bytes
            start = oldest.position
        }
    }

    /// The changes after a position, oldest first; nil if some of them are gone.
    package func changes(after position: Cursor.Position) -> [VisibleChange]? {
        guard position >= start else { return nil }
        return records.filter { $0.position > position }
    }
}
