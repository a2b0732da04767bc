// Part of Rivulet. See README.md for the architecture.
// This file owns what a keyed collection knows of the run that edits it, and how its elements learn their places.

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

    /// Takes an element out for an edit, and its slot gets a new stamp.
    ///
    /// An element that has not been written since the run began learns its place first.
    @inlinable
    func take<Element: StateNode>(_ slot: inout KeyedSlot<Element>) -> Element? {
        if slot.stamp < firstStamp { slot.element?._$enter(Self.serial(of: slot.stamp, in: serial)) }
        slot.stamp = KeyedStamp.next()
        return slot.element.take()
    }

    /// The serial of the element that had a stamp when the run began, in the collection that has a serial.
    @inlinable
    static func serial(of stamp: UInt64, in serial: UInt64) -> UInt64 {
        ChangeMark.mix(serial &+ stamp &* 0x9E37_79B9_7F4A_7C15)
    }
}
