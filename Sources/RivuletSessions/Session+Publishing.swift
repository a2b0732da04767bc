// Part of Rivulet. See README.md for the architecture.
// Owns what the groups of a session's streams are told of a dispatch.

import RivuletEngine
import RivuletObservation

extension Session {
    /// Tells each group what it sees of the changes; one event per group at most.
    func publish(_ changes: [StateChange], from old: State) {
        let updates = updateViews(after: changes, from: old)
        tell(changes, of: nil, from: ReadableDocument(old), to: ReadableDocument(visible))
        for (view, update) in updates {
            tell(update.changes, of: view, from: ReadableDocument(update.before), to: document(of: view))
        }
    }

    /// Tells the groups that watch a document; those that see the same get the same event.
    private func tell(
        _ changes: [StateChange],
        of view: String?,
        from old: ReadableDocument,
        to new: ReadableDocument
    ) {
        guard let paths = watches.paths(of: view) else { return }
        let all = SeenChanges(changes, watched: paths, from: old, to: new)
        var events: [Rendering: StreamEvent] = [:]
        for (id, sight) in all.seen {
            guard let group = groups[id], group.pace == nil || isDue(id) else { continue }
            let rendering = Rendering(sight, for: group.key)
            let event: StreamEvent
            if let known = events[rendering] {
                event = known
            } else {
                let changes = all.sights[sight, default: []].map { all.items[$0] }
                let cursor = visibleCursor(of: group.key)
                event = .change(changes, for: group.key, from: old, to: new, cursor: cursor)
                events[rendering] = event
            }
            environment.sink.deliver(event, to: id, loops: group.loops)
        }
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
