// This file owns how the notes of a run become coercions with a path: each is looked for where the walk comes by.

import RivuletJSON

extension ChangeCollector {
    /// Looks for coercions inside of a value that has been compared as a whole, with the answer to whether it differed.
    @usableFromInline
    mutating func collectCoercions(isNew: Bool, _ body: (inout ChangeCollector) -> Void) {
        guard let search else { return }
        let outer = (purpose, search.isNewValue)
        (purpose, search.isNewValue) = (.coercions, isNew)
        body(&self)
        (purpose, search.isNewValue) = outer
    }

    /// How many changes are reported, for a run with notes: other runs need not know.
    @inlinable var notedChanges: Int { search == nil ? 0 : checkpoint.changes }

    /// Reports what a wrapper changed in a field of the current value, whose changes since `start` are reported; `value` writes it.
    @usableFromInline
    mutating func noteCoercion(_ field: Int, _ step: String, since start: Int, _ value: (inout JSONWriter) -> Void) {
        guard let search else { return }
        if let from = search.notes.written[mark.serial]?[field] {
            let to = text(value)
            if to != from { search.add(Coercion(path: path + step, from: from, to: to)) }
        } else if comparesAll, !search.notes.made.isEmpty {
            // Nothing is known of the value, so it may have been made in this run; one whose writes are known was not.
            let container = ObjectIdentifier(search.container)
            let making = CoercionNotes.Making(container: container, index: field, to: text(value))
            guard search.notes.made[making] != nil else { return }
            let isNew = purpose == .coercions ? search.isNewValue : notedChanges > start
            search.add(CoercionSearch.Candidate(making: making, path: path + step, isNew: isNew))
        }
    }

    private func text(_ value: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: 16)
        value(&writer)
        return writer.bytes
    }
}
