public import OrderedCollections

/// The keys that moved to other leaves during an edit.
@usableFromInline
struct TreeMoves<Key: Hashable> {
    /// The label of the leaf that received a new key.
    @usableFromInline var label: UInt64 = 0
    /// The keys that moved to another leaf, with that leaf's label.
    ///
    /// A later pair overrides an earlier pair with the same key.
    @usableFromInline var moved: [(keys: OrderedSet<Key>, label: UInt64)] = []
    /// True if two neighbouring leaves have the same label, because no label between them was free.
    ///
    /// Then all leaves below a higher node need new labels.
    @usableFromInline var isCramped = false

    @inlinable
    init() {}
}

extension TreeNode {
    /// Inserts a value under a new key.
    ///
    /// - Parameters:
    ///   - key: The key, which is new to the tree.
    ///   - value: The value.
    ///   - offset: The value's offset in this node; an offset equal to the node's count appends it.
    ///   - label: The label of this node's first leaf.
    ///   - bound: The label of the first leaf after this node.
    ///   - moves: Collects the keys that move to other leaves; the caller stores their new labels.
    /// - Returns: The new next sibling, with the last part of this node, if this node was full; nil otherwise.
    @inlinable
    mutating func insert(
        _ key: Key,
        _ value: Value,
        at offset: Int,
        from label: UInt64,
        below bound: UInt64,
        _ moves: inout TreeMoves<Key>
    ) -> TreeNode? {
        guard !isLeaf else {
            moves.label = label
            return insertIntoLeaf(key, value, at: offset)
        }
        let (index, start) = child(at: offset)
        let childLabel = children[index].label
        let childBound = index + 1 < children.count ? children[index + 1].label : bound
        let sibling = children[index].node
            .insert(key, value, at: offset - start, from: childLabel, below: childBound, &moves)
        children[index].count += 1
        if let sibling {
            children[index].count -= sibling.count
            var label = sibling.children.first?.label ?? childLabel
            if sibling.isLeaf {
                label += Swift.min((childBound - childLabel) / 2, TreeSize.labelStep)
                moves.moved.append((sibling.keys, label))
                moves.isCramped = label == childLabel
            }
            children.insert(TreeChild(sibling, label: label), at: index + 1)
        }
        if moves.isCramped { relabel(from: label, below: bound, &moves) }
        guard children.count > TreeSize.childrenMax else { return nil }
        // If the new child is the last, this node stays full, because further appends go to its sibling.
        return splitChildren(at: index + 2 == children.count ? index + 1 : children.count / 2)
    }

    @inlinable
    mutating func insertIntoLeaf(_ key: Key, _ value: Value, at offset: Int) -> TreeNode? {
        keys.insert(key, at: offset)
        values.insert(value, at: offset)
        guard values.count > TreeSize.leafMax else { return nil }
        let middle = offset + 1 == values.count ? offset : values.count / 2
        let count = values.count - middle
        let sibling = TreeNode(
            keys: OrderedSet(uncheckedUniqueElements: keys[middle...]),
            values: ContiguousArray(values[middle...])
        )
        keys.removeLast(count)
        values.removeLast(count)
        return sibling
    }

    @inlinable
    mutating func splitChildren(at middle: Int) -> TreeNode {
        let sibling = TreeNode(children: ContiguousArray(children[middle...]))
        children.removeSubrange(middle...)
        return sibling
    }

    /// Removes the value at an offset.
    ///
    /// A node that becomes small is joined with a small neighbour.
    @inlinable
    mutating func remove(at offset: Int, _ moves: inout TreeMoves<Key>) -> (key: Key, value: Value) {
        guard !isLeaf else { return (keys.remove(at: offset), values.remove(at: offset)) }
        let (index, start) = child(at: offset)
        let removed = children[index].node.remove(at: offset - start, &moves)
        children[index].count -= 1
        if children[index].count == 0 {
            children.remove(at: index)
        } else {
            children[index].label = children[index].node.children.first?.label ?? children[index].label
            if !join(at: index - 1, &moves) { join(at: index, &moves) }
        }
        return removed
    }

    /// Moves the content of the next child into the child at `index`, if both together fill at most half a node.
    @inlinable
    @discardableResult
    mutating func join(at index: Int, _ moves: inout TreeMoves<Key>) -> Bool {
        guard index >= 0, index + 1 < children.count else { return false }
        let isLeaf = children[index].node.isLeaf
        let width = children[index].node.width + children[index + 1].node.width
        guard width <= (isLeaf ? TreeSize.leafMax : TreeSize.childrenMax) / 2 else { return false }
        let right = children.remove(at: index + 1)
        children[index].count += right.count
        if isLeaf { moves.moved.append((right.node.keys, children[index].label)) }
        children[index].node.keys.append(contentsOf: right.node.keys)
        children[index].node.values += right.node.values
        children[index].node.children += right.node.children
        return true
    }

    /// Spreads the labels of the leaves below this node evenly, if the distances stay large enough.
    @inlinable
    mutating func relabel(from label: UInt64, below bound: UInt64, _ moves: inout TreeMoves<Key>) {
        let step = (bound - label) / UInt64(leafCount + 1)
        guard step >= TreeSize.labelStepMin(height: height) else { return }
        var next = label
        relabel(next: &next, step: step, &moves)
        moves.isCramped = false
    }

    @inlinable
    mutating func relabel(next: inout UInt64, step: UInt64, _ moves: inout TreeMoves<Key>) {
        for index in children.indices {
            let first = next
            if children[index].node.isLeaf {
                moves.moved.append((children[index].node.keys, next))
                next += step
            } else {
                children[index].node.relabel(next: &next, step: step, &moves)
            }
            children[index].label = first
        }
    }
}
