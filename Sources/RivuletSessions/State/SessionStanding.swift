import RivuletObservation

/// The state and the position of a session that readers see.
///
/// Every part of the session reads it, and only ``SessionMachine`` changes it.
struct SessionStanding {
    /// The names of the session's history and incarnation.
    private(set) var names: SessionNames
    /// The position after the last visible change.
    private(set) var position: Cursor.Position
    /// Changes of stored fields by transient events, visible but in no log entry.
    private(set) var unlogged: [StateChange]
    /// The state after the last visible change.
    private(set) var state: OpaqueBox

    /// The epoch of the session's history in storage.
    var epoch: String { names.epoch }

    /// The epoch of that history in cursors.
    var visibleEpoch: String { names.visibleEpoch }

    /// The incarnation id in cursors.
    var incarnation: String { names.incarnation }

    var version: UInt64 { position.version }

    var cursor: Cursor { cursor(at: position, hasUnlogged: !unlogged.isEmpty) }

    /// Returns the cursor of members of the group `key` that have received all changes.
    func cursor(of key: StreamGroupKey) -> Cursor { cursor.of(paths: key.pathsName) }

    /// Moves to the state and the position after a dispatch.
    mutating func show(_ dispatch: PendingDispatch) {
        state = dispatch.state
        position = dispatch.position
        unlogged = dispatch.unlogged
    }

    /// Takes over the epochs of the history that begins with a client's initial state.
    mutating func adopt(_ initial: SessionCreation.Initial) {
        names = SessionNames(epoch: initial.epoch, visibleEpoch: initial.visibleEpoch, incarnation: incarnation)
    }

    /// Returns the cursor of another position of this incarnation.
    func cursor(at position: Cursor.Position, hasUnlogged: Bool) -> Cursor {
        Cursor(epoch: visibleEpoch, position: position, incarnation: incarnation, hasUnlogged: hasUnlogged)
    }
}

/// The names of a session's history and of its incarnation.
///
/// It is a class, so that a copy of ``SessionStanding`` copies one reference only.
final class SessionNames: Sendable {
    /// The epoch of the session's history in storage; it changes when a client creates the session with an initial
    /// state.
    let epoch: String
    /// The epoch of that history in cursors.
    ///
    /// It also changes with the state's schema, because values that a client read under the old schema may be outdated.
    let visibleEpoch: String
    /// The incarnation id in cursors.
    ///
    /// A session that is loaded again for its open streams keeps its incarnation id.
    let incarnation: String

    init(epoch: String, visibleEpoch: String, incarnation: String) {
        self.epoch = epoch
        self.visibleEpoch = visibleEpoch
        self.incarnation = incarnation
    }
}
