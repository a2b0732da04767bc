import RivuletBase

/// The grants of one caller, with the caller's values in place of the variables.
///
/// All decisions are unions: a grant only adds. No decision looks anything up.
package struct CallerGrants: Sendable {
    private let grants: [BoundGrant]
    private let isAnonymous: Bool
    /// The approximate memory of the grants that no other caller shares, in bytes.
    package let ownBytes: Int

    /// Binds the variables of the grants to the caller.
    package init(_ grants: [Grant], of caller: Caller) {
        self.grants = grants.map { $0.bound ?? BoundGrant($0, of: caller) }
        isAnonymous = caller.isAnonymous
        ownBytes = zip(grants, self.grants).reduce(0) { $0 + ($1.0.bound == nil ? $1.1.bytes : 0) }
    }

    private init(every actions: [Access.Action]) {
        grants = [BoundGrant(every: actions)]
        (isAnonymous, ownBytes) = (true, 0)
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
        // A policy has up to thousands of patterns.
        let session = Array(session.utf8)
        // The masks behind the first one are joined at once, because each union costs the whole mask.
        var (reads, history): ([PathMask], [PathMask]) = ([], [])
        for grant in grants where grant.isOf(app: app) && grant.sessions.contains(where: { $0.matches(session) }) {
            access.granted.formUnion(grant.actions.intersection(.ofSessions))
            if grant.actions.contains(.dispatch) { access.events = access.events.union(grant.events) }
            if grant.actions.contains(.read) {
                if access.reads.isNone { access.reads = grant.state } else { reads.append(grant.state) }
                // A grant without paths and without views is one of the state alone: views compute from anything.
                access.views = access.views.union(grant.views)
            }
            if grant.actions.contains(.history) {
                if access.history.isNone { access.history = grant.state } else { history.append(grant.state) }
            }
        }
        if !reads.isEmpty { access.reads = .union(of: reads + [access.reads]) }
        if !history.isEmpty { access.history = .union(of: history + [access.history]) }
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
