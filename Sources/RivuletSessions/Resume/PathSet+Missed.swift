// Owns what a reader gets who missed changes: the least that leads from where it stands to the current state.

import RivuletJSON
package import RivuletObservation

extension PathSet {
    /// The most elements of one collection that are given one by one; when more came or went, the collection is given anew.
    private static var elementsMax: Int { 256 }

    /// The changes that lead a reader who missed others, oldest first, to the document.
    ///
    /// Elements that went, then values at paths, then elements that came, each with its index at that moment. A collection whose
    /// elements moved, or do not tell their ids, is given anew. Nil when nobody knows what the reader has to drop: something was
    /// replaced that contained places of a wildcard, or there are too many of them.
    package func changes(
        missing missed: some Sequence<MissedChange>,
        in document: ReadableDocument
    ) -> [StateChange]? {
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
            // An outer collection comes before those in its elements, and may have become one that is given anew.
            let isCovered = { path in missing.stale.contains(path) || touched.contains(path) }
            guard !isCovered(collection), !collection.ancestors.contains(where: isCovered) else { continue }
            guard let present = document.additions(of: elements.known.keys, to: collection) else {
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
        /// Elements that the reader does not have: the first thing that it missed of them is that they came.
        var arrived: Set<PathText> = []
        /// Elements of which more is known than that.
        var met: Set<PathText> = []
        /// Patterns of places in those elements, and how many of their first tokens are as they stand.
        var patterns: [(tokens: [String], literal: Int)] = []

        /// Notes the first of what was missed of an element.
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

    private func sorted(_ missed: some Sequence<MissedChange>, in document: ReadableDocument) -> Missing? {
        var trie = PathTrie<Int>()
        trie.insert(0, at: self)
        var missing = Missing()
        let missed = Array(missed)
        for change in missed { missing.meet(change) }
        for change in missed {
            guard let path = try? JSONPointer(parsing: change.path.text) else { continue }
            let match = trie.match(path.tokens)
            let watchesOrder = match.whole.contains(where: \.isAbove)
            if change.operation != .replace, watchesOrder, let collection = change.path.parent {
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
            guard let places = document.places(of: pattern.tokens, literal: pattern.literal) else { return nil }
            missing.stale.formUnion(places.map { PathText($0.description) })
        }
        return missing
    }
}

extension ReadableDocument {
    /// The change that gives the value at a path; nil when there is none.
    fileprivate func change(at path: PathText, _ operation: StateChange.Operation) -> StateChange? {
        guard let pointer = try? JSONPointer(parsing: path.text), let value = json(pointer) else { return nil }
        return StateChange(operation: operation, path: path.text, value: value)
    }

    /// The changes that add those of the elements that there are, in the order of their index.
    ///
    /// Nil when there is no such collection, or when its JSON does not tell where an element is: an `id` may have another form
    /// there than in a key path, or be computed and not be there at all.
    fileprivate func additions(of elements: some Collection<PathText>, to collection: PathText) -> [StateChange]? {
        var added = elements.compactMap { change(at: $0, .add) }
        guard let whole = change(at: collection, .replace)?.value else { return nil }
        var indices: [PathText: Int] = [:]
        for (index, change) in added.enumerated() { indices[PathText(change.path)] = index }
        do throws(JSONError) {
            var reader = JSONReader(whole)
            try reader.array { position, reader throws(JSONError) in
                let element = try reader.capture()
                var elementReader = JSONReader(element)
                guard let token = try elementReader.elementID(),
                    let index = indices[PathText(collection.text + "/" + JSONPointer.escape(token))],
                    added[index].value == element
                else { return }
                added[index].index = position
            }
        } catch {
            return nil
        }
        guard added.allSatisfy({ $0.index != nil }) else { return nil }
        return added.sorted { ($0.index ?? 0) < ($1.index ?? 0) }
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
