import RivuletEngine
import RivuletObservation

extension Session {
    /// Tells each group what it sees of the changes; one event per group at most.
    func publish(_ changes: [StateChange], from old: State) {
        let updates = updateViews(after: changes, from: old)
        tell(changes, of: nil, from: { ReadableDocument(old) })
        for (view, update) in updates {
            tell(update.changes, of: view, from: { ReadableDocument(update.before) })
        }
    }

    /// Tells the groups that watch a document; those that see the same get the same event.
    private func tell(
        _ changes: [StateChange],
        of view: String?,
        from old: () -> ReadableDocument
    ) {
        guard let paths = watches.paths(of: view) else { return }
        if let alike = AlikeChanges(changes, watched: paths) {
            guard !alike.items.isEmpty else { return }
            guard alike.watchers.count > 1 else {
                guard let id = alike.watchers.first, let group = dueGroup(id) else { return }
                let event = event(alike.items, for: group.key, from: old)
                return environment.sink.deliver(event, to: id, loops: group.loops)
            }
            var events: [Rendering: StreamEvent] = [:]
            for id in alike.watchers { tell(id, of: 0, seeing: alike.items, from: old, &events) }
            return
        }
        let all = SeenChanges(changes, watched: paths, from: old(), to: document(of: view))
        var events: [Rendering: StreamEvent] = [:]
        for (id, sight) in all.seen {
            tell(id, of: sight, seeing: all.sights[sight, default: []].map { all.items[$0] }, from: old, &events)
        }
    }

    /// Tells a group what it sees, in the event of those that see the same.
    private func tell(
        _ id: GroupID,
        of sight: Int,
        seeing changes: @autoclosure () -> [StateChange],
        from old: () -> ReadableDocument,
        _ events: inout [Rendering: StreamEvent]
    ) {
        guard let group = dueGroup(id) else { return }
        let rendering = Rendering(sight, for: group.key)
        let event = events[rendering] ?? event(changes(), for: group.key, from: old)
        events[rendering] = event
        environment.sink.deliver(event, to: id, loops: group.loops)
    }

    /// The group, when it is told now.
    private func dueGroup(_ id: GroupID) -> StreamGroup? {
        guard let group = groups[id], group.pace == nil || isDue(id) else { return nil }
        return group
    }

    private func event(
        _ changes: [StateChange],
        for key: StreamGroupKey,
        from old: () -> ReadableDocument
    ) -> StreamEvent {
        .change(changes, for: key, from: old(), to: document(of: key.view), cursor: visibleCursor(of: key))
    }
}

/// What tells one event of a dispatch from another.
private struct Rendering: Hashable {
    /// What is seen.
    let sight: Int
    /// What the event's places are relative to; nil in the format that has whole key paths.
    let root: PathSet?
    /// What its cursor says of the paths.
    let pathsName: String?

    init(_ sight: Int, for key: StreamGroupKey) {
        self.sight = sight
        root = key.format == .changes ? nil : key.paths
        pathsName = key.pathsName
    }
}
