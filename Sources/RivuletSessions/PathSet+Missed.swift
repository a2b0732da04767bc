// Part of Rivulet. See README.md for the architecture.
// Owns what a reader gets who missed changes: the least that leads from where it stands to the current state.

import RivuletJSON
package import RivuletObservation

extension PathSet {
    /// The most elements of one collection that are given one by one; when more came or went, the collection is given anew.
    private static var elementsMax: Int { 256 }

    /// The changes that lead a reader who missed others, oldest first, to the state.
    ///
    /// Elements that went, then values at paths, then elements that came, each with its index at that moment. A collection whose
    /// elements moved is given anew.
    package func changes<State: ObservableState>(
        missing missed: some Sequence<MissedChange>,
        in state: State
    ) -> [StateChange] {
        var missing = sorted(missed)
        for (collection, elements) in missing.collections
        where elements.isMoved || elements.known.count > Self.elementsMax {
            missing.stale.insert(collection)
            missing.collections[collection] = nil
        }
        let touched = Set(missing.collections.values.flatMap { $0.known.keys })
        let covering = missing.stale.union(touched)
        var removed: [StateChange] = []
        var added: [StateChange] = []
        for (collection, elements) in missing.collections.sorted(by: { $0.key < $1.key }) {
            guard !covering.contains(collection), !collection.ancestors.contains(where: covering.contains) else {
                continue
            }
            guard let positions = state.positions(in: collection) else {
                missing.stale.insert(collection)
                continue
            }
            removed += elements.known.filter(\.value).keys.sorted().map {
                StateChange(operation: .remove, path: $0.text, value: nil)
            }
            let present = elements.known.keys.compactMap { path in positions[path].map { (path: path, index: $0) } }
            added += present.sorted { $0.index < $1.index }.compactMap { element in
                state.change(at: element.path, .add, index: element.index)
            }
        }
        let stale = missing.stale.filter { path in
            !touched.contains(path) && !path.ancestors.contains { missing.stale.contains($0) || touched.contains($0) }
        }
        let replaced = stale.sorted().compactMap { path in
            state.change(at: path, .replace) ?? StateChange(operation: .remove, path: path.text, value: nil)
        }
        return removed + replaced + added
    }

    /// What became of a collection's elements.
    private struct Elements {
        /// The elements that came or went, and whether the reader knows them.
        var known: [PathText: Bool] = [:]
        var isMoved = false
    }

    private struct Missing {
        /// Paths whose value is to be given anew.
        var stale: Set<PathText> = []
        /// By the path of the collection; only those that are watched as a whole.
        var collections: [PathText: Elements] = [:]
    }

    private func sorted(_ missed: some Sequence<MissedChange>) -> Missing {
        var missing = Missing()
        for change in missed {
            if change.operation != .replace, watchesOrder(of: change.path.text), let collection = change.path.parent {
                if change.operation == .move {
                    missing.collections[collection, default: Elements()].isMoved = true
                } else if missing.collections[collection]?.known[change.path] == nil {
                    // What went first was there before.
                    missing.collections[collection, default: Elements()].known[change.path] =
                        change.operation == .remove
                }
                continue
            }
            guard change.operation != .move else { continue }
            switch reach(of: change.path.text) {
            case .none: continue
            case .whole: missing.stale.insert(change.path)
            case .parts(let parts): missing.stale.formUnion(parts.map { PathText(texts[$0]) })
            }
        }
        return missing
    }
}

extension ObservableState {
    /// The change that gives the value at a path; nil when there is none.
    fileprivate func change(
        at path: PathText,
        _ operation: StateChange.Operation,
        index: Int? = nil
    ) -> StateChange? {
        guard let pointer = try? JSONPointer(parsing: path.text), let value = json(at: pointer) else { return nil }
        return StateChange(operation: operation, path: path.text, index: index, value: value)
    }

    /// The positions of a keyed collection's elements by their paths; nil when there is no such collection.
    fileprivate func positions(in collection: PathText) -> [PathText: Int]? {
        guard let pointer = try? JSONPointer(parsing: collection.text), let json = json(at: pointer) else { return nil }
        var positions: [PathText: Int] = [:]
        do throws(JSONError) {
            var reader = JSONReader(json)
            try reader.array { index, reader throws(JSONError) in
                guard let token = try reader.elementID() else { return }
                positions[PathText(collection.text + "/" + JSONPointer.escape(token))] = index
            }
        } catch {
            return nil
        }
        return positions
    }
}

extension JSONReader {
    /// Reads an element and gives its `id` as a key path has it; nil when it has none.
    fileprivate mutating func elementID() throws(JSONError) -> String? {
        var token: String?
        try object { key, reader throws(JSONError) in
            guard key == "id" else { return try reader.skip() }
            if try reader.peek() == .string {
                token = try reader.string()
            } else {
                token = String(decoding: try reader.capture(), as: UTF8.self)
            }
        }
        return token
    }
}
