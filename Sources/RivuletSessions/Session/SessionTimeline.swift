import RivuletJSON
import RivuletObservation

/// The visible state and the accepted state of one session, with their positions.
struct SessionTimeline: ~Copyable {
    /// The state and the position that readers see.
    private(set) var standing: SessionStanding
    private var visibleSize: StateSize
    /// The state after the last accepted event.
    private(set) var head: OpaqueBox
    private var headPosition: Cursor.Position
    private(set) var headSize: StateSize
    /// Changes of stored fields by transient events; the next log entry has to include them.
    private(set) var unlogged: [StateChange] = []
    /// The visible state without the changes that transient events made to stored fields since the last entry; nil if
    /// there are no such changes.
    private var logged: OpaqueBox?

    /// Begins at a position at which everything accepted is visible.
    init(_ standing: SessionStanding, size: StateSize) {
        self.standing = standing
        visibleSize = size
        head = standing.state
        headPosition = standing.position
        headSize = size
    }

    /// The state that a replay of the log restores.
    var loggedState: OpaqueBox { logged ?? standing.state }

    // MARK: - The head

    /// Returns the mismatch between the head and the expected cursors; nil if a cursor matches or none is expected.
    ///
    /// A cursor in the short form is compared by its epoch and version only.
    func mismatch(with expected: [Cursor]) -> CursorMismatch? {
        guard !expected.isEmpty else { return nil }
        let cursor = standing.cursor(at: headPosition, hasUnlogged: !unlogged.isEmpty)
        let known = expected.filter { $0.epoch == standing.visibleEpoch }
        guard !known.isEmpty else {
            return expected.allSatisfy { $0 == .nowhere } ? .noCursor : .otherHistory
        }
        let atVersion = known.filter { $0.position.version == headPosition.version }
        guard !atVersion.contains(where: { $0.of(paths: nil) == cursor || $0.incarnation == nil }) else { return nil }
        if atVersion.contains(where: { $0.incarnation != standing.incarnation }) { return .reloaded }
        return known.allSatisfy { $0.position.version > headPosition.version } ? .ahead : .moved
    }

    /// The position of a dispatch in the session's history, and the changes for the log.
    struct Placement {
        let position: Cursor.Position
        /// The changes in the log entry; nil if there is no entry.
        let logged: [StateChange]?
        /// The changes of stored fields that are still in no log entry after this dispatch.
        let unlogged: [StateChange]
        /// True if the log entry has exactly the dispatch's own changes, in the form that clients see.
        let isLoggedAsAnswered: Bool
    }

    /// Returns the position that a dispatch with these changes would get, and the changes for its log entry.
    func placement(of recording: Recording, persists: Bool) -> Placement {
        let changes = recording.changes
        let (version, transients) = (headPosition.version, headPosition.transients)
        if persists, !changes.isEmpty || !unlogged.isEmpty {
            // The dispatch also makes the earlier changes by transient events durable, even if it changes nothing
            // itself.
            return Placement(
                position: Cursor.Position(version: version + 1, transients: transients),
                logged: unlogged.followed(by: changes),
                unlogged: [],
                isLoggedAsAnswered: unlogged.isEmpty && changes.allSatisfy(\.isLoggedAsSeen)
            )
        }
        // An omitted field is a part of the state too, and views may show values that are computed from it.
        guard !changes.isEmpty || recording.hasOmittedWrite else {
            return Placement(position: headPosition, logged: nil, unlogged: unlogged, isLoggedAsAnswered: false)
        }
        return Placement(
            position: Cursor.Position(version: version, transients: transients + 1),
            logged: nil,
            unlogged: unlogged.followed(by: changes.filter { !$0.isTransient }),
            isLoggedAsAnswered: false
        )
    }

    /// Returns a dispatch that leaves the head as it is.
    func unchanged(
        outcome: PendingDispatch.Outcome,
        bodyBytes: Int,
        reply: @escaping SessionReply<DispatchAnswer>
    ) -> PendingDispatch {
        PendingDispatch(
            state: head,
            position: headPosition,
            size: headSize,
            unlogged: unlogged,
            outcome: outcome,
            bodyBytes: bodyBytes,
            reply: reply
        )
    }

    /// Moves the head to the state after a dispatch.
    mutating func accept(_ dispatch: PendingDispatch) {
        head = dispatch.state
        headPosition = dispatch.position
        headSize = dispatch.size
        unlogged = dispatch.unlogged
    }

    /// Moves the head to the state with which a client begins the session.
    mutating func begin(with state: OpaqueBox, size: StateSize, changes: [StateChange]) -> PendingDispatch {
        let dispatch = PendingDispatch(
            state: state,
            position: Cursor.Position(version: headPosition.version, transients: headPosition.transients + 1),
            size: size,
            // The document of version 0 includes the changes by transient events.
            unlogged: [],
            outcome: PendingDispatch.Outcome(changes: changes, persists: true),
            reply: { _ in }
        )
        accept(dispatch)
        return dispatch
    }

    /// Keeps the size of the head that was measured for a refused event.
    mutating func didMeasure(_ size: StateSize) { headSize = size }

    /// Rolls back everything that is accepted and not visible.
    mutating func goBack() {
        head = standing.state
        headPosition = standing.position
        headSize = visibleSize
        unlogged = standing.unlogged
    }

    // MARK: - Readers

    /// The state and the position that readers saw before a dispatch.
    struct Seen {
        let state: OpaqueBox
        let position: Cursor.Position
    }

    /// Makes a dispatch visible, and returns the state that readers saw before.
    mutating func show(_ dispatch: PendingDispatch) -> Seen {
        let old = Seen(state: standing.state, position: standing.position)
        standing.show(dispatch)
        visibleSize = dispatch.size
        if dispatch.isLogged || dispatch.unlogged.isEmpty {
            logged = nil
        } else if logged == nil {
            logged = old.state
        }
        return old
    }

    /// Takes over the epochs of the history that begins with a client's initial state; no reader has seen them before.
    mutating func adopt(_ initial: SessionCreation.Initial) { standing.adopt(initial) }
}
