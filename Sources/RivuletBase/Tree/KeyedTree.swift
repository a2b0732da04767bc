public import HashTreeCollections
public import OrderedCollections

/// Values in an order, each with its own key.
///
/// The tree is a B-tree with the number of values in each node. A hash trie gives the leaf of each key. A tree is a
/// value like Array, but a copy costs O(1), and an edit O(log n), amortised. This also holds while copies exist: copies
/// share all nodes except the nodes on the path to the edit. Up to `TreeSize.rootLeafMax` values are one leaf, which is
/// as fast as an OrderedDictionary.
@usableFromInline
package struct KeyedTree<Key: Hashable, Value> {
    @usableFromInline package var count: Int
    @usableFromInline var root: TreeNode<Key, Value>
    /// The label of the leaf that has the key: a number that ascends from leaf to leaf.
    ///
    /// The dictionary is empty while the root is the only leaf.
    @usableFromInline var labels: TreeDictionary<Key, UInt64> = [:]

    /// Creates an empty tree.
    @inlinable
    package init() {
        self.init(keys: [], values: [])
    }

    /// Creates a tree of keys and the same number of values, in O(n).
    @inlinable
    package init(keys: OrderedSet<Key>, values: ContiguousArray<Value>) {
        precondition(keys.count == values.count, "\(keys.count) keys for \(values.count) values")
        count = values.count
        root = TreeNode(keys: keys, values: values)
        if count > TreeSize.rootLeafMax { divideRoot() }
    }
}

extension KeyedTree {
    /// The number of nodes in the tree, for tests.
    package var nodeCount: Int { root.nodeCount }

    /// True if all values are in one array.
    @inlinable package var isFlat: Bool { root.isLeaf }

    /// Returns the position of a key, from 0; nil if the tree does not have the key.
    @inlinable
    package func position(of key: Key) -> Int? {
        guard !root.isLeaf else { return root.keys.firstIndex(of: key) }
        guard let label = labels[key] else { return nil }
        return root.position(of: key, in: label)
    }

    /// Returns the key at a valid position.
    @inlinable
    package func key(at position: Int) -> Key {
        guard !root.isLeaf else { return root.keys[position] }
        return root.withLeaf(at: position) { leaf, offset in leaf.keys[offset] }
    }

    /// Returns the value at a valid position.
    @inlinable
    package func value(at position: Int) -> Value {
        read(at: position) { $0 }
    }

    /// Calls a closure with the value at a valid position.
    @inlinable
    package func read<Result>(at position: Int, _ body: (borrowing Value) -> Result) -> Result {
        guard !root.isLeaf else { return body(root.values.span[position]) }
        return root.withLeaf(at: position) { leaf, offset in body(leaf.values.span[offset]) }
    }

    /// The value of a key; nil if the tree does not have the key.
    @inlinable
    package subscript(key: Key) -> Value? {
        position(of: key).map(value(at:))
    }

    /// Edits the value at a valid position in place.
    @inlinable
    package mutating func update<Result>(at position: Int, _ body: (inout Value) -> Result) -> Result {
        guard !root.isLeaf else { return body(&root.values[position]) }
        return root.withMutableLeaf(at: position) { leaf, offset in body(&leaf.values[offset]) }
    }

    /// All values of a flat tree, for edits in place.
    @inlinable package var flatValues: ContiguousArray<Value> {
        get { root.values }
        _modify { yield &root.values }
    }

    /// Adds a value under a new key at the end.
    @inlinable
    package mutating func append(_ value: Value, under key: Key) {
        insert(value, under: key, at: count)
    }

    /// Inserts a value under a new key.
    ///
    /// The position is at most the count.
    @inlinable
    package mutating func insert(_ value: Value, under key: Key, at position: Int) {
        count += 1
        guard !root.isLeaf else {
            if position == root.values.count {
                root.keys.append(key)
                root.values.append(value)
            } else {
                root.keys.insert(key, at: position)
                root.values.insert(value, at: position)
            }
            return count > TreeSize.rootLeafMax ? divideRoot() : ()
        }
        var moves = TreeMoves<Key>()
        let first = root.children[0].label
        if let sibling = root.insert(key, value, at: position, from: first, below: .max, &moves) {
            let label = sibling.children[0].label
            root = TreeNode(children: [TreeChild(root, label: first), TreeChild(sibling, label: label)])
        }
        if moves.isCramped {
            var next: UInt64 = 0
            root.relabel(next: &next, step: .max / UInt64(root.leafCount + 1), &moves)
        }
        labels[key] = moves.label
        follow(moves)
    }

    /// Removes the value at a valid position.
    @inlinable
    @discardableResult
    package mutating func remove(at position: Int) -> (key: Key, value: Value) {
        count -= 1
        guard !root.isLeaf else { return (root.keys.remove(at: position), root.values.remove(at: position)) }
        var moves = TreeMoves<Key>()
        let removed = root.remove(at: position, &moves)
        while root.children.count == 1 { root = root.children[0].node }
        if root.isLeaf {
            labels = [:]
        } else {
            labels.removeValue(forKey: removed.key)
            follow(moves)
        }
        return removed
    }

    /// Removes this number of values from the end.
    @inlinable
    package mutating func removeLast(_ number: Int) {
        for _ in 0..<number { remove(at: count - 1) }
    }

    /// Gives the value at a valid position a new key.
    @inlinable
    package mutating func rename(at position: Int, to key: Key) {
        let old = root.withMutableLeaf(at: position) { leaf, offset in
            let old = leaf.keys.remove(at: offset)
            leaf.keys.insert(key, at: offset)
            // `gaps(since:)` distinguishes leaves by their arrays of values, so this leaf needs a new array.
            let value = leaf.values[offset]
            leaf.values[offset] = value
            return old
        }
        if let label = labels.removeValue(forKey: old) { labels[key] = label }
    }

    @inlinable
    mutating func follow(_ moves: TreeMoves<Key>) {
        for (keys, label) in moves.moved {
            for key in keys { labels[key] = label }
        }
    }

    /// Turns a root that is a leaf into an inner node.
    @inlinable
    mutating func divideRoot() {
        var nodes = ContiguousArray<TreeChild<Key, Value>>()
        var label: UInt64 = 0
        for start in stride(from: 0, to: root.values.count, by: TreeSize.leafMax) {
            let range = start..<Swift.min(start + TreeSize.leafMax, root.values.count)
            let keys = OrderedSet(uncheckedUniqueElements: root.keys[range])
            for key in keys { labels[key] = label }
            nodes.append(TreeChild(TreeNode(keys: keys, values: ContiguousArray(root.values[range])), label: label))
            label += TreeSize.labelStep
        }
        while nodes.count > TreeSize.childrenMax {
            let children = nodes
            nodes = []
            for start in stride(from: 0, to: children.count, by: TreeSize.childrenMax) {
                let range = start..<Swift.min(start + TreeSize.childrenMax, children.count)
                let node = TreeNode(children: ContiguousArray(children[range]))
                nodes.append(TreeChild(node, label: children[start].label))
            }
        }
        root = TreeNode(children: nodes)
    }
}

extension KeyedTree: Sendable where Key: Sendable, Value: Sendable {}
