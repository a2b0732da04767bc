package import RivuletObservation

/// The changes of one published dispatch.
package struct VisibleChange: Sendable {
    /// The position of the session after the dispatch.
    package let position: Cursor.Position
    package let changes: [StateChange]
    /// The approximate memory of this value, in bytes.
    package let bytes: Int
    /// True if transient events have changed stored fields since the last version.
    let hasUnlogged: Bool

    package init(position: Cursor.Position, changes: [StateChange], hasUnlogged: Bool = false) {
        self.position = position
        self.changes = changes
        self.hasUnlogged = hasUnlogged
        bytes = 64 + changes.memoryBytes
    }
}

extension [StateChange] {
    /// The approximate memory of the changes, in bytes.
    var memoryBytes: Int {
        reduce(0) { $0 + $1.path.utf8.count + ($1.value?.count ?? 0) + ($1.durableValue?.count ?? 0) + 64 }
    }
}
