// Owns a session's view objects: reading them, and what their streams see.

import RivuletEngine
import RivuletJSON
import RivuletObservation

extension Session {
    package func readView(_ name: String?) -> Result<StateAnswer, SessionError> {
        lastUsed = environment.uptime()
        guard let name else { return .success(StateAnswer(cursor: visibleCursor, value: allViews())) }
        guard let view = instance(of: name) else { return .failure(.noView(name)) }
        let value = ReadableDocument(view).json(.root) ?? []
        return .success(StateAnswer(cursor: visibleCursor, value: value))
    }

    private func allViews() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        for view in engine.views {
            let instance = views[view.name]?.instance ?? view.makeInstance(from: visible)
            guard let json = ReadableDocument(instance).json(.root) else { continue }
            writer.key(view.name)
            writer.raw(json)
        }
        writer.endObject()
        return writer.bytes
    }

    /// The view that streams watch, or one that is made for this reader.
    private func instance(of name: String) -> (any ViewInstance<State>)? {
        views[name]?.instance ?? engine.views.first { $0.name == name }?.makeInstance(from: visible)
    }

    /// Keeps a view up to date from now on, until the session leaves memory, so that its streams may come back.
    ///
    /// - Returns: False for one that the app does not have.
    @discardableResult
    func watch(_ view: String) -> Bool {
        if views[view] != nil { return true }
        guard let instance = instance(of: view) else { return false }
        hasViews = true
        views[view] = WatchedView(instance, at: visiblePosition, limits: environment.limits)
        return true
    }

    /// What streams of a watched view read now, or, for nil, those of the state.
    func document(of view: String?) -> ReadableDocument {
        guard let view else { return ReadableDocument(visible) }
        return views[view].map { ReadableDocument($0.instance) } ?? .nothing
    }

    /// Brings the watched views up to date with what is visible now.
    ///
    /// - Returns: What changed in each.
    func updateViews(after changes: [StateChange], from old: State) -> [String: ViewUpdate] {
        var updates: [String: ViewUpdate] = [:]
        guard hasViews else { return updates }
        for (name, view) in views {
            let update = view.instance.update(from: old, to: visible, after: changes)
            guard !update.changes.isEmpty else { continue }
            views[name]?.note(update.changes, at: visiblePosition, hasUnlogged: !visibleUnlogged.isEmpty)
            updates[name] = update
        }
        return updates
    }

    /// What a reader of a view missed.
    ///
    /// No log has a view's changes: a reader of a time before it was watched gets all that it watches anew.
    func missed(of view: String, after cursor: Cursor) -> [MissedChange] {
        guard cursor.residence == residence, let index = views[view]?.index else { return [MissedChange(path: "")] }
        return index.changes(after: cursor.position)
    }
}
