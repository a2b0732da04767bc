public import OrderedCollections
public import RivuletBase
import Synchronization

/// An element with the stamp of its last write.
@usableFromInline
struct KeyedSlot<Element> {
    /// The element; nil only after an edit has set it to nil, until the end of the edit removes the slot.
    @usableFromInline var element: Element?
    /// The number of the last write, unique in the process; two slots with the same stamp hold the same value.
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
    /// Returns a stamp that no slot has, larger than all earlier ones.
    @usableFromInline
    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Returns the first of `count` new consecutive stamps.
    @usableFromInline
    static func next(_ count: Int) -> UInt64 {
        last.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue + 1
    }
}

private let last = Atomic<UInt64>(0)

/// Elements in their order, each under its id, in two arrays of the same count.
@usableFromInline
struct KeyedList<Element: StateNode & Identifiable> where Element.ID: KeyedID {
    @usableFromInline var keys: OrderedSet<KeyedKey<Element.ID>> = []
    @usableFromInline var slots: ContiguousArray<KeyedSlot<Element>> = []

    @inlinable
    init() {}

    /// Takes elements in order; a later element replaces an earlier element with the same id.
    @inlinable
    init(_ elements: some Sequence<Element>) {
        keys.reserveCapacity(elements.underestimatedCount)
        slots.reserveCapacity(elements.underestimatedCount)
        for element in elements {
            let (inserted, index) = keys.append(KeyedKey(element.id))
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
        keys = OrderedSet(uncheckedUniqueElements: slots.lazy.map { KeyedKey($0.value.id) })
        self.slots = slots
    }

    @inlinable var count: Int { slots.count }

    /// The same elements as a tree.
    @inlinable var tree: Keyed<Element>.Tree { KeyedTree(keys: keys, values: slots) }

    @inlinable
    mutating func append(_ slot: KeyedSlot<Element>, id: Element.ID) {
        keys.append(KeyedKey(id))
        slots.append(slot)
    }

    @inlinable
    mutating func removeLast() {
        keys.removeLast()
        slots.removeLast()
    }
}

extension KeyedSlot: Sendable where Element: Sendable {}
extension KeyedList: Sendable where Element: Sendable {}
