public import OrderedCollections
import Synchronization

/// An element with the stamp of its last write.
@usableFromInline
struct KeyedSlot<Element> {
    /// The element; nil only for one that an edit set to nil, until the edit ends and removes it.
    @usableFromInline var element: Element?
    /// Names one write in the process: two slots of one stamp hold the same value.
    @usableFromInline var stamp: UInt64

    @inlinable
    init(_ element: Element?, stamp: UInt64) {
        self.element = element
        self.stamp = stamp
    }

    /// The element.
    @inlinable var value: Element {
        guard let element else { preconditionFailure("an element of a Keyed was read while an edit removed it") }
        return element
    }
}

/// The source of stamps.
@usableFromInline
enum KeyedStamp {
    /// A stamp that no slot has, larger than all before.
    @usableFromInline
    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// The first of `count` new stamps that follow each other.
    @usableFromInline
    static func next(_ count: Int) -> UInt64 {
        last.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue + 1
    }
}

private let last = Atomic<UInt64>(0)

/// Elements in their order, each under its id; the two arrays always have the same count.
@usableFromInline
struct KeyedList<Element: Identifiable> where Element.ID: KeyedID {
    @usableFromInline var ids: OrderedSet<Element.ID>
    @usableFromInline var slots: ContiguousArray<KeyedSlot<Element>>

    @inlinable
    init() {
        ids = []
        slots = []
    }

    /// Takes elements in order; a later one takes the place of an earlier one with its id.
    @inlinable
    init(_ elements: some Sequence<Element>) {
        self.init()
        ids.reserveCapacity(elements.underestimatedCount)
        slots.reserveCapacity(elements.underestimatedCount)
        for element in elements {
            let (inserted, index) = ids.append(element.id)
            if inserted {
                slots.append(KeyedSlot(element, stamp: 0))
            } else {
                slots[index].element = element
            }
        }
        let first = KeyedStamp.next(slots.count)
        for index in slots.indices { slots[index].stamp = first + UInt64(index) }
    }

    /// Takes slots as they are; their ids must differ.
    @inlinable
    init(slots: ContiguousArray<KeyedSlot<Element>>) {
        ids = OrderedSet(uncheckedUniqueElements: slots.lazy.map(\.value.id))
        self.slots = slots
    }

    @inlinable var count: Int { slots.count }

    @inlinable
    mutating func append(_ slot: KeyedSlot<Element>, id: Element.ID) {
        ids.append(id)
        slots.append(slot)
    }

    @inlinable
    mutating func insert(_ slot: KeyedSlot<Element>, id: Element.ID, at position: Int) {
        ids.insert(id, at: position)
        slots.insert(slot, at: position)
    }

    @inlinable
    @discardableResult
    mutating func remove(at position: Int) -> KeyedSlot<Element> {
        ids.remove(at: position)
        return slots.remove(at: position)
    }

    @inlinable
    mutating func removeLast(_ count: Int) {
        guard count > 0 else { return }
        ids.removeLast(count)
        slots.removeLast(count)
    }

    /// Puts the element at a position under another id; an element that had this id goes away.
    @inlinable
    mutating func rename(at position: Int, to id: Element.ID) {
        ids.remove(at: position)
        if let other = ids.firstIndex(of: id) {
            // `ids` lacks the renamed element just now, `slots` does not.
            ids.remove(at: other)
            slots.remove(at: other < position ? other : other + 1)
            ids.insert(id, at: other < position ? position - 1 : position)
        } else {
            ids.insert(id, at: position)
        }
    }
}

extension KeyedSlot: Sendable where Element: Sendable {}
extension KeyedList: Sendable where Element: Sendable {}
