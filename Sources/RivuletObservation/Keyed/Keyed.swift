public import OrderedCollections
public import RivuletBase

/// An ordered collection of elements with ids, tracked element by element.
///
/// In JSON it is an array in its own order. In key paths an element is addressed by its id: `/p/todos/a/title`. An
/// edit of one field of an element is recorded as a change of that field. Elements that are added, removed or moved are
/// recorded as `add`, `remove` and `move`.
///
/// It is a value type like `Array`: copies are independent, but share the memory of unchanged elements. Reading,
/// editing, inserting, removing or moving one element costs O(log n), amortised, also while copies are held. A
/// collection of up to 1,024 elements is stored as one array. Two ids are the same if their key path tokens have the
/// same bytes.
///
/// An element's `id` must be part of its JSON, under the key `id`, so that clients can find the element.
public struct Keyed<Element: StateNode & Identifiable> where Element.ID: KeyedID {
    @usableFromInline typealias Key = KeyedKey<Element.ID>
    @usableFromInline typealias Tree = KeyedTree<Key, KeyedSlot<Element>>

    @usableFromInline var base: KeyedBase<Element>
    @usableFromInline var overlay = KeyedOverlay<Element>()
    /// The location of the collection in the present run; it is not part of the value.
    @usableFromInline var stamps = KeyedStamps()
    /// The node at which the collection is observed; nil if the collection can have no observers.
    ///
    /// The node is not part of the value.
    @usableFromInline var observed: Generated.ObservedNode?

    /// The number of elements above which an overlay may be moved into a copy of the shared base.
    ///
    /// The overlay must also have more elements than the square root of the collection's count.
    @usableFromInline static var overlayElementsMax: Int { 256 }

    /// Creates an empty collection.
    @inlinable
    public init() {
        base = KeyedBase(Tree())
    }

    /// Creates a collection of elements in their order; a later element replaces an earlier element with the same id.
    @inlinable
    public init(_ elements: some Sequence<Element>) {
        base = KeyedBase(KeyedList(elements).tree)
    }

    @inlinable
    init(_ list: KeyedList<Element>) {
        base = KeyedBase(list.tree)
    }

    /// The ids in the order of their elements, in O(n).
    @inlinable public var ids: [Element.ID] {
        observed?.accessOrder()
        return base.tree.prefix(kept).map(\.key.id) + overlay.tail.keys.map(\.id)
    }

    /// Returns true if there is an element with this id.
    @inlinable
    public func contains(id: Element.ID) -> Bool {
        if let observed { observed.child(.element(id.keyPathToken)).accessPresence() }
        return position(of: id) != nil
    }

    /// The position of the element with this id, from 0; nil if there is none.
    @inlinable
    public func index(id: Element.ID) -> Int? {
        observed?.accessOrder()
        return position(of: id)
    }

    @inlinable
    func position(of id: Element.ID) -> Int? {
        let position = base.tree.position(of: Key(id))
        if let position, position < kept { return position }
        guard overlay.tail.count > 0 else { return nil }
        return overlay.tail.keys.firstIndex(of: Key(id)).map { $0 + kept }
    }

    /// The number of the base's elements that remain; these are its first elements.
    @inlinable var kept: Int { base.tree.count - overlay.cut }

    /// The id at a valid position.
    @inlinable
    func id(at position: Int) -> Element.ID {
        key(at: position).id
    }

    /// The key at a valid position.
    @inlinable
    func key(at position: Int) -> Key {
        position < kept ? base.tree.key(at: position) : overlay.tail.keys[position - kept]
    }

    /// The stamp of the element at a valid position.
    @inlinable
    func stamp(at position: Int) -> UInt64 {
        guard position < kept else { return overlay.tail.slots.span[position - kept].stamp }
        let (index, isEdited) = overlay.edits.index(of: position)
        return isEdited ? overlay.edits.list.span[index].slot.stamp : base.tree.read(at: position) { $0.stamp }
    }

    /// The element at a valid position.
    @inlinable
    func element(at position: Int) -> Element {
        guard position < kept else { return overlay.tail.slots.span[position - kept].value }
        let (index, isEdited) = overlay.edits.index(of: position)
        return isEdited ? overlay.edits.list.span[index].slot.value : base.tree.read(at: position) { $0.value }
    }

    /// The slot at a valid position.
    @inlinable
    func slot(at position: Int) -> KeyedSlot<Element> {
        guard position < kept else { return overlay.tail.slots.span[position - kept] }
        let (index, isEdited) = overlay.edits.index(of: position)
        return isEdited ? overlay.edits.list.span[index].slot : base.tree.value(at: position)
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

    /// The number of elements, for this type's own use; records no read.
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

    /// All elements in their order, in O(n).
    @inlinable
    public func makeIterator() -> KeyedIterator<Element> { KeyedIterator(self) }
}

/// Reads the elements of a ``Keyed`` in their order.
public struct KeyedIterator<Element: StateNode & Identifiable>: IteratorProtocol where Element.ID: KeyedID {
    @usableFromInline let elements: Keyed<Element>
    @usableFromInline var position = 0
    /// The iterator of the base; nil if the collection is observed or has an overlay.
    @usableFromInline var slots: TreeIterator<KeyedKey<Element.ID>, KeyedSlot<Element>>?

    @inlinable
    init(_ elements: Keyed<Element>) {
        self.elements = elements
        guard elements.observed == nil, elements.overlay.isEmpty else { return }
        slots = elements.base.tree.makeIterator()
    }

    /// The next element; nil at the end.
    @inlinable
    public mutating func next() -> Element? {
        guard slots == nil else { return slots?.next()?.value.value }
        guard position < elements.endIndex else { return nil }
        defer { position += 1 }
        return elements[position]
    }
}

extension Keyed: ExpressibleByArrayLiteral {
    /// Creates a collection of elements in their order; a later element replaces an earlier element with the same id.
    @inlinable
    public init(arrayLiteral elements: Element...) {
        self.init(elements)
    }
}

extension Keyed: Sendable where Element: Sendable {}
extension KeyedIterator: Sendable where Element: Sendable {}

extension Keyed: Equatable where Element: Equatable {
    /// Returns true if both have equal elements in the same order.
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
