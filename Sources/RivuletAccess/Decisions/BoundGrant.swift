import RivuletBase

/// One grant with a caller's values in place of the variables.
///
/// An object, because all callers share a grant without variables.
final class BoundGrant: Sendable {
    let actions: ActionSet
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
        actions = ActionSet(grant.actions)
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
        self.actions = ActionSet(actions)
        (app, sessions, state) = (nil, [.any], .all)
        (events, views, stores, values, items) = (.all, .all, .all, .all, .all)
    }

    /// The approximate memory of the grant, in bytes.
    var bytes: Int {
        [events, views, stores, values].reduce(Self.emptyBytes) { $0 + $1.bytes }
            + sessions.reduce(0) { $0 + $1.bytes } + state.bytes + items.bytes
    }

    /// The approximate memory of a grant without patterns and names.
    private static let emptyBytes = 384

    func isOf(app name: String) -> Bool { app.map { $0.text.hasSameBytes(as: name) } ?? true }
}
