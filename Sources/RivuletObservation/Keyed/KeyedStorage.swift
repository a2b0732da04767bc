public import RivuletBase

/// The elements that copies of a collection share.
@usableFromInline
final class KeyedBase<Element: StateNode & Identifiable> where Element.ID: KeyedID {
    // SAFETY: Only a collection reads and edits the tree, and only during an access to the collection itself, which is
    // checked.
    @exclusivity(unchecked) @usableFromInline var unchecked: Keyed<Element>.Tree

    /// The elements; not checked for overlapping accesses.
    @inlinable var tree: Keyed<Element>.Tree {
        @inline(__always) _read { yield unsafe unchecked }
        @inline(__always) _modify { yield unsafe &unchecked }
    }

    @inlinable
    init(_ tree: Keyed<Element>.Tree) {
        unsafe unchecked = tree
    }
}

/// The differences of a collection from its base, while other collections share the base.
@usableFromInline
struct KeyedOverlay<Element: StateNode & Identifiable> where Element.ID: KeyedID {
    /// Edited elements of the base; none of them is one of the removed elements.
    @usableFromInline var edits = KeyedEdits<Element>()
    /// The number of the base's last elements that are removed.
    @usableFromInline var cut = 0
    /// The elements that follow the base's elements.
    @usableFromInline var tail = KeyedList<Element>()

    @inlinable
    init() {}

    /// True if the collection has exactly the base's elements in the base's order, possibly edited.
    @inlinable var keepsOrder: Bool { cut == 0 && tail.count == 0 }

    /// True if there are no differences from the base.
    @inlinable var isEmpty: Bool { edits.count == 0 && keepsOrder }

    /// The number of elements in the overlay.
    @inlinable var weight: Int { edits.count + tail.count }
}

// SAFETY: A base is changed only by a collection that holds the only reference to it.
extension KeyedBase: @unchecked Sendable where Element: Sendable {}
extension KeyedOverlay: Sendable where Element: Sendable {}
