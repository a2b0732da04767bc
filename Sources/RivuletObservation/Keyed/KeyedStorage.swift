/// The elements that copies of a collection share.
@usableFromInline
final class KeyedBase<Element: Identifiable> where Element.ID: KeyedID {
    // SAFETY: only a collection reads and edits it, for the time of an access to the collection itself, which is checked.
    @exclusivity(unchecked) @usableFromInline var unchecked: KeyedList<Element>

    /// The elements; not checked for overlapping accesses.
    @inlinable var list: KeyedList<Element> {
        @inline(__always) _read { yield unsafe unchecked }
        @inline(__always) _modify { yield unsafe &unchecked }
    }

    @inlinable
    init(_ list: KeyedList<Element>) {
        unsafe unchecked = list
    }
}

/// What a collection has otherwise than its base, while others share the base.
@usableFromInline
struct KeyedOverlay<Element: Identifiable> where Element.ID: KeyedID {
    /// Edited elements of the base, all among those that are still there.
    @usableFromInline var edits = KeyedEdits<Element>()
    /// How many of the base's last elements are gone.
    @usableFromInline var cut = 0
    /// The elements after those of the base.
    @usableFromInline var tail = KeyedList<Element>()

    @inlinable
    init() {}

    /// Whether the elements are those of the base, edited perhaps, in the same order.
    @inlinable var keepsOrder: Bool { cut == 0 && tail.count == 0 }

    /// Whether there is nothing.
    @inlinable var isEmpty: Bool { edits.count == 0 && keepsOrder }

    /// How many elements it holds.
    @inlinable var weight: Int { edits.count + tail.count }
}

// SAFETY: changed only by a collection that holds the only reference to it.
extension KeyedBase: @unchecked Sendable where Element: Sendable {}
extension KeyedOverlay: Sendable where Element: Sendable {}
