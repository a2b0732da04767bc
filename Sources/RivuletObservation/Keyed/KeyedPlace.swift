/// The serial of the place that holds a collection, and the stamps that its elements had when the run began.
///
/// The rule of ``ChangeMark`` is kept for elements: one whose stamp is older than the entry has not been written since, so it is
/// what was there when the run began, and takes the serial of its place at its first edit. That serial is made of the collection's
/// and of the element's stamp at that moment, which names the element and its value in the whole process.
@usableFromInline
struct KeyedPlace: Sendable {
    @usableFromInline var serial: UInt64 = 0
    /// The first stamp that was given after the entry; 0 for a collection that was in no place yet.
    @usableFromInline var firstStamp: UInt64 = 0

    @inlinable
    init() {}

    @usableFromInline
    init(serial: UInt64) {
        self.serial = serial
        firstStamp = KeyedStamp.next()
    }

    /// Gives a slot a new stamp, and tells its element its places, at the beginning of an edit.
    ///
    /// Where it is in the run is for an element that has not been written since the run began.
    @inlinable
    func enter<Element: StateNode & Identifiable>(
        _ slot: inout KeyedSlot<Element>,
        _ observed: ObservedPlace?
    ) where Element.ID: KeyedID {
        if slot.stamp < firstStamp { slot.element?._$enter(Self.serial(of: slot.stamp, in: serial)) }
        slot.stamp = KeyedStamp.next()
        if let observed { slot.element?._$observe(in: observed) }
    }

    /// The serial of the element that had a stamp when the run began, in the collection that has a serial.
    @inlinable
    static func serial(of stamp: UInt64, in serial: UInt64) -> UInt64 {
        ChangeMark.mix(serial &+ stamp &* 0x9E37_79B9_7F4A_7C15)
    }
}
