package import RivuletObservation

/// The paths that changed in one incarnation, each once, with the position of its last change.
///
/// The index is never incomplete. If it is full, the paths that changed longest ago are folded into the nodes that
/// contain them. The innermost paths are folded first; in the worst case all are folded into the root. A reader that
/// missed a folded change gets more than that change. No reader gets less than it missed.
package struct ChangeIndex: Sendable {
    /// The position at which the index begins; a reader before it may have missed any change.
    package let start: Cursor.Position
    /// The approximate memory of the index, in bytes.
    package private(set) var bytes = 0
    /// The number of paths in the index, including paths that only contain others.
    package var count: Int { slots.count - 1 }

    /// The nodes; the first is the root, which is never removed.
    private var nodes: [Node]
    private var freed: [Int] = []
    private var slots: [PathText: Int]
    private var oldest: Int?
    private var newest: Int?
    private let entriesMax: Int
    private let bytesMax: Int

    private static let root = 0

    /// Begins at a position, without changes after it.
    package init(from start: Cursor.Position, entriesMax: Int, bytesMax: Int) {
        self.start = start
        self.entriesMax = entriesMax
        self.bytesMax = bytesMax
        nodes = [Node(PathText(""), in: nil, depth: 0)]
        slots = [PathText(""): Self.root]
    }

    init(from start: Cursor.Position, limits: SessionLimits) {
        self.init(from: start, entriesMax: limits.indexEntriesMax, bytesMax: limits.indexBytesMax)
    }

    /// The same index within other limits, with coarser paths if the paths do not fit.
    package func within(entriesMax: Int, bytesMax: Int) -> ChangeIndex {
        var index = ChangeIndex(from: start, entriesMax: entriesMax, bytesMax: bytesMax)
        var next = oldest
        while let current = next {
            let slot = index.slot(of: nodes[current].path)
            index.nodes[slot].marks = nodes[current].marks
            index.bytes += nodes[current].marks.bytes
            index.becomesNewest(slot)
            next = nodes[current].newer
        }
        index.foldWhenFull()
        return index
    }

    /// Records the changes of one published dispatch; each call must have a later position than the call before.
    package mutating func record(_ changes: [StateChange], at position: Cursor.Position) {
        for change in changes {
            let path = PathText(change.path)
            if change.operation == .move {
                // A reader that knows the collection has to get its order again, whichever element was moved.
                guard let collection = path.parent else { continue }
                mark(slot(of: collection)) { $0.record(Marks.Move(position: position, element: path)) }
                continue
            }
            let slot = slot(of: path)
            // Readers get earlier changes within the path as a part of the path's value.
            dropAll(below: slot)
            mark(slot) { marks in
                switch change.operation {
                case .add: marks.record(Marks.Coming(position: position, isRemoval: false))
                case .remove: marks.record(Marks.Coming(position: position, isRemoval: true))
                default: marks.write(at: position)
                }
            }
        }
        foldWhenFull()
    }

    /// The changes that a reader at `position` missed, approximately in their order; the cost is in proportion to the
    /// result.
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

    // MARK: - Nodes

    /// The node of a path; if there is none, it is made, with all nodes that contain it.
    private mutating func slot(of path: PathText) -> Int {
        if let slot = slots[path] { return slot }
        guard let parent = path.parent else { return Self.root }
        let container = slot(of: parent)
        var node = Node(path, in: container, depth: nodes[container].depth + 1)
        node.nextSibling = nodes[container].firstChild
        let slot: Int
        if let reused = freed.popLast() {
            nodes[reused] = node
            slot = reused
        } else {
            nodes.append(node)
            slot = nodes.count - 1
        }
        if let sibling = node.nextSibling { nodes[sibling].previousSibling = slot }
        nodes[container].firstChild = slot
        slots[path] = slot
        bytes += node.bytes
        return slot
    }

    private mutating func mark(_ slot: Int, _ body: (inout Marks) -> Void) {
        bytes -= nodes[slot].marks.bytes
        body(&nodes[slot].marks)
        bytes += nodes[slot].marks.bytes
        guard newest != slot else { return }
        unlink(slot)
        becomesNewest(slot)
    }

    private mutating func dropAll(below slot: Int) {
        var pending: [Int] = []
        var child = nodes[slot].firstChild
        nodes[slot].firstChild = nil
        while let current = child ?? pending.popLast() {
            if let sibling = nodes[current].nextSibling { pending.append(sibling) }
            child = nodes[current].firstChild
            unlink(current)
            free(current)
        }
    }

    /// Removes a node without marks and without children, and the ancestors that only contained it.
    private mutating func prune(_ slot: Int) {
        var slot = slot
        while slot != Self.root, nodes[slot].marks.isEmpty, nodes[slot].firstChild == nil {
            let (parent, previous, next) = (
                nodes[slot].parent, nodes[slot].previousSibling, nodes[slot].nextSibling
            )
            if let next { nodes[next].previousSibling = previous }
            if let previous {
                nodes[previous].nextSibling = next
            } else if let parent {
                nodes[parent].firstChild = next
            }
            free(slot)
            guard let parent else { return }
            slot = parent
        }
    }

    private mutating func free(_ slot: Int) {
        bytes -= nodes[slot].bytes + nodes[slot].marks.bytes
        slots[nodes[slot].path] = nil
        nodes[slot] = Node(PathText(""), in: nil, depth: 0)
        freed.append(slot)
    }

    // MARK: - The order of the last changes

    private mutating func becomesNewest(_ slot: Int) {
        nodes[slot].older = newest
        nodes[slot].newer = nil
        if let newest { nodes[newest].newer = slot } else { oldest = slot }
        newest = slot
        nodes[slot].isLinked = true
    }

    private mutating func unlink(_ slot: Int) {
        guard nodes[slot].isLinked else { return }
        let (older, newer) = (nodes[slot].older, nodes[slot].newer)
        if let older { nodes[older].newer = newer } else { oldest = newer }
        if let newer { nodes[newer].older = older } else { newest = older }
        nodes[slot].isLinked = false
    }

    /// Puts a node at the position of another one in the order, and removes the other one from the order.
    private mutating func link(_ slot: Int, insteadOf other: Int) {
        let (older, newer) = (nodes[other].older, nodes[other].newer)
        nodes[slot].older = older
        nodes[slot].newer = newer
        if let older { nodes[older].newer = slot } else { oldest = slot }
        if let newer { nodes[newer].older = slot } else { newest = slot }
        nodes[slot].isLinked = true
        nodes[other].isLinked = false
    }

    // MARK: - Folding

    /// Folds nodes if a limit is exceeded, until a quarter of each limit is free, so that folding is rare.
    private mutating func foldWhenFull() {
        guard count > entriesMax || bytes > bytesMax else { return }
        while count > entriesMax / 4 * 3 || bytes > bytesMax / 4 * 3 {
            guard foldOlderHalf() else { return }
        }
    }

    /// Folds the nodes that changed longest ago into the nodes that contain them, the innermost first, until there is
    /// room.
    ///
    /// - Returns: False if there is only the root.
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
        for slot in half { levels[nodes[slot].depth].append(slot) }
        for depth in levels.indices.dropFirst().reversed() {
            // A node into which other nodes were folded may be listed twice. At its second turn, it has already been
            // removed or folded.
            for slot in levels[depth] where nodes[slot].isLinked && nodes[slot].depth == depth {
                guard nodes[slot].marks.latest <= bound, let parent = nodes[slot].parent else { continue }
                fold(slot, into: parent)
                if parent != Self.root { levels[depth - 1].append(parent) }
                if count <= entriesMax / 4 * 3, bytes <= bytesMax / 4 * 3 { return true }
            }
        }
        return true
    }

    private mutating func fold(_ slot: Int, into parent: Int) {
        let position = nodes[slot].marks.latest
        let isNewer = nodes[parent].marks.latest < position
        bytes -= nodes[slot].marks.bytes + nodes[parent].marks.bytes
        nodes[slot].marks = Marks()
        nodes[parent].marks.fold(at: position)
        bytes += nodes[slot].marks.bytes + nodes[parent].marks.bytes
        if isNewer || !nodes[parent].isLinked {
            unlink(parent)
            link(parent, insteadOf: slot)
        } else {
            unlink(slot)
        }
        prune(slot)
    }
}

extension ChangeIndex {
    /// A path, its marks, its neighbours in the tree, and its neighbours in the order of changes.
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
        /// True if the node is in the order of the last changes, that is, has marks.
        var isLinked = false

        init(_ path: PathText, in parent: Int?, depth: Int) {
            self.path = path
            self.parent = parent
            self.depth = depth
        }

        /// The approximate memory of the node without its marks, in bytes.
        var bytes: Int { 288 + path.text.utf8.count }
    }
}
