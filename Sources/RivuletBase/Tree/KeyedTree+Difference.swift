/// A range of positions in an old tree, and the range in a new tree that takes its place.
///
/// The two ranges share no nodes, and one of them may be empty. `TreeWalk` also uses the type for equal ranges of both
/// trees.
@usableFromInline
package struct TreeGap {
    @usableFromInline package var old: Range<Int>
    @usableFromInline package var new: Range<Int>

    @inlinable
    package init(old: Range<Int>, new: Range<Int>) {
        self.old = old
        self.new = new
    }
}

extension KeyedTree {
    /// Returns the ranges in which this tree differs from an older tree, in the order of their positions.
    ///
    /// The gaps lie between the leaves that both trees share. Outside of the gaps, both trees have the same values. The
    /// work is proportional to the nodes that the trees do not share: O(d log n) for d edits.
    @inlinable
    package func gaps(since old: KeyedTree) -> [TreeGap] {
        var walk = TreeWalk(old.root, root)
        walk.run()
        var gaps: [TreeGap] = []
        var (oldEnd, newEnd) = (0, 0)
        let end = TreeGap(old: old.count..<old.count, new: count..<count)
        for shared in walk.shared.sorted(by: { $0.new.lowerBound < $1.new.lowerBound }) + [end] {
            let gap = TreeGap(old: oldEnd..<shared.old.lowerBound, new: newEnd..<shared.new.lowerBound)
            if !gap.old.isEmpty || !gap.new.isEmpty { gaps.append(gap) }
            (oldEnd, newEnd) = (shared.old.upperBound, shared.new.upperBound)
        }
        return gaps
    }
}

/// Finds the nodes that two trees share, level by level.
///
/// Edits keep the order of the labels, so one merge of both trees' labels finds the shared nodes of a level. A shared
/// node with a new label is not found; it becomes a part of a gap.
@usableFromInline
struct TreeWalk<Key: Hashable, Value> {
    /// A node with its label and the position of its first value.
    @usableFromInline typealias Location = (node: TreeNode<Key, Value>, label: UInt64, start: Int)

    @usableFromInline var olds: [Location]
    @usableFromInline var news: [Location]
    /// The ranges of the shared nodes in both trees.
    @usableFromInline var shared: [TreeGap] = []

    @inlinable
    init(_ old: TreeNode<Key, Value>, _ new: TreeNode<Key, Value>) {
        olds = [(old, old.children.first?.label ?? 0, 0)]
        news = [(new, new.children.first?.label ?? 0, 0)]
    }

    @inlinable
    mutating func run() {
        var (oldHeight, newHeight) = (olds[0].node.height, news[0].node.height)
        while !olds.isEmpty, !news.isEmpty {
            if oldHeight == newHeight { dropShared() }
            guard oldHeight > 0 || newHeight > 0 else { return }
            let (isOldLowered, isNewLowered) = (oldHeight >= newHeight, newHeight >= oldHeight)
            if isOldLowered { (olds, oldHeight) = (Self.children(of: olds), oldHeight - 1) }
            if isNewLowered { (news, newHeight) = (Self.children(of: news), newHeight - 1) }
        }
    }

    @inlinable
    static func children(of locations: [Location]) -> [Location] {
        var lower: [Location] = []
        for location in locations {
            var start = location.start
            for child in location.node.children {
                lower.append((child.node, child.label, start))
                start += child.count
            }
        }
        return lower
    }

    @inlinable
    mutating func dropShared() {
        var (oldRest, newRest): ([Location], [Location]) = ([], [])
        var index = 0
        for new in news {
            while index < olds.count, olds[index].label < new.label {
                oldRest.append(olds[index])
                index += 1
            }
            guard index < olds.count, olds[index].label == new.label, Self.isShared(olds[index].node, new.node) else {
                newRest.append(new)
                continue
            }
            let (start, count) = (olds[index].start, new.node.count)
            shared.append(TreeGap(old: start..<(start + count), new: new.start..<(new.start + count)))
            index += 1
        }
        (olds, news) = (oldRest + olds[index...], newRest)
    }

    @inlinable
    static func isShared(_ old: TreeNode<Key, Value>, _ new: TreeNode<Key, Value>) -> Bool {
        old.values.span.isIdentical(to: new.values.span) && old.children.span.isIdentical(to: new.children.span)
    }
}
