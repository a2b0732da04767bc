// Owns the merging of changes that wait for a log entry.

import RivuletJSON
package import RivuletObservation

extension [StateChange] {
    /// The most changes within one keyed collection that are kept one by one until a log entry.
    private static var elementChangesMax: Int { 1_024 }
    /// The most later changes with which each earlier change is compared one by one.
    ///
    /// Nearly every event has no more changes, and then no sets of paths are made.
    private static var fewChangesMax: Int { 8 }

    /// Returns these changes followed by later ones, without the earlier changes that later ones replace.
    ///
    /// Applied in order, the result leads to the same stored state.
    package func followed(by later: [StateChange]) -> [StateChange] {
        guard !isEmpty else { return later }
        let lasting = later.filter { !$0.isTransient && $0.operation != .move }
        guard lasting.count > Self.fewChangesMax else {
            return filter { change in !lasting.contains { $0.makesUp(for: change) } } + later
        }
        let covering = Set(lasting.map { PathText($0.path) })
        let replaced = Set(lasting.filter { $0.operation == .replace }.map { PathText($0.path) })
        return filter { change in
            let path = PathText(change.path)
            if change.operation == .replace, replaced.contains(path) { return false }
            return !path.ancestors.contains { covering.contains($0) }
        } + later
    }

    /// Returns these changes, with a whole value in place of too many changes below it.
    ///
    /// Only the changes below a keyed collection, or below a value within one, are replaced: elsewhere the state's type
    /// bounds the number of paths. If one such value contains another, only the inner value is written whole.
    package func condensed<State: ObservableState>(for state: State) -> [StateChange] {
        guard count > Self.elementChangesMax else { return self }
        var counts: [PathText: Int] = [:]
        for change in self {
            guard let path = try? JSONPointer(parsing: change.path),
                let depth = State.jsonSchema.depthOfKeyed(along: path.tokens[...])
            else { continue }
            for outer in PathText(change.path).ancestors.prefix(path.tokens.count - depth) {
                counts[outer, default: 0] += 1
            }
        }
        let crowded = counts.filter { $0.value > Self.elementChangesMax }.map(\.key)
        var outer: Set<PathText> = []
        for path in crowded { outer.formUnion(path.ancestors) }
        let replacements = crowded.filter { !outer.contains($0) }.sorted().compactMap { path -> StateChange? in
            guard let pointer = try? JSONPointer(parsing: path.text),
                let value = state.json(at: pointer, includesTransient: false)
            else { return nil }
            return StateChange(operation: .replace, path: path.text, value: value)
        }
        return replacements.isEmpty ? self : followed(by: replacements)
    }
}

extension StateChange {
    /// Returns true if an earlier change is not needed before this one; this change must not be a move.
    fileprivate func makesUp(for earlier: StateChange) -> Bool {
        guard PathSet.contains(path, earlier.path) else { return false }
        return path.utf8.count < earlier.path.utf8.count || (operation == .replace && earlier.operation == .replace)
    }
}

extension JSONSchema {
    /// Returns the number of tokens up to the outermost keyed collection into which a path leads; nil if there is none.
    fileprivate func depthOfKeyed(along path: ArraySlice<String>) -> Int? {
        guard let token = path.first else { return nil }
        switch self {
        case .keyed: return 0
        case .optional(let schema), .annotated(let schema, _): return schema.depthOfKeyed(along: path)
        case .named(_, _, let shape): return shape().depthOfKeyed(along: path)
        case .oneOf(let schemas), .anyOf(let schemas):
            return schemas.lazy.compactMap { $0.depthOfKeyed(along: path) }.first
        case .object(_, _, let fields):
            return fields().first { $0.name == token }?.schema.depthOfKeyed(along: path.dropFirst()).map { $0 + 1 }
        default: return nil
        }
    }
}
