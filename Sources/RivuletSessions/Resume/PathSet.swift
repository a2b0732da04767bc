import RivuletAccess
package import RivuletJSON
package import RivuletObservation

/// The key paths that one group of subscribers watches, each once, ordered by their text.
package struct PathSet: Hashable, Sendable {
    package let pointers: [JSONPointer]
    let texts: [PathText]

    /// Sorts the paths and drops duplicates; without paths, the whole state is watched.
    package init(_ paths: [JSONPointer]) {
        let byText = Dictionary(paths.map { (PathText($0.description), $0) }, uniquingKeysWith: { first, _ in first })
        texts = byText.isEmpty ? [PathText("")] : byText.keys.sorted()
        pointers = texts.map { byText[$0] ?? JSONPointer(tokens: []) }
    }

    package static func == (left: PathSet, right: PathSet) -> Bool { left.texts == right.texts }

    package func hash(into hasher: inout Hasher) { hasher.combine(texts) }

    /// True if the path `outer` is the path `inner` or contains it; both are texts of JSON Pointers.
    static func contains(_ outer: String, _ inner: String) -> Bool {
        guard inner.utf8.count > outer.utf8.count else { return inner.utf8.elementsEqual(outer.utf8) }
        return inner.utf8.starts(with: outer.utf8)
            && inner.utf8[inner.utf8.index(inner.utf8.startIndex, offsetBy: outer.utf8.count)] == UInt8(ascii: "/")
    }

    /// The changes of one dispatch as the watchers see them: each path once, only where the value differs.
    package func visible(
        of changes: [StateChange],
        from old: ReadableDocument,
        to new: ReadableDocument
    ) -> [StateChange] {
        var trie = PathTrie<Int>()
        trie.insert(0, at: self)
        let all = FanOutPlan(changes, watched: trie, from: old, to: new)
        return all.seen[0].flatMap { all.projections[$0] }.map { $0.map { all.items[$0] } } ?? []
    }

    /// The values in a document at the concrete paths, each path once; the paths of a wildcard come in the document's
    /// order.
    ///
    /// If a path leads to too many paths, the value at its part before the first wildcard is listed, with their values
    /// only. No value is listed beside a whole value that contains it.
    func values(in document: ReadableDocument) -> [(path: JSONPointer, json: [UInt8])] {
        var values: [(path: JSONPointer, json: [UInt8])] = []
        guard pointers.contains(where: { $0.tokens.contains(Self.wildcard) }) else {
            for path in pointers {
                if let json = document.json(path) { values.append((path, json)) }
            }
            return values
        }
        let listed: [(outer: JSONPointer, locations: [JSONPointer]?)] = pointers.map { path in
            let outer = Self.outer(of: path)
            return (outer, outer == path ? [path] : document.locations(of: path.tokens))
        }
        let whole = listed.flatMap { $0.locations ?? [] }
        var told: Set<PathText> = []
        for (outer, locations) in listed {
            for path in locations ?? [outer] where told.insert(PathText(path.description)).inserted {
                guard let json = document.json(path) else { continue }
                if locations != nil {
                    values.append((path, json))
                } else if !whole.contains(where: { $0.isPrefix(of: outer) }),
                    let pruned = PathMask(pointers).pruned(json, at: outer, of: document.schema)
                {
                    // The mask is of all paths, because several of them may lead into the same value.
                    values.append((outer, pruned))
                }
            }
        }
        return values
    }

    /// The part of a path before its first wildcard.
    private static func outer(of path: JSONPointer) -> JSONPointer {
        JSONPointer(tokens: Array(path.tokens.prefix(outerCount(of: path.tokens))))
    }

    /// The paths, divided into sets without nested paths.
    ///
    /// Each path is in a later set than the paths that may contain it.
    var levels: [PathSet] {
        guard pointers.count > 1 else { return [self] }
        var levels: [[JSONPointer]] = []
        for path in pointers.sorted(by: { $0.tokens.count < $1.tokens.count }) {
            let level = levels.lastIndex { $0.contains { Self.mayContain($0, path) } }.map { $0 + 1 } ?? 0
            if level == levels.count { levels.append([]) }
            levels[level].append(path)
        }
        return levels.count == 1 ? [self] : levels.map(PathSet.init)
    }

    /// True if the path `outer` may contain the path `inner`; either may have wildcards.
    private static func mayContain(_ outer: JSONPointer, _ inner: JSONPointer) -> Bool {
        outer.tokens.count < inner.tokens.count
            && zip(outer.tokens, inner.tokens).allSatisfy {
                $0 == wildcard || $1 == wildcard || $0.utf8.elementsEqual($1.utf8)
            }
    }

    /// The token that stands for any one token in a watched path.
    static let wildcard = "*"
    /// The most concrete paths that are sent one by one for one path with wildcards.
    ///
    /// If there are more, the node that contains them is sent, with their values only.
    package static let wildcardLocationsMax = 4_096
    /// The most bytes of the texts of the concrete paths that are sent one by one for one path with wildcards.
    package static let wildcardPathBytesMax = 1_048_576

    /// The number of a pattern's leading tokens that are no wildcards.
    ///
    /// The first `literal` tokens are never wildcards, however they are spelled.
    static func outerCount(of pattern: [String], literal: Int = 0) -> Int {
        pattern.indices.first { $0 >= literal && pattern[$0] == wildcard } ?? pattern.count
    }

    /// The approximate memory of the paths, in bytes.
    var memoryBytes: Int {
        texts.reduce(0) { $0 + 2 * $1.text.utf8.count } + pointers.reduce(0) { $0 + 64 + 16 * $1.tokens.count }
    }
}

extension ObservableState {
    /// The value at the path as JSON bytes; nil if there is none.
    package func json(at path: JSONPointer, includesTransient: Bool = true) -> [UInt8]? {
        var writer = JSONWriter(includesTransient: includesTransient)
        guard encodeJSON(at: path.tokens[...], into: &writer) else { return nil }
        return writer.bytes
    }
}
