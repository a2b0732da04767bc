// Part of Rivulet. See README.md for the architecture.
// Owns which changes a set of watched key paths sees.

package import RivuletJSON
package import RivuletObservation

/// The key paths that one group of subscribers watches, each once, in the order of their text.
package struct PathSet: Hashable, Sendable {
    package let pointers: [JSONPointer]
    private let texts: [String]

    /// Sorts the paths and drops doubles; no path at all means the whole state.
    package init(_ paths: [JSONPointer]) {
        let byText = Dictionary(paths.map { ($0.description, $0) }, uniquingKeysWith: { first, _ in first })
        texts = byText.isEmpty ? [""] : byText.keys.sorted()
        pointers = texts.map { byText[$0] ?? JSONPointer(tokens: []) }
    }

    package static func == (left: PathSet, right: PathSet) -> Bool { left.texts == right.texts }

    package func hash(into hasher: inout Hasher) { hasher.combine(texts) }

    /// A watched path that a change reaches.
    private enum Reach {
        /// The changed path is at or below a watched one: the change is seen as it is.
        case whole
        /// The change replaced something that contains these watched paths.
        case parts([Int])
        case none
    }

    private func reach(of path: String) -> Reach {
        var parts: [Int] = []
        for (index, text) in texts.enumerated() {
            if Self.contains(text, path) { return .whole }
            if Self.contains(path, text) { parts.append(index) }
        }
        return parts.isEmpty ? .none : .parts(parts)
    }

    /// Whether the place at `outer` is or contains the place at `inner`; both are pointers' texts.
    private static func contains(_ outer: String, _ inner: String) -> Bool {
        guard inner.utf8.count > outer.utf8.count else { return inner == outer }
        return inner.utf8.starts(with: outer.utf8)
            && inner.utf8[inner.utf8.index(inner.utf8.startIndex, offsetBy: outer.utf8.count)] == UInt8(ascii: "/")
    }

    /// What the watchers see of one dispatch's changes: each path once, only where the value differs.
    package func visible<State: ObservableState>(
        of changes: [StateChange],
        from old: State,
        to new: State
    ) -> [StateChange] {
        var seen: [StateChange] = []
        for change in changes {
            switch reach(of: change.path) {
            case .none: continue
            case .whole: seen.append(change)
            case .parts(let parts):
                for part in parts where !seen.contains(where: { $0.path == texts[part] }) {
                    if let difference = Self.difference(at: pointers[part], from: old, to: new, like: change) {
                        seen.append(difference)
                    }
                }
            }
        }
        return seen
    }

    /// The paths at which a reader who missed changes at `changed` has to be given the current value, outermost only.
    package func stale(after changed: some Sequence<String>) -> [JSONPointer] {
        var stale: Set<String> = []
        for path in changed {
            switch reach(of: path) {
            case .none: continue
            case .whole: stale.insert(path)
            case .parts(let parts): stale.formUnion(parts.map { texts[$0] })
            }
        }
        let outermost = stale.sorted().reduce(into: [String]()) { kept, path in
            if !kept.contains(where: { Self.contains($0, path) }) { kept.append(path) }
        }
        return outermost.compactMap { try? JSONPointer(parsing: $0) }
    }

    private static func difference<State: ObservableState>(
        at path: JSONPointer,
        from old: State,
        to new: State,
        like change: StateChange
    ) -> StateChange? {
        let before = old.json(at: path)
        let after = new.json(at: path)
        guard before != after else { return nil }
        let operation: StateChange.Operation = before == nil ? .add : after == nil ? .remove : .replace
        return StateChange(
            operation: operation,
            path: path.description,
            value: after,
            isTransient: change.isTransient
        )
    }
}

extension ObservableState {
    /// The value at the path as JSON bytes; nil when there is none.
    package func json(at path: JSONPointer) -> [UInt8]? {
        var writer = JSONWriter()
        guard encodeJSON(at: path.tokens[...], into: &writer) else { return nil }
        return writer.bytes
    }
}
