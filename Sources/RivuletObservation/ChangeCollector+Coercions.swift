// Part of Rivulet. See README.md for the architecture.
// This file owns how the notes of a run become coercions with a path: each is looked for where the walk comes by.

import RivuletJSON

/// A field of a value that may be new, with the value that a note of an initialiser has.
@usableFromInline
struct CoercionCandidate {
    let making: CoercionNotes.Making
    let path: String
    /// Whether the value was reported as a change, so that it is more likely to be the new one.
    let isNew: Bool
}

extension ChangeCollector {
    /// Looks for coercions inside of a value that has been compared as a whole, with the answer to whether it differed.
    @usableFromInline
    mutating func collectCoercions(isNew: Bool, _ body: (inout ChangeCollector) -> Void) {
        guard notes != nil else { return }
        let outer = (purpose, isNewValue)
        (purpose, isNewValue) = (.coercions, isNew)
        body(&self)
        (purpose, isNewValue) = outer
    }

    /// How many changes are reported, for a run with notes: other runs need not know.
    @inlinable var notedChanges: Int { notes == nil ? 0 : checkpoint.changes }

    /// Reports what a wrapper changed in a field of the current value, whose changes since `start` are reported; `value` writes it.
    @usableFromInline
    mutating func noteCoercion(_ field: Int, _ step: String, since start: Int, _ value: (inout JSONWriter) -> Void) {
        guard let notes else { return }
        if let from = notes.written[mark.serial]?[field] {
            let to = text(value)
            if to != from { coercions.append(Coercion(path: path + step, from: from, to: to)) }
        } else if comparesAll, !notes.made.isEmpty {
            // Nothing is known of the value, so it may have been made in this run; one whose writes are known was not.
            let making = CoercionNotes.Making(container: ObjectIdentifier(container), index: field, to: text(value))
            guard notes.made[making] != nil else { return }
            let isNew = purpose == .coercions ? isNewValue : notedChanges > start
            candidates.append(CoercionCandidate(making: making, path: path + step, isNew: isNew))
        }
    }

    /// All that was found, with each note of an initialiser given to one candidate: to those that changed before those that did not.
    var allCoercions: [Coercion] {
        guard var made = notes?.made, !candidates.isEmpty else { return coercions }
        for making in made.keys { made[making]?.reverse() }
        var all = coercions
        for candidate in candidates.filter(\.isNew) + candidates.filter({ !$0.isNew }) {
            guard let from = made[candidate.making]?.popLast() else { continue }
            all.append(Coercion(path: candidate.path, from: from, to: candidate.making.to))
        }
        return all
    }

    private func text(_ value: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: 16)
        value(&writer)
        return writer.bytes
    }
}
