import RivuletAccess
import RivuletAuth
import RivuletHTTP
import RivuletSessions

/// The permissions of one request, decided once by its head.
enum Permit: Sendable {
    /// The server asks for no credentials: the request may do everything.
    case everything
    /// The request may do what its caller may do.
    case limited(CallerPermit)

    /// The permissions for the request's session; nothing if it names none.
    var access: Access {
        switch self {
        case .everything: .all
        case .limited(let permit): permit.access
        }
    }

    /// The caller with its grants; nil on a server that asks for no credentials.
    var identity: Identity? {
        switch self {
        case .everything: nil
        case .limited(let permit): permit.identity
        }
    }

    /// The caller; nil on a server that asks for no credentials.
    var caller: Caller? {
        switch self {
        case .everything: nil
        case .limited(let permit): permit.identity.caller
        }
    }

    /// True if an event may create the request's session.
    var mayCreate: Bool {
        switch self {
        case .everything: true
        case .limited(let permit): permit.access.allows(.create)
        }
    }

    /// The items of the request's store that it may use.
    var items: ItemMask {
        switch self {
        case .everything: .all
        case .limited(let permit): permit.items
        }
    }
}

/// The permissions of a request of one caller.
final class CallerPermit: Sendable {
    let identity: Identity
    /// The permissions for the request's session; none if it names no session.
    let access: Access
    /// The items of the request's store that the request may use; no items if it names no store.
    let items: ItemMask

    /// The items of that store that the request's answer may show; of a value: all or none.
    let readableItems: ItemMask
    /// The caller of dispatches to the request's session.
    let sender: DispatchSender

    init(
        _ identity: Identity,
        access: Access = .none,
        items: ItemMask = .none,
        readableItems: ItemMask = .none
    ) {
        (self.identity, self.access) = (identity, access)
        (self.items, self.readableItems) = (items, readableItems)
        sender = DispatchSender(
            identity.caller,
            events: access.events,
            reads: access.allows(.read) ? access.reads : .none,
            mayCreate: access.allows(.create)
        )
    }
}

extension Permit {
    /// Decides about a request by its route and method, before anything is looked up.
    ///
    /// - Throws: 401 for an anonymous caller without the permission, 403 for any other.
    static func decide(
        _ identity: Identity,
        _ route: Route,
        _ method: HTTPMethod,
        in context: ServerContext
    ) throws(Problem) -> Permit {
        try decide(identity, route, method) { CallerPermit(identity, access: context.access(of: identity, to: $0)) }
    }

    /// Decides about a request; `session` returns the caller's permissions in a session, of which it may keep some.
    ///
    /// - Throws: 401 for an anonymous caller without the permission, 403 for any other.
    static func decide(
        _ identity: Identity,
        _ route: Route,
        _ method: HTTPMethod,
        session: (SessionKey) -> CallerPermit
    ) throws(Problem) -> Permit {
        let requirement = route.resource.requirement(for: method)
        let grants = identity.grants
        let app = route.app ?? ""
        switch requirement {
        case .nothing, .stream: return .limited(CallerPermit(identity))
        case .credential:
            guard !identity.caller.isAnonymous else { throw .credentialMissing }
            return .limited(CallerPermit(identity))
        case .description:
            guard !identity.caller.isAnonymous || grants.allows(.describe, app: route.app) else {
                throw .denied(identity.caller, Need(.describe, route))
            }
            return .limited(CallerPermit(identity))
        case .operation:
            guard grants.allows(.operate, app: nil) else { throw .denied(identity.caller, Need(.operate, route)) }
            return .limited(CallerPermit(identity))
        case .list:
            guard !identity.caller.isAnonymous || grants.allows(.list, app: app) else {
                throw .denied(identity.caller, Need(.list, route))
            }
            return .limited(CallerPermit(identity))
        case .app(let action), .sessions(let action):
            guard grants.allows(action, app: app) else { throw .denied(identity.caller, Need(action, route)) }
            return .limited(CallerPermit(identity))
        case .session(let action, let other):
            guard let key = route.sessionKey else { throw .denied(identity.caller, Need(action, route)) }
            let permit = session(key)
            guard permit.access.allows(action) || other.map(permit.access.allows) == true else {
                throw .denied(identity.caller, Need(action, route))
            }
            return .limited(permit)
        case .store(let action):
            guard let shared = route.sharedName, let items = grants.store(shared.name, of: app, for: action) else {
                throw .denied(identity.caller, Need(action, route))
            }
            let readable = grants.store(shared.name, of: app, for: .read) ?? .none
            return .limited(CallerPermit(identity, items: items, readableItems: readable))
        case .value(let action):
            guard let shared = route.sharedName, grants.value(shared.name, of: app, for: action) else {
                throw .denied(identity.caller, Need(action, route))
            }
            let isReadable = grants.value(shared.name, of: app, for: .read)
            return .limited(CallerPermit(identity, readableItems: isReadable ? .all : .none))
        }
    }

    /// Checks an action on another session than the request's own.
    ///
    /// - Throws: 401 or 403, as `decide` does.
    func check(_ action: Access.Action, on key: SessionKey, in context: ServerContext) throws(Problem) {
        guard case .limited(let permit) = self else { return }
        guard context.access(of: permit.identity, to: key).allows(action) else {
            throw .denied(permit.identity.caller, Need(action, app: key.app, session: key.id))
        }
    }

    /// Checks an item of the request's store by the identifier under which the store keeps it.
    ///
    /// - Throws: 401 or 403.
    func check(item id: String, of shared: SharedName, _ method: HTTPMethod) throws(Problem) {
        guard case .limited(let permit) = self, !permit.items.contains(id) else { return }
        let action: Access.Action = method == .get || method == .head ? .read : .write
        throw .denied(permit.identity.caller, Need(action, app: shared.app, store: shared.name))
    }

    /// The items of the request's store that its answer may show.
    var readableItems: ItemMask {
        switch self {
        case .everything: .all
        case .limited(let permit): permit.readableItems
        }
    }

    /// True if the answer to a request for a value may show the value.
    var readsValue: Bool { readableItems.isAll }

    /// Checks that a caller may use every item of the request's store.
    ///
    /// - Throws: 403 if the caller may use some items only.
    func checkAllItems(_ action: Access.Action, of shared: SharedName) throws(Problem) {
        guard case .limited(let permit) = self, !permit.items.isAll else { return }
        throw .denied(permit.identity.caller, Need(action, app: shared.app, store: shared.name))
    }
}

extension ServerContext {
    /// What a caller may do with a session: the grants, and then the app's own rule.
    func access(of identity: Identity, to key: SessionKey) -> Access {
        let granted = identity.grants.access(to: key.id, of: key.app)
        guard let app = apps[key.app], app.hasAccessRule else { return granted }
        return app.access(of: identity.caller, to: key.id, granted: granted)
    }
}

extension Route {
    /// The session to which the resource belongs; nil if it belongs to none.
    var sessionKey: SessionKey? {
        switch self {
        case .session(let key), .state(let key, _), .events(let key), .views(let key, _), .changes(let key, _): key
        case .reset(let key), .restore(let key), .fork(let key): key
        default: nil
        }
    }

    /// The store or the value to which the resource belongs; nil if it belongs to none.
    var sharedName: SharedName? {
        switch self {
        case .store(let shared), .item(let shared, _), .operations(let shared), .sharedChanges(let shared): shared
        case .value(let shared), .toggle(let shared): shared
        default: nil
        }
    }
}

extension Permit {
    /// Checks that the caller may see and change an open stream: its own, or any with the action `operate`.
    ///
    /// - Throws: 401 or 403.
    func check(_ owner: Identity?) throws(Problem) {
        guard case .limited(let permit) = self, !permit.identity.grants.allows(.operate, app: nil) else { return }
        guard let me = permit.identity.caller.me, me == owner?.caller.me else {
            throw .denied(permit.identity.caller, Need(.operate))
        }
    }
}
