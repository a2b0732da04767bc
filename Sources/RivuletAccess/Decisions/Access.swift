/// The permissions of one caller in one session.
///
/// The server takes them from the caller's grants. An app may change them in `access(of:to:granted:)`.
public struct Access: Sendable, Hashable {
    /// A kind of request.
    public enum Action: String, CaseIterable, Sendable {
        /// Reading the app's description and types.
        case describe
        /// Reading state, views and changes, and the values of stores.
        case read
        /// Sending events.
        case dispatch
        /// Creating sessions.
        case create
        /// Deleting sessions.
        case delete
        /// Listing sessions.
        case list
        /// Reading the log, and states of the past.
        case history
        /// Resetting a session, or restoring an earlier state.
        case restore
        /// Copying a session.
        case fork
        /// Writing stores and values.
        case write
        /// Setting and removing secrets.
        case secrets
        /// The routes of operators. `"*"` does not contain it.
        case operate

        /// True if the action is one on sessions alone.
        ///
        /// `read` is also one on stores and values.
        var isOfSessionsAlone: Bool {
            switch self {
            case .dispatch, .create, .delete, .list, .history, .restore, .fork: true
            case .describe, .read, .write, .secrets, .operate: false
            }
        }
    }

    /// The actions on the session.
    ///
    /// An app cannot add the actions that are not on sessions: `describe`, `write`, `secrets`, `operate`.
    public var actions: Set<Action> {
        get { granted.actions }
        set { granted = ActionSet(newValue) }
    }
    /// The actions on the session, as bits.
    var granted: ActionSet
    /// The events that `dispatch` may send.
    public var events: NameSet
    /// The part of the state that `read` shows.
    public var reads: PathMask
    /// The views that `read` shows.
    public var views: NameSet
    /// The part of past states and of logged changes that `history` shows.
    public var history: PathMask

    /// Creates permissions.
    public init(
        actions: Set<Action>,
        events: NameSet = .all,
        reads: PathMask = .all,
        views: NameSet = .all,
        history: PathMask = .all
    ) {
        (granted, self.events) = (ActionSet(actions), events)
        (self.reads, self.views, self.history) = (reads, views, history)
    }

    /// Every action on the session, and all of its data.
    public static let all = Access(actions: ActionSet.ofSessions.actions)

    /// Nothing.
    public static let none = Access(actions: [], events: .none, reads: .none, views: .none, history: .none)

    /// The approximate memory of the permissions, in bytes, if they share none with the grants.
    package var bytes: Int { events.bytes + reads.bytes + views.bytes + history.bytes }

    /// Returns true if the action is granted.
    public func allows(_ action: Action) -> Bool { granted.contains(action) }

    /// Returns true if an event of this name may be sent.
    public func allows(event name: String) -> Bool { allows(.dispatch) && events.contains(name) }

    /// Returns true if the view of this name may be read.
    public func allows(view name: String) -> Bool { allows(.read) && views.contains(name) }
}
