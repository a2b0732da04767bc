public import OrderedCollections

/// A node of a ``KeyedTree``: a leaf with keys and their values, or an inner node with children of equal height.
///
/// Copies of a node share its arrays. An edit copies only the arrays of the nodes on the path to the edited value.
@usableFromInline
package struct TreeNode<Key: Hashable, Value> {
    @usableFromInline var keys: OrderedSet<Key>
    @usableFromInline var values: ContiguousArray<Value>
    /// Empty in a leaf.
    @usableFromInline var children: ContiguousArray<TreeChild<Key, Value>>

    @inlinable
    init(keys: OrderedSet<Key>, values: ContiguousArray<Value>) {
        self.keys = keys
        self.values = values
        children = []
    }

    @inlinable
    init(children: ContiguousArray<TreeChild<Key, Value>>) {
        keys = []
        values = []
        self.children = children
    }

    @inlinable var isLeaf: Bool { children.isEmpty }

    /// The number of values in a leaf, or of children in an inner node.
    @inlinable var width: Int { isLeaf ? values.count : children.count }

    /// The number of values in the node and below it.
    @inlinable var count: Int { isLeaf ? values.count : children.reduce(0) { $0 + $1.count } }

    /// The number of levels below the node.
    @inlinable var height: Int {
        guard let child = children.first else { return 0 }
        return child.node.height + 1
    }

    /// The number of leaves in the node and below it.
    @inlinable var leafCount: Int { isLeaf ? 1 : children.reduce(0) { $0 + $1.node.leafCount } }

    /// The number of nodes in the tree below this node, including this node.
    var nodeCount: Int { children.reduce(1) { $0 + $1.node.nodeCount } }

    /// Returns the child that has the value at an offset, and the offset of the child's first value.
    ///
    /// An offset past the end gives the last child.
    @inlinable
    func child(at offset: Int) -> (index: Int, start: Int) {
        let children = children.span
        var (index, start) = (0, 0)
        while index + 1 < children.count, offset >= start + children[index].count {
            start += children[index].count
            index += 1
        }
        return (index, start)
    }

    /// Returns the position of a key that is in the leaf with the given label.
    @inlinable
    func position(of key: Key, in label: UInt64) -> Int? {
        guard !isLeaf else { return keys.firstIndex(of: key) }
        let children = children.span
        var (index, start) = (0, 0)
        while index + 1 < children.count, children[index + 1].label <= label {
            start += children[index].count
            index += 1
        }
        return children[index].node.position(of: key, in: label).map { $0 + start }
    }

    /// Calls a closure with the leaf that holds the value at an offset, and with the value's offset in that leaf.
    @inlinable
    func withLeaf<Result>(at offset: Int, _ body: (TreeNode, Int) -> Result) -> Result {
        guard !isLeaf else { return body(self, offset) }
        let (index, start) = child(at: offset)
        return children.span[index].node.withLeaf(at: offset - start, body)
    }

    /// Calls a closure with the leaf that holds the value at an offset.
    ///
    /// The closure does not change the number of values.
    @inlinable
    mutating func withMutableLeaf<Result>(at offset: Int, _ body: (inout TreeNode, Int) -> Result) -> Result {
        guard !isLeaf else { return body(&self, offset) }
        let (index, start) = child(at: offset)
        return children[index].node.withMutableLeaf(at: offset - start, body)
    }
}

/// A child of an inner node.
@usableFromInline
package struct TreeChild<Key: Hashable, Value> {
    @usableFromInline var node: TreeNode<Key, Value>
    /// The label of the node's first leaf; labels ascend from leaf to leaf.
    @usableFromInline var label: UInt64
    /// The number of values in the node and below it.
    @usableFromInline var count: Int

    @inlinable
    init(_ node: TreeNode<Key, Value>, label: UInt64) {
        self.node = node
        self.label = label
        count = node.count
    }
}

/// The sizes of the nodes and the distance of their labels.
@usableFromInline
package enum TreeSize {
    /// The most values of a leaf that is the whole tree.
    ///
    /// Small collections are thus flat and without labels.
    @inlinable static var rootLeafMax: Int { 1_024 }
    /// The most values of any other leaf.
    @inlinable static var leafMax: Int { 128 }
    /// The most children of an inner node.
    @inlinable static var childrenMax: Int { 32 }
    /// The distance between the labels of neighbouring leaves, if enough labels are free.
    @inlinable static var labelStep: UInt64 { 1 << 32 }
    /// The least distance between the new labels of the leaves below a node.
    ///
    /// It grows with the node's height, so that new labels are needed less often the more leaves they concern.
    @inlinable
    static func labelStepMin(height: Int) -> UInt64 { 1 << UInt64(Swift.min(8 * height, 32)) }
}

extension TreeNode: Sendable where Key: Sendable, Value: Sendable {}
extension TreeChild: Sendable where Key: Sendable, Value: Sendable {}
