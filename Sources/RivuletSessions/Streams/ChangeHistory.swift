import RivuletObservation

/// The changes of a document, the state or one of its views, that are kept in memory for streams that resume.
struct ChangeHistory {
    /// The last changes, with their values.
    private(set) var tail: ChangeTail
    /// All changes of this incarnation, without their values.
    private(set) var index: ChangeIndex

    /// Begins at a place, with nothing after it.
    init(from position: Cursor.Position, limits: SessionLimits) {
        tail = ChangeTail(from: position, limits: limits)
        index = ChangeIndex(from: position, limits: limits)
    }

    /// Goes on with the index of an earlier stay in memory.
    init(from position: Cursor.Position, index: ChangeIndex, limits: SessionLimits) {
        tail = ChangeTail(from: position, limits: limits)
        self.index = index.within(entriesMax: limits.indexEntriesMax, bytesMax: limits.indexBytesMax)
    }

    /// What the changes take of memory, roughly.
    var bytes: Int { tail.bytes + index.bytes }

    /// Records what became visible; not the states: a state that is held does not settle what the last event left in it.
    mutating func record(_ changes: [StateChange], at position: Cursor.Position, hasUnlogged: Bool) {
        tail.append(VisibleChange(position: position, changes: changes, hasUnlogged: hasUnlogged))
        index.note(changes, at: position)
    }
}
