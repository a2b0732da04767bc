import RivuletEngine
import RivuletObservation

/// A view object that is kept up to date, with what changed in it for streams that resume.
struct WatchedView<State: ObservableState> {
    let instance: any ViewInstance<State>
    private(set) var tail: ChangeTail
    private(set) var index: ChangeIndex

    /// Begins with a view that stands where the session does.
    init(_ instance: any ViewInstance<State>, at position: Cursor.Position, limits: SessionLimits) {
        self.instance = instance
        tail = ChangeTail(from: position, limits: limits)
        index = ChangeIndex(from: position, limits: limits)
    }

    /// What its changes take of memory, roughly.
    var bytes: Int { tail.bytes + index.bytes }

    mutating func note(_ changes: [StateChange], at position: Cursor.Position, hasUnlogged: Bool) {
        tail.append(VisibleChange(position: position, changes: changes, hasUnlogged: hasUnlogged))
        index.note(changes, at: position)
    }
}
