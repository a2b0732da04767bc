import RivuletJSON

/// A tree of watched key paths, a node for each token.
///
/// Tokens are compared by their bytes. A watched token `*` stands for any one token.
/// An element with the id `*` cannot be watched alone; a watched `*` includes it like every other element.
struct PathTrie<Watcher: Hashable & Sendable>: Sendable {
    /// The number of a watched path's node in this tree, valid as long as the path is watched.
    typealias NodeID = Int

    private struct Node {
        /// The node of the path without its last token; nil for the root.
        let parent: NodeID?
        /// The last token.
        let token: PathText
        var children: [PathText: NodeID] = [:] {
            didSet { onlyChild = children.count == 1 ? children.values.first : nil }
        }
        /// The only one of `children`; nil if there are several, or none.
        private(set) var onlyChild: NodeID?
        /// The child that stands for any token.
        var wildcard: NodeID?
        /// The watchers of this path itself.
        var watchers: Set<Watcher> = []

        var isUnused: Bool { watchers.isEmpty && children.isEmpty && wildcard == nil }
    }

    /// The watched paths that a change affects.
    struct Match {
        /// A watched path at or above the changed one.
        struct Whole {
            let id: NodeID
            /// True if the path is above the changed one, so that its watchers see an element's index in its
            /// collection.
            let isAbove: Bool
        }

        var whole: [Whole] = []
        /// Watched paths below the changed one, in the order of their text.
        var parts: [NodeID] = []
        /// The number of nodes visited.
        var visits = 0
    }

    /// The result of a cheap search for the watched paths that a change affects.
    enum Reach {
        /// No watched path.
        case nothing
        /// A single watched path, which is at or above the changed one.
        case one(NodeID, isAbove: Bool)
        /// Perhaps several watched paths; only `match` can find them.
        case several
    }

    /// The approximate memory of a node, and of a watcher of a node, in bytes.
    private static var nodeBytes: Int { 192 }
    private static var watcherBytes: Int { 48 }

    private var nodes: [Node] = [Node(parent: nil, token: PathText(""))]
    private var unused: [NodeID] = []
    /// The approximate memory of the tree, in bytes.
    private(set) var memoryBytes = 0

    var isEmpty: Bool { nodes[0].isUnused }

    /// The watchers of a node's own path.
    func watchers(of id: NodeID) -> Set<Watcher> { nodes[id].watchers }

    mutating func insert(_ watcher: Watcher, at paths: PathSet) {
        for path in paths.pointers {
            var id = 0
            for token in path.tokens { id = child(of: id, token) }
            if nodes[id].watchers.insert(watcher).inserted { memoryBytes += Self.watcherBytes }
        }
    }

    /// Removes a watcher from the paths at which it was inserted.
    mutating func remove(_ watcher: Watcher, at paths: PathSet) {
        for path in paths.pointers {
            var id: NodeID? = 0
            for token in path.tokens { id = id.flatMap { existingChild(of: $0, token) } }
            guard let id, nodes[id].watchers.remove(watcher) != nil else { continue }
            memoryBytes -= Self.watcherBytes
            prune(id)
        }
    }

    /// Returns the watched paths that a change at a path affects; `path` is a pointer's text.
    ///
    /// Nearly every change affects one watched path or none.
    func reach(of path: String) -> Reach {
        let bytes = path.utf8.span
        // A text that is no pointer is left to `match`.
        guard bytes.isEmpty || bytes[0] == UInt8(ascii: "/") else { return .several }
        var found = Reach.nothing
        var id = 0
        var start = 0
        while true {
            if !nodes[id].watchers.isEmpty {
                guard case .nothing = found else { return .several }
                found = .one(id, isAbove: start < bytes.count)
            }
            guard nodes[id].wildcard == nil else { return .several }
            guard !nodes[id].children.isEmpty else { return found }
            // Paths below this one may be watched.
            guard start < bytes.count else { return .several }
            var end = start + 1
            while end < bytes.count, bytes[end] != UInt8(ascii: "/") {
                guard bytes[end] != UInt8(ascii: "~") else { return .several }
                end += 1
            }
            guard let child = child(of: id, named: bytes.extracting(start + 1..<end)) else { return found }
            id = child
            start = end
        }
    }

    /// The child with a token that has no escapes.
    private func child(of id: NodeID, named token: Span<UInt8>) -> NodeID? {
        // Most nodes have one child. It is found without making or hashing a text.
        if let only = nodes[id].onlyChild { return nodes[only].token.isSpelled(as: token) ? only : nil }
        let text = unsafe token.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        return nodes[id].children[PathText(text)]
    }

    /// The watched paths that a change at the path of these tokens affects.
    func match(_ tokens: [String]) -> Match {
        var match = Match()
        var level: [NodeID] = [0]
        for token in tokens {
            match.visits += level.count
            match.whole += level.lazy.filter { !nodes[$0].watchers.isEmpty }.map {
                Match.Whole(id: $0, isAbove: true)
            }
            let token = PathText(token)
            level = level.flatMap { [nodes[$0].children[token], nodes[$0].wildcard].compactMap(\.self) }
            if level.isEmpty { return match }
        }
        match.visits += level.count
        match.whole += level.lazy.filter { !nodes[$0].watchers.isEmpty }.map { Match.Whole(id: $0, isAbove: false) }
        collectParts(below: level, into: &match)
        return match
    }

    /// The tokens of a watched path.
    func tokens(of id: NodeID) -> [String] {
        var tokens: [String] = []
        var id = id
        while let parent = nodes[id].parent {
            tokens.append(nodes[id].token.text)
            id = parent
        }
        return tokens.reversed()
    }

    private func collectParts(below level: [NodeID], into match: inout Match) {
        var parts: [(path: PathText, id: NodeID)] = []
        var open = level
        while let id = open.popLast() {
            for child in nodes[id].children.values + [nodes[id].wildcard].compactMap(\.self) {
                match.visits += 1
                open.append(child)
                guard !nodes[child].watchers.isEmpty else { continue }
                parts.append((PathText(JSONPointer(tokens: tokens(of: child)).description), child))
            }
        }
        match.parts = parts.sorted { $0.path < $1.path }.map(\.id)
    }

    private func existingChild(of id: NodeID, _ token: String) -> NodeID? {
        token == PathSet.wildcard ? nodes[id].wildcard : nodes[id].children[PathText(token)]
    }

    private mutating func child(of id: NodeID, _ token: String) -> NodeID {
        if let child = existingChild(of: id, token) { return child }
        let node = Node(parent: id, token: PathText(token))
        memoryBytes += Self.nodeBytes + token.utf8.count
        let child: NodeID
        if let free = unused.popLast() {
            child = free
            nodes[free] = node
        } else {
            child = nodes.count
            nodes.append(node)
        }
        if token == PathSet.wildcard {
            nodes[id].wildcard = child
        } else {
            nodes[id].children[PathText(token)] = child
        }
        return child
    }

    /// Removes a node that has neither watchers nor children, and each ancestor that then has neither.
    private mutating func prune(_ id: NodeID) {
        var id = id
        while nodes[id].isUnused, let parent = nodes[id].parent {
            let token = nodes[id].token
            memoryBytes -= Self.nodeBytes + token.text.utf8.count
            if nodes[parent].wildcard == id {
                nodes[parent].wildcard = nil
            } else {
                nodes[parent].children[token] = nil
            }
            nodes[id] = Node(parent: nil, token: PathText(""))
            unused.append(id)
            id = parent
        }
        if isEmpty {
            nodes.removeLast(nodes.count - 1)
            unused = []
        }
    }
}
