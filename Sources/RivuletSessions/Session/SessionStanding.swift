import RivuletObservation

/// Where a session stands for its readers: what every part of it reads, and only ``SessionMachine`` changes.
struct SessionStanding {
    /// The names of the session's history and of its stay in memory.
    private(set) var names: SessionNames
    /// The last visible change.
    private(set) var position: Cursor.Position
    /// Changes of stored fields by transient events, visible but in no log entry.
    private(set) var unlogged: [StateChange]
    /// The state after that change.
    private(set) var state: OpaqueBox

    /// The name of the session's history in storage.
    var epoch: String { names.epoch }

    /// The name of that history in cursors.
    var visibleEpoch: String { names.visibleEpoch }

    /// The name of this stay in memory in cursors.
    var incarnation: String { names.incarnation }

    var version: UInt64 { position.version }

    var cursor: Cursor { cursor(at: position, hasUnlogged: !unlogged.isEmpty) }

    /// The cursor of a group's members that have got everything.
    func cursor(of key: StreamGroupKey) -> Cursor { cursor.of(paths: key.pathsName) }

    /// Moves to where a dispatch leads.
    mutating func show(_ dispatch: PendingDispatch) {
        state = dispatch.state
        position = dispatch.position
        unlogged = dispatch.unlogged
    }

    /// Takes the names of a history that a client began.
    mutating func adopt(_ initial: SessionCreation.Initial) {
        names = SessionNames(epoch: initial.epoch, visibleEpoch: initial.visibleEpoch, incarnation: incarnation)
    }

    /// The cursor of another position of this incarnation.
    func cursor(at position: Cursor.Position, hasUnlogged: Bool) -> Cursor {
        Cursor(epoch: visibleEpoch, position: position, residence: incarnation, hasUnlogged: hasUnlogged)
    }
}

/// The names of one session that are in its cursors and in storage.
///
/// An object, because everything that reads where a session stands gets them.
final class SessionNames: Sendable {
    /// The name of the session's history in storage; another one once a client creates the session with a state of its own.
    let epoch: String
    /// The name of that history in cursors; it also changes with the state's schema, because values that a client read under the old
    /// schema may be outdated.
    let visibleEpoch: String
    /// The name of this stay in memory in cursors.
    ///
    /// A session that is loaded again for its open streams keeps it.
    let incarnation: String

    init(epoch: String, visibleEpoch: String, incarnation: String) {
        self.epoch = epoch
        self.visibleEpoch = visibleEpoch
        self.incarnation = incarnation
    }
}
