import RivuletJSON

/// A tree of watched key paths, a node for each token.
///
/// Tokens are compared by their bytes. A watched token `*` stands for any one token: an element whose id is `*` is watched by it as all
/// others are, and never alone.
struct PathTrie<Watcher: Hashable & Sendable>: Sendable {
    /// The name of a watched path in this tree, as long as it is watched.
    typealias Place = Int

    private struct Node {
        /// The node of the path without its last token; none for the root.
        let parent: Place?
        /// The last token.
        let token: PathText
        var children: [PathText: Place] = [:] {
            didSet { onlyChild = children.count == 1 ? children.values.first : nil }
        }
        /// The one of `children`; nil when there are several, or none.
        private(set) var onlyChild: Place?
        /// The child that stands for any token.
        var wildcard: Place?
        /// Who watches this path itself.
        var watchers: Set<Watcher> = []

        var isUnused: Bool { watchers.isEmpty && children.isEmpty && wildcard == nil }
    }

    /// What a change reaches.
    struct Match {
        /// A watched path at or above the changed one.
        struct Whole {
            let place: Place
            /// Whether it is above: its watchers see an element's place among others.
            let isAbove: Bool
        }

        var whole: [Whole] = []
        /// Watched paths below the changed one, in the order of their text.
        var parts: [Place] = []
        /// How many nodes were looked at.
        var visits = 0
    }

    /// What a change reaches when that is easily said.
    enum Reach {
        /// No watched path.
        case nothing
        /// A single watched path, which is at or above the changed one.
        case one(Place, isAbove: Bool)
        /// Perhaps more: `match` says it.
        case several
    }

    /// What a node, and a watcher of one, take of memory, roughly.
    private static var nodeBytes: Int { 192 }
    private static var watcherBytes: Int { 48 }

    private var nodes: [Node] = [Node(parent: nil, token: PathText(""))]
    private var unused: [Place] = []
    /// What all this takes of memory, roughly.
    private(set) var memoryBytes = 0

    var isEmpty: Bool { nodes[0].isUnused }

    /// Who watches the path of a place itself.
    func watchers(of place: Place) -> Set<Watcher> { nodes[place].watchers }

    mutating func insert(_ watcher: Watcher, at paths: PathSet) {
        for path in paths.pointers {
            var place = 0
            for token in path.tokens { place = child(of: place, token) }
            if nodes[place].watchers.insert(watcher).inserted { memoryBytes += Self.watcherBytes }
        }
    }

    /// Takes back what was inserted.
    mutating func remove(_ watcher: Watcher, at paths: PathSet) {
        for path in paths.pointers {
            var place: Place? = 0
            for token in path.tokens { place = place.flatMap { existingChild(of: $0, token) } }
            guard let place, nodes[place].watchers.remove(watcher) != nil else { continue }
            memoryBytes -= Self.watcherBytes
            prune(place)
        }
    }

    /// What a change at a path concerns, of a pointer's text; nearly always that is one watched path or none.
    func reach(of path: String) -> Reach {
        let bytes = path.utf8.span
        // A text that is no pointer is not for this.
        guard bytes.isEmpty || bytes[0] == UInt8(ascii: "/") else { return .several }
        var found = Reach.nothing
        var place = 0
        var start = 0
        while true {
            if !nodes[place].watchers.isEmpty {
                guard case .nothing = found else { return .several }
                found = .one(place, isAbove: start < bytes.count)
            }
            guard nodes[place].wildcard == nil else { return .several }
            guard !nodes[place].children.isEmpty else { return found }
            // What is below it may be watched.
            guard start < bytes.count else { return .several }
            var end = start + 1
            while end < bytes.count, bytes[end] != UInt8(ascii: "/") {
                guard bytes[end] != UInt8(ascii: "~") else { return .several }
                end += 1
            }
            guard let child = child(of: place, named: bytes.extracting(start + 1..<end)) else { return found }
            place = child
            start = end
        }
    }

    /// The child of a token without escapes.
    private func child(of place: Place, named token: Span<UInt8>) -> Place? {
        // Most nodes have one, which is found without making a text or hashing it.
        if let only = nodes[place].onlyChild { return nodes[only].token.isSpelled(as: token) ? only : nil }
        let text = unsafe token.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        return nodes[place].children[PathText(text)]
    }

    /// The watched paths that a change at the path of these tokens concerns.
    func match(_ tokens: [String]) -> Match {
        var match = Match()
        var level: [Place] = [0]
        for token in tokens {
            match.visits += level.count
            match.whole += level.lazy.filter { !nodes[$0].watchers.isEmpty }.map {
                Match.Whole(place: $0, isAbove: true)
            }
            let token = PathText(token)
            level = level.flatMap { [nodes[$0].children[token], nodes[$0].wildcard].compactMap(\.self) }
            if level.isEmpty { return match }
        }
        match.visits += level.count
        match.whole += level.lazy.filter { !nodes[$0].watchers.isEmpty }.map { Match.Whole(place: $0, isAbove: false) }
        collectParts(below: level, into: &match)
        return match
    }

    /// The tokens of a watched path.
    func tokens(of place: Place) -> [String] {
        var tokens: [String] = []
        var place = place
        while let parent = nodes[place].parent {
            tokens.append(nodes[place].token.text)
            place = parent
        }
        return tokens.reversed()
    }

    private func collectParts(below level: [Place], into match: inout Match) {
        var parts: [(path: PathText, place: Place)] = []
        var open = level
        while let place = open.popLast() {
            for child in nodes[place].children.values + [nodes[place].wildcard].compactMap(\.self) {
                match.visits += 1
                open.append(child)
                guard !nodes[child].watchers.isEmpty else { continue }
                parts.append((PathText(JSONPointer(tokens: tokens(of: child)).description), child))
            }
        }
        match.parts = parts.sorted { $0.path < $1.path }.map(\.place)
    }

    private func existingChild(of place: Place, _ token: String) -> Place? {
        token == PathSet.wildcard ? nodes[place].wildcard : nodes[place].children[PathText(token)]
    }

    private mutating func child(of place: Place, _ token: String) -> Place {
        if let child = existingChild(of: place, token) { return child }
        let node = Node(parent: place, token: PathText(token))
        memoryBytes += Self.nodeBytes + token.utf8.count
        let child: Place
        if let free = unused.popLast() {
            child = free
            nodes[free] = node
        } else {
            child = nodes.count
            nodes.append(node)
        }
        if token == PathSet.wildcard {
            nodes[place].wildcard = child
        } else {
            nodes[place].children[PathText(token)] = child
        }
        return child
    }

    /// Lets go of a node that nobody watches, nor anything below it, and of those above it that are there for its sake.
    private mutating func prune(_ place: Place) {
        var place = place
        while nodes[place].isUnused, let parent = nodes[place].parent {
            let token = nodes[place].token
            memoryBytes -= Self.nodeBytes + token.text.utf8.count
            if nodes[parent].wildcard == place {
                nodes[parent].wildcard = nil
            } else {
                nodes[parent].children[token] = nil
            }
            nodes[place] = Node(parent: nil, token: PathText(""))
            unused.append(place)
            place = parent
        }
        if isEmpty {
            nodes.removeLast(nodes.count - 1)
            unused = []
        }
    }
}
