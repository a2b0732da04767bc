import RivuletObservation

/// The changes of a document that stay in memory for streams that resume; the document is the state or one of its
/// views.
struct ChangeHistory {
    /// The last changes, with their values.
    private(set) var tail: ChangeTail
    /// All changes of this incarnation, without their values.
    private(set) var index: ChangeIndex

    /// Begins at a position, without changes after it.
    init(from position: Cursor.Position, limits: SessionLimits) {
        tail = ChangeTail(from: position, limits: limits)
        index = ChangeIndex(from: position, limits: limits)
    }

    /// Continues with the index that the session had before it was passivated.
    init(from position: Cursor.Position, index: ChangeIndex, limits: SessionLimits) {
        tail = ChangeTail(from: position, limits: limits)
        self.index = index.within(entriesMax: limits.indexEntriesMax, bytesMax: limits.indexBytesMax)
    }

    /// The approximate memory of the changes, in bytes.
    var bytes: Int { tail.bytes + index.bytes }

    /// Records visible changes.
    ///
    /// The states themselves are not kept: while a second reference to a state exists, the state cannot complete the
    /// bookkeeping that its last event left.
    mutating func record(_ changes: [StateChange], at position: Cursor.Position, hasUnlogged: Bool) {
        tail.append(VisibleChange(position: position, changes: changes, hasUnlogged: hasUnlogged))
        index.record(changes, at: position)
    }
}
