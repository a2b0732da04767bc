// Part of Rivulet. See README.md for the architecture.
// Owns which changes a set of watched key paths sees.

package import RivuletJSON
package import RivuletObservation

/// The key paths that one group of subscribers watches, each once, in the order of their text.
package struct PathSet: Hashable, Sendable {
    package let pointers: [JSONPointer]
    let texts: [PathText]

    /// Sorts the paths and drops doubles; no path at all means the whole state.
    package init(_ paths: [JSONPointer]) {
        let byText = Dictionary(paths.map { (PathText($0.description), $0) }, uniquingKeysWith: { first, _ in first })
        texts = byText.isEmpty ? [PathText("")] : byText.keys.sorted()
        pointers = texts.map { byText[$0] ?? JSONPointer(tokens: []) }
    }

    package static func == (left: PathSet, right: PathSet) -> Bool { left.texts == right.texts }

    package func hash(into hasher: inout Hasher) { hasher.combine(texts) }

    /// A watched path that a change reaches.
    enum Reach {
        /// The changed path is at or below a watched one: the change is seen as it is.
        case whole
        /// The change replaced something that contains these watched paths.
        case parts([Int])
        case none
    }

    func reach(of path: String) -> Reach {
        var parts: [Int] = []
        for (index, text) in texts.enumerated() {
            if Self.contains(text.text, path) { return .whole }
            if Self.contains(path, text.text) { parts.append(index) }
        }
        return parts.isEmpty ? .none : .parts(parts)
    }

    /// Whether the place at `outer` is or contains the place at `inner`; both are pointers' texts.
    static func contains(_ outer: String, _ inner: String) -> Bool {
        guard inner.utf8.count > outer.utf8.count else { return inner.utf8.elementsEqual(outer.utf8) }
        return inner.utf8.starts(with: outer.utf8)
            && inner.utf8[inner.utf8.index(inner.utf8.startIndex, offsetBy: outer.utf8.count)] == UInt8(ascii: "/")
    }

    /// What the watchers see of one dispatch's changes: each path once, only where the value differs.
    package func visible(
        of changes: [StateChange],
        from old: ReadableDocument,
        to new: ReadableDocument
    ) -> [StateChange] {
        var seen: [StateChange] = []
        var compared: Set<Int> = []
        for change in changes {
            switch reach(of: change.path) {
            case .none: continue
            case .whole: if let change = watched(change) { seen.append(change) }
            case .parts where change.operation == .move: continue
            case .parts(let parts):
                for part in parts where compared.insert(part).inserted {
                    if let difference = Self.difference(at: pointers[part], from: old, to: new, like: change) {
                        seen.append(difference)
                    }
                }
            }
        }
        return seen
    }

    /// The change as the watchers see it who see it whole: those of the element alone do not know its place among others.
    private func watched(_ change: StateChange) -> StateChange? {
        guard change.index != nil, !watchesOrder(of: change.path) else { return change }
        guard change.operation != .move else { return nil }
        var change = change
        change.index = nil
        return change
    }

    /// Whether the collection of an element is watched as a whole.
    func watchesOrder(of element: String) -> Bool {
        texts.contains { $0.text.utf8.count < element.utf8.count && Self.contains($0.text, element) }
    }

    private static func difference(
        at path: JSONPointer,
        from old: ReadableDocument,
        to new: ReadableDocument,
        like change: StateChange
    ) -> StateChange? {
        let before = old.json(path)
        let after = new.json(path)
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
    package func json(at path: JSONPointer, includesTransient: Bool = true) -> [UInt8]? {
        var writer = JSONWriter(includesTransient: includesTransient)
        guard encodeJSON(at: path.tokens[...], into: &writer) else { return nil }
        return writer.bytes
    }
}
