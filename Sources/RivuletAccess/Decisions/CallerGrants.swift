import RivuletBase

/// The grants of one caller, with the caller's values in place of the variables.
///
/// All decisions are unions: a grant only adds. No decision looks anything up.
package struct CallerGrants: Sendable {
    /// One grant with the caller's values.
    private struct Bound: Sendable {
        let actions: Set<Access.Action>
        /// Nil for all apps.
        let app: ByteText?
        let sessions: [Glob]
        let state: PathMask
        let events: NameSet
        let views: NameSet
        let stores: NameSet
        let values: NameSet
        let items: ItemMask

        init(_ grant: Grant, of caller: Caller) {
            actions = grant.actions
            app = grant.app.flatMap { $0.hasSameBytes(as: Grant.everyName) ? nil : ByteText($0) }
            sessions = grant.sessions.compactMap { $0.glob(of: caller) }
            views = NameSet(granted: grant.views)
            // A list of paths without the caller's values is an empty list, and not the whole state.
            state =
                grant.paths.map { PathMask($0.compactMap { $0.pointer(of: caller) }) } ?? (views.isEmpty ? .all : .none)
            events = grant.events.map(NameSet.init(granted:)) ?? .all
            stores = NameSet(granted: grant.stores)
            values = NameSet(granted: grant.values)
            items = grant.items.map { ItemMask($0.compactMap { $0.glob(of: caller) }) } ?? .all
        }

        /// Every action of the list, on everything.
        init(every actions: [Access.Action]) {
            self.actions = Set(actions)
            (app, sessions, state) = (nil, [.any], .all)
            (events, views, stores, values, items) = (.all, .all, .all, .all, .all)
        }

        func isOf(app name: String) -> Bool { app.map { $0.text.hasSameBytes(as: name) } ?? true }
    }

    private let grants: [Bound]
    private let isAnonymous: Bool

    /// Binds the variables of the grants to the caller.
    package init(_ grants: [Grant], of caller: Caller) {
        self.grants = grants.map { Bound($0, of: caller) }
        isAnonymous = caller.isAnonymous
    }

    private init(every actions: [Access.Action]) {
        grants = [Bound(every: actions)]
        isAnonymous = true
    }

    /// Everything but the routes of operators.
    package static let all = CallerGrants(every: Access.Action.allCases.filter { $0 != .operate })

    /// Everything, with the routes of operators.
    package static let allWithOperate = CallerGrants(every: Access.Action.allCases)

    /// Nothing, for a caller without a credential.
    package static let none = CallerGrants([], of: .anonymous)

    /// Returns the permissions in one session, also if there is no such session.
    package func access(to session: String, of app: String) -> Access {
        var access = Access.none
        for grant in grants where grant.isOf(app: app) && grant.sessions.contains(where: { $0.matches(session) }) {
            access.actions.formUnion(grant.actions.intersection(Access.all.actions))
            if grant.actions.contains(.dispatch) { access.events = access.events.union(grant.events) }
            if grant.actions.contains(.read) {
                access.reads = access.reads.union(grant.state)
                // A grant without paths and without views is one of the state alone: views compute from anything.
                access.views = access.views.union(grant.views)
            }
            if grant.actions.contains(.history) { access.history = access.history.union(grant.state) }
        }
        return access
    }

    /// Returns true if an action that is not one on a session is granted.
    ///
    /// A nil app stands for all apps and for the whole server. `describe` is granted to every caller with a credential.
    /// For an action on sessions, the result is true if the action is granted on any session.
    package func allows(_ action: Access.Action, app: String?) -> Bool {
        if action == .describe, !isAnonymous { return true }
        return grants.contains { grant in
            grant.actions.contains(action) && (app.map(grant.isOf(app:)) ?? (grant.app == nil))
                && (!action.isOfSessionsAlone || !grant.sessions.isEmpty)
        }
    }

    /// Returns the ids of sessions that the caller may see in a list; nil if `list` is not granted.
    package func listPatterns(of app: String) -> SessionPatterns? {
        SessionPatterns(grants.filter { $0.actions.contains(.list) && $0.isOf(app: app) }.flatMap(\.sessions))
    }

    /// Returns the items of a store on which the action, `read` or `write`, is granted; nil if there are none.
    package func store(_ name: String, of app: String, for action: Access.Action) -> ItemMask? {
        let masks = grants.filter { $0.actions.contains(action) && $0.isOf(app: app) && $0.stores.contains(name) }
        let mask = masks.reduce(ItemMask.none) { $0.union($1.items) }
        return mask.isNone ? nil : mask
    }

    /// Returns true if the action, `read` or `write`, is granted on a shared value.
    package func value(_ name: String, of app: String, for action: Access.Action) -> Bool {
        grants.contains { $0.actions.contains(action) && $0.isOf(app: app) && $0.values.contains(name) }
    }
}
