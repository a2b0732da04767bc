/// The location of a collection in a run: its serial, and the first stamp of the run.
///
/// The rule of ``ChangeMark`` also holds for elements. An element with a stamp older than `firstStamp` has not been
/// written since the run began. At its first edit it takes the serial of its location. That serial combines the
/// collection's serial and the element's stamp at that moment. In the whole process, a stamp belongs to one value of
/// one element.
@usableFromInline
struct KeyedStamps: Sendable {
    @usableFromInline var serial: UInt64 = 0
    /// The first stamp after the collection took its serial; 0 for a collection that has no location yet.
    @usableFromInline var firstStamp: UInt64 = 0

    @inlinable
    init() {}

    @usableFromInline
    init(serial: UInt64) {
        self.serial = serial
        firstStamp = KeyedStamp.next()
    }

    /// Begins an edit of a slot: gives the slot a new stamp, and its element a serial and an observed node.
    ///
    /// Only an element that has not been written since the run began gets a serial.
    @inlinable
    func enter<Element: StateNode & Identifiable>(
        _ slot: inout KeyedSlot<Element>,
        _ observed: Generated.ObservedNode?
    ) where Element.ID: KeyedID {
        if slot.stamp < firstStamp { slot.element?._$enter(Self.serial(of: slot.stamp, in: serial)) }
        slot.stamp = KeyedStamp.next()
        if let observed { slot.element?._$observe(in: observed) }
    }

    /// Returns the serial of an element, from its stamp when the run began and its collection's serial.
    @inlinable
    static func serial(of stamp: UInt64, in serial: UInt64) -> UInt64 {
        ChangeMark.mix(serial &+ stamp &* 0x9E37_79B9_7F4A_7C15)
    }
}
