package import RivuletObservation

/// The paths that changed in one residence, each once, with the place of its last change.
///
/// It is never incomplete: when it is full, the paths that changed longest ago are folded into those that contain them, the innermost
/// first, in the worst case into the whole. Who stands behind such a change is then given more than what changed, and nobody less.
package struct ChangeIndex: Sendable {
    /// Where it begins; whoever stands before that has missed anything.
    package let start: Cursor.Position
    /// What it takes of memory, roughly.
    package private(set) var bytes = 0
    /// How many paths it has, those included that only contain others.
    package var count: Int { places.count - 1 }

    /// The first is the root, which is never taken out.
    private var nodes: [Node]
    private var freed: [Int] = []
    private var places: [PathText: Int]
    private var oldest: Int?
    private var newest: Int?
    private let entriesMax: Int
    private let bytesMax: Int

    private static let root = 0

    /// Begins at a place, with nothing after it.
    package init(from start: Cursor.Position, entriesMax: Int, bytesMax: Int) {
        self.start = start
        self.entriesMax = entriesMax
        self.bytesMax = bytesMax
        nodes = [Node(PathText(""), in: nil, depth: 0)]
        places = [PathText(""): Self.root]
    }

    init(from start: Cursor.Position, limits: SessionLimits) {
        self.init(from: start, entriesMax: limits.indexEntriesMax, bytesMax: limits.indexBytesMax)
    }

    /// The same, rarely as fine, within other limits.
    package func within(entriesMax: Int, bytesMax: Int) -> ChangeIndex {
        var index = ChangeIndex(from: start, entriesMax: entriesMax, bytesMax: bytesMax)
        var next = oldest
        while let current = next {
            let place = index.place(of: nodes[current].path)
            index.nodes[place].marks = nodes[current].marks
            index.bytes += nodes[current].marks.bytes
            index.becomesNewest(place)
            next = nodes[current].newer
        }
        index.foldWhenFull()
        return index
    }

    /// Takes down what one published dispatch changed; places come in their order.
    package mutating func note(_ changes: [StateChange], at position: Cursor.Position) {
        for change in changes {
            let path = PathText(change.path)
            if change.operation == .move {
                // Whoever knows the collection has to learn its order again, whichever element it was.
                guard let collection = path.parent else { continue }
                mark(place(of: collection)) { $0.note(Marks.Move(position: position, element: path)) }
                continue
            }
            let place = place(of: path)
            // What changed within it before is given with it.
            dropAll(below: place)
            mark(place) { marks in
                switch change.operation {
                case .add: marks.note(Marks.Coming(position: position, isRemoval: false))
                case .remove: marks.note(Marks.Coming(position: position, isRemoval: true))
                default: marks.write(at: position)
                }
            }
        }
        foldWhenFull()
    }

    /// What a reader missed who stands at a place, in about the order of the changes; it costs what it gives.
    package func changes(after position: Cursor.Position) -> [MissedChange] {
        guard position >= start else { return [MissedChange(path: "")] }
        var missed: [MissedChange] = []
        var next = newest
        while let current = next, nodes[current].marks.latest > position {
            nodes[current].marks.append(after: position, at: nodes[current].path, to: &missed)
            next = nodes[current].older
        }
        missed.reverse()
        return missed
    }

    // MARK: - Places

    /// The place of a path; made, with all that contain it, when it is not there.
    private mutating func place(of path: PathText) -> Int {
        if let place = places[path] { return place }
        guard let parent = path.parent else { return Self.root }
        let container = place(of: parent)
        var node = Node(path, in: container, depth: nodes[container].depth + 1)
        node.nextSibling = nodes[container].firstChild
        let place: Int
        if let reused = freed.popLast() {
            nodes[reused] = node
            place = reused
        } else {
            nodes.append(node)
            place = nodes.count - 1
        }
        if let sibling = node.nextSibling { nodes[sibling].previousSibling = place }
        nodes[container].firstChild = place
        places[path] = place
        bytes += node.bytes
        return place
    }

    private mutating func mark(_ place: Int, _ body: (inout Marks) -> Void) {
        bytes -= nodes[place].marks.bytes
        body(&nodes[place].marks)
        bytes += nodes[place].marks.bytes
        guard newest != place else { return }
        unlink(place)
        becomesNewest(place)
    }

    private mutating func dropAll(below place: Int) {
        var pending: [Int] = []
        var child = nodes[place].firstChild
        nodes[place].firstChild = nil
        while let current = child ?? pending.popLast() {
            if let sibling = nodes[current].nextSibling { pending.append(sibling) }
            child = nodes[current].firstChild
            unlink(current)
            free(current)
        }
    }

    /// Takes out a place that has neither marks nor others in it, and those that only contained it.
    private mutating func prune(_ place: Int) {
        var place = place
        while place != Self.root, nodes[place].marks.isEmpty, nodes[place].firstChild == nil {
            let (parent, previous, next) = (
                nodes[place].parent, nodes[place].previousSibling, nodes[place].nextSibling
            )
            if let next { nodes[next].previousSibling = previous }
            if let previous {
                nodes[previous].nextSibling = next
            } else if let parent {
                nodes[parent].firstChild = next
            }
            free(place)
            guard let parent else { return }
            place = parent
        }
    }

    private mutating func free(_ place: Int) {
        bytes -= nodes[place].bytes + nodes[place].marks.bytes
        places[nodes[place].path] = nil
        nodes[place] = Node(PathText(""), in: nil, depth: 0)
        freed.append(place)
    }

    // MARK: - The order of the last changes

    private mutating func becomesNewest(_ place: Int) {
        nodes[place].older = newest
        nodes[place].newer = nil
        if let newest { nodes[newest].newer = place } else { oldest = place }
        newest = place
        nodes[place].isLinked = true
    }

    private mutating func unlink(_ place: Int) {
        guard nodes[place].isLinked else { return }
        let (older, newer) = (nodes[place].older, nodes[place].newer)
        if let older { nodes[older].newer = newer } else { oldest = newer }
        if let newer { nodes[newer].older = older } else { newest = older }
        nodes[place].isLinked = false
    }

    /// Puts a place where another one stands, which goes.
    private mutating func link(_ place: Int, insteadOf other: Int) {
        let (older, newer) = (nodes[other].older, nodes[other].newer)
        nodes[place].older = older
        nodes[place].newer = newer
        if let older { nodes[older].newer = place } else { oldest = place }
        if let newer { nodes[newer].older = place } else { newest = place }
        nodes[place].isLinked = true
        nodes[other].isLinked = false
    }

    // MARK: - Folding

    /// Makes room when there is none: a quarter of what it may have, so that this is rare.
    private mutating func foldWhenFull() {
        guard count > entriesMax || bytes > bytesMax else { return }
        while count > entriesMax / 4 * 3 || bytes > bytesMax / 4 * 3 {
            guard foldOlderHalf() else { return }
        }
    }

    /// Folds what changed longest ago into what contains it, the innermost first, until there is room; false: there is only the root.
    private mutating func foldOlderHalf() -> Bool {
        var order: [Int] = []
        var next = oldest
        while let current = next {
            if current != Self.root { order.append(current) }
            next = nodes[current].newer
        }
        let half = order.prefix((order.count + 1) / 2)
        guard let last = half.last else { return false }
        let bound = nodes[last].marks.latest
        var levels: [[Int]] = Array(repeating: [], count: (half.map { nodes[$0].depth }.max() ?? 0) + 1)
        for place in half { levels[nodes[place].depth].append(place) }
        for depth in levels.indices.dropFirst().reversed() {
            // One that was folded into may come twice, and is gone then or folded by then.
            for place in levels[depth] where nodes[place].isLinked && nodes[place].depth == depth {
                guard nodes[place].marks.latest <= bound, let parent = nodes[place].parent else { continue }
                fold(place, into: parent)
                if parent != Self.root { levels[depth - 1].append(parent) }
                if count <= entriesMax / 4 * 3, bytes <= bytesMax / 4 * 3 { return true }
            }
        }
        return true
    }

    private mutating func fold(_ place: Int, into parent: Int) {
        let position = nodes[place].marks.latest
        let isNewer = nodes[parent].marks.latest < position
        bytes -= nodes[place].marks.bytes + nodes[parent].marks.bytes
        nodes[place].marks = Marks()
        nodes[parent].marks.fold(at: position)
        bytes += nodes[place].marks.bytes + nodes[parent].marks.bytes
        if isNewer || !nodes[parent].isLinked {
            unlink(parent)
            link(parent, insteadOf: place)
        } else {
            unlink(place)
        }
        prune(place)
    }
}

extension ChangeIndex {
    /// A path, its marks, and its places among those around it and among those of its time.
    private struct Node: Sendable {
        let path: PathText
        let parent: Int?
        let depth: Int
        var marks = Marks()
        var firstChild: Int?
        var nextSibling: Int?
        var previousSibling: Int?
        var older: Int?
        var newer: Int?
        /// Whether it is in the order of the last changes, that is, has marks.
        var isLinked = false

        init(_ path: PathText, in parent: Int?, depth: Int) {
            self.path = path
            self.parent = parent
            self.depth = depth
        }

        /// What it takes of memory without its marks, roughly.
        var bytes: Int { 288 + path.text.utf8.count }
    }
}
