/// The values that wrappers changed during a run.
///
/// A record is for a field that was *written* or *made*. A written field is found by its state's serial, a number that
/// the registrar's ``ChangeMark`` has. A made field got its value from an initialiser, which cannot reach the
/// registrar. The record of a made field has the type of its state, and the field's value after the wrapper.
@usableFromInline
package struct CoercionRecords: Sendable {
    /// A field of a state of the type `container`, with the field's value after the wrapper.
    struct Making: Hashable, Sendable {
        let container: ObjectIdentifier
        let index: Int
        /// JSON text.
        let to: [UInt8]
    }

    /// The maximum number of records of a run.
    ///
    /// Later records are dropped, so a strict dispatch is judged by the first records only.
    package static let recordsMax = 10_000

    /// The last written value of each field, as JSON text.
    ///
    /// The outer key is the serial of the field's state. The inner key is the field's position.
    private(set) var written: [UInt64: [Int: [UInt8]]] = [:]
    /// The values that initialisers were given, as JSON text, oldest first.
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

    /// Copies the records of a state for a copy of this state that is about to be written.
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
