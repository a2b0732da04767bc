/// What wrappers changed while a run was open.
///
/// A note is of a *written* value, which is found by the serial of what holds the field, or of a *made* one: an initialiser cannot
/// reach the registrar, so such a note has the type that holds the field, and what the field was then.
@usableFromInline
package struct CoercionNotes: Sendable {
    /// A field that a wrapper left with this value, in some value of this type.
    struct Making: Hashable, Sendable {
        let container: ObjectIdentifier
        let index: Int
        /// JSON text.
        let to: [UInt8]
    }

    /// How many notes a run keeps; later ones are dropped, so that a dispatch that asks for strictness is judged by the first ones.
    package static let notesMax = 10_000

    /// What was written, JSON text, by the serial of what holds the field and by the field; the last write counts.
    private(set) var written: [UInt64: [Int: [UInt8]]] = [:]
    /// What initialisers were given, JSON text, oldest first.
    private(set) var made: [Making: [[UInt8]]] = [:]
    private var count = 0

    /// Notes what was written to a field.
    mutating func note(serial: UInt64, field: Int, from: [UInt8]) {
        if written[serial]?[field] == nil {
            guard count < Self.notesMax else { return }
            count += 1
        }
        written[serial, default: [:]][field] = from
    }

    /// Takes back the note of a field, because a later write was taken as it was.
    mutating func forget(serial: UInt64, field: Int) {
        if written[serial]?.removeValue(forKey: field) != nil { count -= 1 }
    }

    /// Gives the notes of a value to one that was a copy of it, and is written now.
    mutating func copy(from serial: UInt64, to other: UInt64) {
        for (field, from) in written[serial] ?? [:] { note(serial: other, field: field, from: from) }
    }

    /// Notes what an initialiser was given.
    mutating func note(_ making: Making, from: [UInt8]) {
        guard count < Self.notesMax else { return }
        count += 1
        made[making, default: []].append(from)
    }
}
