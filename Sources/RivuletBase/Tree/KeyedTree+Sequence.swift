public import OrderedCollections

extension KeyedTree: Sequence {
    /// All keys and values in their order.
    @inlinable
    package func makeIterator() -> TreeIterator<Key, Value> { TreeIterator(self, from: 0) }

    @inlinable package var underestimatedCount: Int { count }

    /// The keys and values from a position on.
    ///
    /// The position is at most the count.
    @inlinable
    package func suffix(from position: Int) -> TreeIterator<Key, Value> { TreeIterator(self, from: position) }
}

/// Reads a tree leaf by leaf.
@usableFromInline
package struct TreeIterator<Key: Hashable, Value>: Sequence, IteratorProtocol {
    @usableFromInline let root: TreeNode<Key, Value>
    @usableFromInline let count: Int
    @usableFromInline var position: Int
    @usableFromInline var leaf: TreeNode<Key, Value>
    @usableFromInline var offset = 0

    @inlinable
    init(_ tree: KeyedTree<Key, Value>, from position: Int) {
        root = tree.root
        count = tree.count
        self.position = position
        leaf = TreeNode(keys: [], values: [])
    }

    @inlinable
    package mutating func next() -> (key: Key, value: Value)? {
        if offset == leaf.values.count {
            guard position < count else { return nil }
            (leaf, offset) = root.withLeaf(at: position) { ($0, $1) }
        }
        defer {
            offset += 1
            position += 1
        }
        return (leaf.keys[offset], leaf.values[offset])
    }
}

extension TreeIterator: Sendable where Key: Sendable, Value: Sendable {}
