package import RivuletObservation

/// What one published dispatch changed.
package struct VisibleChange: Sendable {
    /// Where the session stands after it.
    package let position: Cursor.Position
    package let changes: [StateChange]
    /// The memory it takes, roughly.
    package let bytes: Int
    /// Whether transient events have changed stored fields since the last version.
    let hasUnlogged: Bool

    package init(position: Cursor.Position, changes: [StateChange], hasUnlogged: Bool = false) {
        self.position = position
        self.changes = changes
        self.hasUnlogged = hasUnlogged
        bytes = 64 + changes.memoryBytes
    }
}

extension [StateChange] {
    /// The memory that they take, roughly.
    var memoryBytes: Int {
        reduce(0) { $0 + $1.path.utf8.count + ($1.value?.count ?? 0) + ($1.durableValue?.count ?? 0) + 64 }
    }
}
