// Owns the changes that a reader gets in place of missed changes: the fewest changes that lead from the reader's
// position to the current state.

import RivuletJSON
package import RivuletObservation

extension PathSet {
    /// The most elements of one collection that are sent one by one; if more were inserted or removed, the whole
    /// collection is sent.
    private static var elementsMax: Int { 256 }

    /// The changes that lead a reader to the values of the document; `missed` has the changes that the reader missed,
    /// oldest first.
    ///
    /// Removed elements come first, then values at paths, then added elements, each with its index at that moment. A
    /// collection is sent as a whole if its elements moved, or if their JSON does not have their ids. The result is nil
    /// if it is unknown which values the reader has to drop. That is so if a replaced value contained paths of a
    /// wildcard, or if there are too many such paths.
    ///
    /// For each watched path, the result has the same changes as if no other path were watched. If several paths need
    /// the same node, the node is in the result once, before the nodes within it.
    package func changes(
        missing missed: some Sequence<MissedChange>,
        in document: ReadableDocument
    ) -> [StateChange]? {
        let missed = Array(missed)
        guard !missed.isEmpty else { return [] }
        let levels = levels
        guard levels.count > 1 else { return changesOfLevel(missing: missed, in: document) }
        var told: [StateChange] = []
        var locations: Set<PathText> = []
        for level in levels {
            guard let changes = level.changesOfLevel(missing: missed, in: document) else { return nil }
            let fresh = changes.filter { !locations.contains(PathText($0.path)) }
            locations.formUnion(fresh.lazy.map { PathText($0.path) })
            told += fresh
        }
        return told
    }

    /// Returns the same changes for a set without nested paths.
    private func changesOfLevel(missing missed: [MissedChange], in document: ReadableDocument) -> [StateChange]? {
        guard var missing = sorted(missed, in: document) else { return nil }
        for (collection, elements) in missing.collections
        where elements.isMoved || elements.known.count > Self.elementsMax {
            missing.stale.insert(collection)
            missing.collections[collection] = nil
        }
        let touched = Set(missing.collections.values.flatMap { $0.known.keys })
        var removed: [StateChange] = []
        var added: [StateChange] = []
        for (collection, elements) in missing.collections.sorted(by: { $0.key < $1.key }) {
            // Outer collections come first. If an outer collection is sent as a whole, it includes the collections in
            // its elements.
            let isCovered = { path in missing.stale.contains(path) || touched.contains(path) }
            guard !isCovered(collection), !collection.ancestors.contains(where: isCovered) else { continue }
            guard let present = document.additions(of: elements.known.keys) else {
                missing.stale.insert(collection)
                continue
            }
            removed += elements.known.filter(\.value).keys.sorted().map {
                StateChange(operation: .remove, path: $0.text, value: nil)
            }
            added += present
        }
        let stale = missing.stale.filter { path in
            !touched.contains(path) && !path.ancestors.contains { missing.stale.contains($0) || touched.contains($0) }
        }
        let replaced = stale.sorted().compactMap { path in
            document.change(at: path, missing.hasArrived(path) ? .add : .replace)
                ?? StateChange(operation: .remove, path: path.text, value: nil)
        }
        return removed + replaced + added
    }

    /// The changes of a collection's elements.
    private struct Elements {
        /// The inserted and removed elements; true for an element that the reader has.
        var known: [PathText: Bool] = [:]
        var isMoved = false
    }

    private struct Missing {
        /// The paths at which the whole value is to be sent.
        var stale: Set<PathText> = []
        /// The changed elements by the path of their collection; only collections that are watched as a whole.
        var collections: [PathText: Elements] = [:]
        /// The elements that the reader does not have, because their first missed change is an insertion.
        var arrived: Set<PathText> = []
        /// The elements with a recorded first insertion, removal or move.
        var met: Set<PathText> = []
        /// The patterns of watched paths in inserted elements, each with the number of its leading tokens that are
        /// literal.
        var patterns: [(tokens: [String], literal: Int)] = []

        /// Records the first missed insertion, removal or move of an element.
        mutating func meet(_ change: MissedChange) {
            guard change.operation != .replace, met.insert(change.path).inserted, change.operation == .add else {
                return
            }
            arrived.insert(change.path)
        }

        func hasArrived(_ path: PathText) -> Bool {
            arrived.contains(path) || path.ancestors.contains { arrived.contains($0) }
        }
    }

    private func sorted(_ missed: [MissedChange], in document: ReadableDocument) -> Missing? {
        var trie = PathTrie<Int>()
        trie.insert(0, at: self)
        var missing = Missing()
        for change in missed { missing.meet(change) }
        for change in missed {
            guard let path = try? JSONPointer(parsing: change.path.text) else { continue }
            let match = trie.match(path.tokens)
            let watchesOrder = match.whole.contains(where: \.isAbove)
            if change.operation != .replace, watchesOrder, let collection = change.path.parent {
                if change.operation == .move {
                    missing.collections[collection, default: Elements()].isMoved = true
                } else if missing.collections[collection]?.known[change.path] == nil {
                    // The reader has the element if the element's first missed change is a removal.
                    missing.collections[collection, default: Elements()].known[change.path] =
                        change.operation == .remove
                }
                continue
            }
            guard change.operation != .move else { continue }
            guard match.whole.isEmpty else {
                missing.stale.insert(change.path)
                continue
            }
            for part in match.parts {
                let tokens = path.tokens + trie.tokens(of: part)[path.tokens.count...]
                if Self.outerCount(of: tokens, literal: path.tokens.count) == tokens.count {
                    missing.stale.insert(PathText(JSONPointer(tokens: tokens).description))
                } else if missing.hasArrived(change.path) {
                    missing.patterns.append((tokens, path.tokens.count))
                } else {
                    return nil
                }
            }
        }
        for pattern in missing.patterns {
            guard let locations = document.locations(of: pattern.tokens, literal: pattern.literal) else { return nil }
            missing.stale.formUnion(locations.map { PathText($0.description) })
        }
        return missing
    }
}

extension ReadableDocument {
    /// The change that gives the value at a path; nil if there is no value.
    fileprivate func change(at path: PathText, _ operation: StateChange.Operation) -> StateChange? {
        guard let pointer = try? JSONPointer(parsing: path.text), let value = json(pointer) else { return nil }
        return StateChange(operation: operation, path: path.text, value: value)
    }

    /// The changes that add the elements, in the order of their indices; an element that the document lacks is left
    /// out.
    ///
    /// The result is nil if the JSON of an element does not have its id. The id may have another form there than in a
    /// key path, or be computed.
    fileprivate func additions(of elements: some Collection<PathText>) -> [StateChange]? {
        var added: [StateChange] = []
        for path in elements {
            guard var addition = change(at: path, .add) else { continue }
            guard let pointer = try? JSONPointer(parsing: path.text), let value = addition.value,
                let position = positions(along: pointer)?[pointer.tokens.count - 1],
                let id = value.elementID, PathText(id) == PathText(pointer.tokens[pointer.tokens.count - 1])
            else { return nil }
            addition.index = position
            added.append(addition)
        }
        return added.sorted { ($0.index ?? 0) < ($1.index ?? 0) }
    }
}

extension [UInt8] {
    /// The `id` of an element's JSON in the form of a key path; nil if there is none.
    fileprivate var elementID: String? {
        var reader = JSONReader(self)
        var token: String?
        do throws(JSONError) {
            try reader.object { key, reader throws(JSONError) in
                guard key == "id" else { return try reader.skip() }
                if try reader.peek() == .string {
                    token = try reader.string()
                } else {
                    token = String(decoding: try reader.capture(), as: UTF8.self)
                }
            }
        } catch {
            return nil
        }
        return token
    }
}
