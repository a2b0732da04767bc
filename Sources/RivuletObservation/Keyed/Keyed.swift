public import OrderedCollections

/// An ordered collection of elements with ids, tracked element by element.
///
/// In JSON it is an array in its own order. In key paths an element is addressed by its id, `/p/todos/a/title`, and a change of one
/// field of one element is recorded as just that; elements that come, go and move are recorded as `add`, `remove` and `move`.
///
/// A value like Array: copies are independent. Reading and in-place editing by id are O(1), so are appending and removing the last
/// element, amortised; inserting, removing and moving elsewhere are O(n). Copies share their elements, and an edit of a shared
/// collection is kept beside them, so that it costs what it touches and not what the collection holds.
///
/// An element's `id` must be part of its JSON, under the key `id`, for clients to find it.
public struct Keyed<Element: StateNode & Identifiable> where Element.ID: KeyedID {
    @usableFromInline var base: KeyedBase<Element>
    @usableFromInline var overlay = KeyedOverlay<Element>()
    /// The place in the run that edits it; no part of the value.
    @usableFromInline var place = KeyedPlace()
    /// Where it is observed, no part of the value; nil: nobody can be watching.
    @usableFromInline var observed: ObservedPlace?

    /// The most elements that an overlay holds while its base is shared, unless the square root of the count is more.
    @usableFromInline static var overlayElementsMax: Int { 256 }

    /// Creates an empty collection.
    @inlinable
    public init() {
        base = KeyedBase(KeyedList())
    }

    /// Creates a collection of elements in their order; a later one takes the place of an earlier one with its id.
    @inlinable
    public init(_ elements: some Sequence<Element>) {
        base = KeyedBase(KeyedList(elements))
    }

    @inlinable
    init(_ list: KeyedList<Element>) {
        base = KeyedBase(list)
    }

    /// The ids in the order of their elements.
    ///
    /// O(n) for a shared collection whose end has been changed, else O(1).
    @inlinable public var ids: [Element.ID] {
        observed?.accessOrder()
        guard !overlay.keepsOrder else {
            return base.list.ids.elements
        }
        return base.list.ids.elements.prefix(kept) + overlay.tail.ids.elements
    }

    /// Whether there is an element with this id.
    @inlinable
    public func contains(id: Element.ID) -> Bool {
        if let observed { observed.child(.element(id.keyPathToken)).accessPresence() }
        return position(of: id) != nil
    }

    /// The position of the element with this id, from 0; nil when there is none.
    @inlinable
    public func index(id: Element.ID) -> Int? {
        observed?.accessOrder()
        return position(of: id)
    }

    @inlinable
    func position(of id: Element.ID) -> Int? {
        let position = base.list.ids.firstIndex(of: id)
        if let position, position < kept { return position }
        guard overlay.tail.count > 0 else { return nil }
        return overlay.tail.ids.firstIndex(of: id).map { $0 + kept }
    }

    /// How many elements of the base are still there: the first ones.
    @inlinable var kept: Int { base.list.count - overlay.cut }

    /// The id at a valid position.
    @inlinable
    func id(at position: Int) -> Element.ID {
        position < kept ? base.list.ids[position] : overlay.tail.ids[position - kept]
    }

    /// The stamp of the element at a valid position.
    @inlinable
    func stamp(at position: Int) -> UInt64 {
        guard position < kept else { return overlay.tail.slots.span[position - kept].stamp }
        let (index, isEdited) = overlay.edits.index(of: position)
        return isEdited ? overlay.edits.list.span[index].slot.stamp : base.list.slots.span[position].stamp
    }

    /// The element at a valid position.
    @inlinable
    func element(at position: Int) -> Element {
        guard position < kept else { return overlay.tail.slots.span[position - kept].value }
        let (index, isEdited) = overlay.edits.index(of: position)
        return isEdited ? overlay.edits.list.span[index].slot.value : base.list.slots.span[position].value
    }

    /// The slot at a valid position.
    @inlinable
    func slot(at position: Int) -> KeyedSlot<Element> {
        guard position < kept else { return overlay.tail.slots.span[position - kept] }
        let (index, isEdited) = overlay.edits.index(of: position)
        return isEdited ? overlay.edits.list.span[index].slot : base.list.slots.span[position]
    }
}

extension Keyed: RandomAccessCollection {
    /// Always 0.
    @inlinable public var startIndex: Int { 0 }

    /// The number of elements.
    @inlinable public var endIndex: Int {
        observed?.accessOrder()
        return length
    }

    /// The number of elements, for this type's own use: nobody is noted as a reader.
    @inlinable var length: Int {
        kept + overlay.tail.count
    }

    /// The element at a position, which must be valid; see ``index(id:)``.
    @inlinable
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < length, "position \(position) is not in 0..<\(length)")
        guard observed == nil else { return observedElement(at: position) }
        return element(at: position)
    }
}

extension Keyed: ExpressibleByArrayLiteral {
    /// Creates a collection of elements in their order; a later one takes the place of an earlier one with its id.
    @inlinable
    public init(arrayLiteral elements: Element...) {
        self.init(elements)
    }
}

extension Keyed: Sendable where Element: Sendable {}

extension Keyed: Equatable where Element: Equatable {
    /// Whether both hold equal elements in the same order.
    public static func == (first: Keyed, second: Keyed) -> Bool {
        first.elementsEqual(second)
    }
}

extension Keyed: Hashable where Element: Hashable {
    /// Hashes the elements in their order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for element in self { hasher.combine(element) }
    }
}

extension Keyed: CustomStringConvertible {
    /// The elements, as an array shows them.
    public var description: String { Array(self).description }
}
