import RivuletEngine
import RivuletObservation

/// The view objects that the streams of one session watch or have watched, with their changes.
struct SessionViews {
    private struct Watched {
        let view: OpaqueBox
        var history: ChangeHistory
    }

    private var views: [String: Watched] = [:]

    /// The approximate memory of the changes, in bytes.
    var bytes: Int { views.values.reduce(0) { $0 + $1.history.bytes } }

    var isEmpty: Bool { views.isEmpty }

    /// The view object; nil if no stream has watched the view.
    func view(_ name: String) -> OpaqueBox? { views[name]?.view }

    /// The changes of a view since a stream first watched it; nil if no stream has watched the view.
    func history(of name: String) -> ChangeHistory? { views[name]?.history }

    /// Keeps a view up to date from now on, until the session leaves memory, so that its streams can resume.
    ///
    /// - Returns: False for a view that the app does not have.
    mutating func watch(
        _ name: String,
        _ state: any SessionState,
        _ standing: SessionStanding,
        _ limits: SessionLimits
    ) -> Bool {
        if views[name] != nil { return true }
        guard let view = state.makeView(name, of: standing.state) else { return false }
        views[name] = Watched(view: view, history: ChangeHistory(from: standing.position, limits: limits))
        return true
    }

    /// Updates the views to the visible state.
    ///
    /// - Returns: The changes of each view that changed.
    mutating func update(
        _ state: any SessionState,
        from old: OpaqueBox,
        to standing: SessionStanding,
        after changes: [StateChange]
    ) -> [String: ViewUpdate] {
        var updates: [String: ViewUpdate] = [:]
        for (name, watched) in views {
            let update = state.update(watched.view, from: old, to: standing.state, after: changes)
            guard !update.changes.isEmpty else { continue }
            views[name]?.history.record(
                update.changes,
                at: standing.position,
                hasUnlogged: !standing.unlogged.isEmpty
            )
            updates[name] = update
        }
        return updates
    }
}
