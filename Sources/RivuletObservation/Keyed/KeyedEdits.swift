/// Edited elements by their positions in the base, in ascending order.
///
/// There are few edits, mostly one, and a sorted array needs one allocation and no hashing.
@usableFromInline
struct KeyedEdits<Element> {
    /// An edited element.
    @usableFromInline
    struct Edit {
        @usableFromInline let position: Int
        @usableFromInline var slot: KeyedSlot<Element>

        @inlinable
        init(position: Int, slot: KeyedSlot<Element>) {
            self.position = position
            self.slot = slot
        }
    }

    @usableFromInline var list: ContiguousArray<Edit> = []

    @inlinable
    init() {}

    @inlinable var count: Int { list.count }

    /// Returns the index of a position in ``list``, or the index at which to insert it.
    @inlinable
    func index(of position: Int) -> (index: Int, isThere: Bool) {
        let list = list.span
        var low = 0
        var high = list.count
        while low < high {
            let middle = (low + high) / 2
            if list[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return (low, low < list.count && list[low].position == position)
    }

    /// The edited element at a position; nil if the base has the current element.
    @inlinable
    subscript(position: Int) -> KeyedSlot<Element>? {
        let (index, isThere) = index(of: position)
        return isThere ? list[index].slot : nil
    }

    /// Adds an edit of a position that has none, at its index in ``list``.
    @inlinable
    mutating func insert(_ slot: consuming KeyedSlot<Element>, of position: Int, at index: Int) {
        let edit = Edit(position: position, slot: slot)
        if list.isEmpty {
            list = [edit]
        } else {
            list.insert(edit, at: index)
        }
    }

    /// Removes the edit at a position, if there is one.
    @inlinable
    mutating func remove(at position: Int) {
        let (index, isThere) = index(of: position)
        if isThere { list.remove(at: index) }
    }
}

extension KeyedEdits: Sendable where Element: Sendable {}
extension KeyedEdits.Edit: Sendable where Element: Sendable {}
