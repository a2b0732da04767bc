/// The values that wrappers changed during a run.
///
/// A record is for a *written* or for a *made* value. A written value is found by the serial of the value that holds
/// the field. A made value comes from an initialiser, which cannot reach the registrar. Its record has the type that
/// holds the field, and the field's value after the wrapper.
@usableFromInline
package struct CoercionRecords: Sendable {
    /// A field in a value of the type `container`, with the value that a wrapper gave the field.
    struct Making: Hashable, Sendable {
        let container: ObjectIdentifier
        let index: Int
        /// JSON text.
        let to: [UInt8]
    }

    /// The maximum number of records of a run.
    ///
    /// Later records are dropped. A dispatch that asks for strictness is therefore judged by the first ones.
    package static let recordsMax = 10_000

    /// The written values, JSON text, by the serial of the value that holds the field and by the field; the last write
    /// counts.
    private(set) var written: [UInt64: [Int: [UInt8]]] = [:]
    /// The values that initialisers were given, JSON text, oldest first.
    private(set) var made: [Making: [[UInt8]]] = [:]
    private var count = 0

    /// Records the value written to a field.
    mutating func record(serial: UInt64, field: Int, from: [UInt8]) {
        if written[serial]?[field] == nil {
            guard count < Self.recordsMax else { return }
            count += 1
        }
        written[serial, default: [:]][field] = from
    }

    /// Removes the record of a field, because its wrapper left a later write unchanged.
    mutating func forget(serial: UInt64, field: Int) {
        if written[serial]?.removeValue(forKey: field) != nil { count -= 1 }
    }

    /// Copies the records of a value to a copy of the value that is about to be written.
    mutating func copy(from serial: UInt64, to other: UInt64) {
        for (field, from) in written[serial] ?? [:] { record(serial: other, field: field, from: from) }
    }

    /// Records the value that an initialiser was given.
    mutating func record(_ making: Making, from: [UInt8]) {
        guard count < Self.recordsMax else { return }
        count += 1
        made[making, default: []].append(from)
    }
}
