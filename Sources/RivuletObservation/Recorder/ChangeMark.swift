import Synchronization

/// What a value knows of the writes to it since its run began.
///
/// `serial` names a place in one run of ``ChangeRecorder``: the root has a fresh one for every run, and a nested value's, which it
/// gets at its first edit in the run, follows from its parent's and its field. What makes the recorder right is one rule, kept by
/// every accessor: *a value that carries the serial of a place is what was there when the run began, but for the fields in
/// `touched`*. The mark moves with the value, so the rule holds for copies too, wherever they are edited and put back; a value in
/// a place whose serial it does not carry (made anew, from another place, from an earlier run) is compared whole.
@usableFromInline
struct ChangeMark: Sendable {
    /// The place; 0 for a value that was in none yet.
    @usableFromInline var serial: UInt64
    /// One bit for each field.
    @usableFromInline var touched: UInt64

    /// Marks a value with the serial of its place, with nothing written yet; 0 for a value that is in no place yet.
    @inlinable
    init(serial: UInt64 = 0) {
        self.serial = serial
        touched = 0
    }

    /// Marks a value that is in no place yet with a serial of its own, by which a note of it can be found.
    ///
    /// Every field counts as written: no nested value is to take a serial from this one, and so lose its own.
    static func ownSerial() -> ChangeMark {
        var mark = ChangeMark(serial: freshSerial() | ownBit)
        mark.touched = .max
        return mark
    }

    /// Whether the serial is the value's own, and not that of a place.
    var isOwn: Bool { serial & Self.ownBit != 0 }

    /// The bit that no place's serial has.
    private static let ownBit: UInt64 = 1 << 63

    /// How many fields a mark can tell apart.
    static let fieldsMax = 64

    /// The serial of the value in a field of this place.
    @inlinable
    func serial(of field: Int) -> UInt64 {
        Self.mix(serial &+ (UInt64(truncatingIfNeeded: field) &+ 1) &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Says that a field was written.
    @inlinable
    mutating func touch(_ field: Int) {
        touched |= Self.bit(field)
    }

    /// Says that a field is about to be edited; true for its first write in this run.
    @inlinable
    mutating func begin(_ field: Int) -> Bool {
        guard touched & Self.bit(field) == 0 else { return false }
        touch(field)
        return true
    }

    /// Whether a field may differ from what it was when the run began.
    @inlinable
    func isTouched(_ field: Int) -> Bool {
        touched & Self.bit(field) != 0
    }

    /// A serial that no other run has had.
    static func freshSerial() -> UInt64 {
        mix(lastSerial.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    @inlinable
    static func bit(_ field: Int) -> UInt64 {
        1 &<< UInt64(truncatingIfNeeded: field)
    }

    /// Spreads a number over 63 bits; the last one is for serials that are no place's.
    ///
    /// Source: <https://doi.org/10.1145/2660193.2660195>, SplitMix64.
    @inlinable
    static func mix(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ (number &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ (mixed &>> 31)) & (.max &>> 1)
    }
}

private let lastSerial = Atomic<UInt64>(0)
