// Part of Rivulet. See README.md for the architecture.
// This file owns the notes of one run: which values were changed by wrappers, so that they are found again in the state.

/// What wrappers changed while a run was open.
///
/// A note is of a *written* value, which is found by the serial of what holds the field, or of a *made* one: an initialiser cannot
/// reach the registrar, so such a note has the type that holds the field, and what the field was then.
@usableFromInline
package struct CoercionNotes: Sendable {
    /// A field of the value that has a serial.
    struct Field: Hashable, Sendable {
        let serial: UInt64
        let index: Int
    }

    /// A field that a wrapper left with this value, in some value of this type.
    struct Making: Hashable, Sendable {
        let container: ObjectIdentifier
        let index: Int
        /// JSON text.
        let to: [UInt8]
    }

    /// How many notes a run keeps; later ones are dropped, for they only inform.
    static let notesMax = 10_000

    /// What was written, JSON text; the last write counts.
    private(set) var written: [Field: [UInt8]] = [:]
    /// What initialisers were given, JSON text, oldest first.
    private(set) var made: [Making: [[UInt8]]] = [:]
    private var madeCount = 0

    private var isFull: Bool { written.count + madeCount >= Self.notesMax }

    /// Notes what was written to a field.
    mutating func note(_ field: Field, from: [UInt8]) {
        guard !isFull || written[field] != nil else { return }
        written[field] = from
    }

    /// Takes back the note of a field, because a later write was taken as it was.
    mutating func forget(_ field: Field) {
        written[field] = nil
    }

    /// Notes what an initialiser was given.
    mutating func note(_ making: Making, from: [UInt8]) {
        guard !isFull else { return }
        madeCount += 1
        made[making, default: []].append(from)
    }
}
