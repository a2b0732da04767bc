// Part of Rivulet. See README.md for the architecture.
// Owns a view that streams watch, and its recent changes.

import RivuletEngine
import RivuletObservation

/// A view object that is kept up to date, with what changed in it for streams that resume.
struct WatchedView<State: ObservableState> {
    let instance: any ViewInstance<State>
    var tail: ChangeTail

    /// Begins with a view that stands where the session does.
    init(_ instance: any ViewInstance<State>, at position: Cursor.Position, limits: SessionLimits) {
        self.instance = instance
        tail = ChangeTail(from: position, changesMax: limits.tailChangesMax, bytesMax: limits.tailBytesMax)
    }
}
