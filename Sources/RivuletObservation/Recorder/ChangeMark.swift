import Synchronization

/// The record of the writes to a value since its run began.
///
/// `serial` names a location in one run of ``ChangeRecorder``. The root has a fresh serial for every run. A nested
/// value gets its serial at its first edit in the run; the serial follows from its parent's serial and its field. The
/// recorder is correct because every accessor keeps one rule. *A value that carries the serial of a location equals the
/// location's value at the beginning of the run, except in the fields in `touched`*. The mark moves with the value, so
/// the rule also holds for copies, wherever they are edited and put back. A value that does not carry the serial of its
/// location is compared as a whole. Such a value is new, or comes from another location or an earlier run.
@usableFromInline
struct ChangeMark: Sendable {
    /// The location; 0 for a value that has none yet.
    @usableFromInline var serial: UInt64
    /// One bit for each field.
    @usableFromInline var touched: UInt64

    /// Makes a mark with the serial of a location, and with no written field.
    ///
    /// The serial is 0 for a value that has no location yet.
    @inlinable
    init(serial: UInt64 = 0) {
        self.serial = serial
        touched = 0
    }

    /// Makes a mark with a serial of its own, for a value that has no location yet.
    ///
    /// The value's coercion records are found by this serial. Every field is marked as written. Otherwise a nested
    /// value would take a serial from this value and lose its own.
    static func ownSerial() -> ChangeMark {
        var mark = ChangeMark(serial: freshSerial() | ownBit)
        mark.touched = .max
        return mark
    }

    /// True if the serial is the value's own, and not a location's.
    var isOwn: Bool { serial & Self.ownBit != 0 }

    /// The bit that no location's serial has.
    private static let ownBit: UInt64 = 1 << 63

    /// The maximum number of fields that a mark can distinguish.
    static let fieldsMax = 64

    /// Returns the serial of the value in a field of this location.
    @inlinable
    func serial(of field: Int) -> UInt64 {
        Self.mix(serial &+ (UInt64(truncatingIfNeeded: field) &+ 1) &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Records that a field was written.
    @inlinable
    mutating func touch(_ field: Int) {
        touched |= Self.bit(field)
    }

    /// Records that a field is about to be edited; returns true for its first write in this run.
    @inlinable
    mutating func begin(_ field: Int) -> Bool {
        guard touched & Self.bit(field) == 0 else { return false }
        touch(field)
        return true
    }

    /// Returns true if a field may differ from its value at the beginning of the run.
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

    /// Spreads a number over 63 bits; the highest bit is for serials that belong to no location.
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
