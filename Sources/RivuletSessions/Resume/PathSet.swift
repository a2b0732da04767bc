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
        var trie = PathTrie<Int>()
        trie.insert(0, at: self)
        let all = SeenChanges(changes, watched: trie, from: old, to: new)
        return all.seen[0].flatMap { all.sights[$0] }.map { $0.map { all.items[$0] } } ?? []
    }

    /// The places that the paths lead to in a document, each once: what wildcards stand for in the document's order.
    ///
    /// A path that leads to more than `wildcardPlacesMax` gives the innermost place that contains them all.
    func places(in document: ReadableDocument) -> [JSONPointer] {
        guard pointers.contains(where: { $0.tokens.contains(Self.wildcard) }) else { return pointers }
        var told: Set<PathText> = []
        return pointers.flatMap { path in
            let outer = JSONPointer(tokens: Array(path.tokens.prefix(Self.outerCount(of: path.tokens))))
            let places = outer.tokens.count == path.tokens.count ? [path] : document.places(of: path.tokens) ?? [outer]
            return places.filter { told.insert(PathText($0.description)).inserted }
        }
    }

    /// The token that stands for any one token in a watched path.
    static let wildcard = "*"
    /// The most places that are told one by one for one path with wildcards; when it leads to more, what contains them is told.
    package static let wildcardPlacesMax = 4_096
    /// The most bytes that the paths of those places take.
    package static let wildcardPathBytesMax = 1_048_576

    /// How many of a pattern's first tokens are no wildcards; the first `literal` ones are none, however they are spelled.
    static func outerCount(of pattern: [String], literal: Int = 0) -> Int {
        pattern.indices.first { $0 >= literal && pattern[$0] == wildcard } ?? pattern.count
    }

    /// What it takes of memory, roughly.
    var memoryBytes: Int {
        texts.reduce(0) { $0 + 2 * $1.text.utf8.count } + pointers.reduce(0) { $0 + 64 + 16 * $1.tokens.count }
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
