import RivuletJSON
import RivuletObservation

/// The states and positions of one session: what readers see, and what is accepted ahead of that.
struct SessionTimeline: ~Copyable {
    /// What readers see.
    private(set) var standing: SessionStanding
    private var visibleSize: StateSize
    /// The state after the last accepted event.
    private(set) var head: OpaqueBox
    private var headPosition: Cursor.Position
    private(set) var headSize: StateSize
    /// Changes of stored fields by transient events, which the next entry has to carry.
    private(set) var unlogged: [StateChange] = []
    /// The visible state without what transient events did to stored fields since the last entry; nil while they did nothing.
    private var logged: OpaqueBox?

    /// Begins where everything accepted is visible.
    init(_ standing: SessionStanding, size: StateSize) {
        self.standing = standing
        visibleSize = size
        head = standing.state
        headPosition = standing.position
        headSize = size
    }

    /// The state that the log leads to.
    var loggedState: OpaqueBox { logged ?? standing.state }

    // MARK: - The head

    /// How none of the cursors is where the head stands; nil when one is, or none is asked for.
    ///
    /// The short form looks at the version only.
    func mismatch(with expected: [Cursor]) -> CursorMismatch? {
        guard !expected.isEmpty else { return nil }
        let cursor = standing.cursor(at: headPosition, hasUnlogged: !unlogged.isEmpty)
        let known = expected.filter { $0.epoch == standing.visibleEpoch }
        guard !known.isEmpty else {
            return expected.allSatisfy { $0 == .nowhere } ? .noCursor : .otherHistory
        }
        let atVersion = known.filter { $0.position.version == headPosition.version }
        guard !atVersion.contains(where: { $0.of(paths: nil) == cursor || $0.residence == nil }) else { return nil }
        if atVersion.contains(where: { $0.residence != standing.incarnation }) { return .reloaded }
        return known.allSatisfy { $0.position.version > headPosition.version } ? .ahead : .moved
    }

    /// The place of a dispatch in the session's history.
    struct Place {
        let position: Cursor.Position
        /// What the log entry carries; nil: there is none.
        let logged: [StateChange]?
        /// What no entry carries after it.
        let unlogged: [StateChange]
        /// Whether what goes to the log are its own changes, in the form that clients see.
        let isLoggedAsAnswered: Bool
    }

    /// Says where a dispatch with these changes would stand.
    func place(of recording: Recording, persists: Bool) -> Place {
        let changes = recording.changes
        let (version, transients) = (headPosition.version, headPosition.transients)
        if persists, !changes.isEmpty || !unlogged.isEmpty {
            // What transient events left in stored fields becomes durable with it, also when it changes nothing itself.
            return Place(
                position: Cursor.Position(version: version + 1, transients: transients),
                logged: unlogged.followed(by: changes),
                unlogged: [],
                isLoggedAsAnswered: unlogged.isEmpty && changes.allSatisfy(\.isLoggedAsSeen)
            )
        }
        // A field that is in no JSON is a part of the state too, and views may show what is computed from it.
        guard !changes.isEmpty || recording.hasOmittedWrite else {
            return Place(position: headPosition, logged: nil, unlogged: unlogged, isLoggedAsAnswered: false)
        }
        return Place(
            position: Cursor.Position(version: version, transients: transients + 1),
            logged: nil,
            unlogged: unlogged.followed(by: changes.filter { !$0.isTransient }),
            isLoggedAsAnswered: false
        )
    }

    /// A dispatch that leaves the head as it is.
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

    /// Moves the head to a state with which a client begins the session.
    mutating func begin(with state: OpaqueBox, size: StateSize, changes: [StateChange]) -> PendingDispatch {
        let dispatch = PendingDispatch(
            state: state,
            position: Cursor.Position(version: headPosition.version, transients: headPosition.transients + 1),
            size: size,
            // The document of version 0 has what transient events did.
            unlogged: [],
            outcome: PendingDispatch.Outcome(changes: changes, persists: true),
            reply: { _ in }
        )
        accept(dispatch)
        return dispatch
    }

    /// Keeps a size of the head that was measured for an event that was refused.
    mutating func didMeasure(_ size: StateSize) { headSize = size }

    /// Takes back what is accepted and not visible.
    mutating func goBack() {
        head = standing.state
        headPosition = standing.position
        headSize = visibleSize
        unlogged = standing.unlogged
    }

    // MARK: - Readers

    /// What readers saw before a dispatch.
    struct Seen {
        let state: OpaqueBox
        let position: Cursor.Position
    }

    /// Shows a dispatch to readers.
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

    /// Takes the names of a history that a client began; no reader has seen the name before.
    mutating func adopt(_ initial: SessionCreation.Initial) { standing.adopt(initial) }
}
