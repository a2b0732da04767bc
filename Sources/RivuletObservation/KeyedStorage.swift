// Part of Rivulet. See README.md for the architecture.
// This file owns the two heap objects behind a keyed collection: a large base, and a small overlay of what differs from it.

/// The elements that copies of a collection share.
// SAFETY: changed only by a collection that holds the only reference to it.
@usableFromInline
final class KeyedBase<Element: Identifiable>: @unchecked Sendable where Element.ID: KeyedID {
    @usableFromInline var list: KeyedList<Element>

    @inlinable
    init(_ list: KeyedList<Element>) {
        self.list = list
    }
}

/// What a collection has otherwise than its base, while others share the base.
// SAFETY: changed only by a collection that holds the only reference to it.
@usableFromInline
final class KeyedOverlay<Element: Identifiable>: @unchecked Sendable where Element.ID: KeyedID {
    /// Edited elements by their position in the base, all below `kept`.
    @usableFromInline var edits: [Int: KeyedSlot<Element>]
    /// How many of the base's elements are still there: the first ones.
    @usableFromInline var kept: Int
    /// The elements after them.
    @usableFromInline var tail: KeyedList<Element>

    @inlinable
    init(edits: [Int: KeyedSlot<Element>] = [:], kept: Int, tail: KeyedList<Element> = KeyedList()) {
        self.edits = edits
        self.kept = kept
        self.tail = tail
    }

    @inlinable
    func copy() -> KeyedOverlay {
        KeyedOverlay(edits: edits, kept: kept, tail: tail)
    }

    /// How many elements it holds.
    @inlinable var weight: Int { edits.count + tail.count }
}
