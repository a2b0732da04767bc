// This file owns the search for coercions: it turns a run's coercion records into coercions with a path, while the
// collector walks over the state.

import RivuletJSON

extension Generated.ChangeCollector {
    /// Looks for coercions inside of a value that was compared as a whole.
    ///
    /// `isNew` is true if the value differed from its earlier value.
    @usableFromInline
    mutating func collectCoercions(isNew: Bool, _ body: (inout Generated.ChangeCollector) -> Void) {
        guard let search else { return }
        let outer = (purpose, search.isNewValue)
        (purpose, search.isNewValue) = (.coercions, isNew)
        body(&self)
        (purpose, search.isNewValue) = outer
    }

    /// The number of changes that were reported so far; always 0 in a run without coercion records.
    @inlinable var recordedChanges: Int { search == nil ? 0 : checkpoint.changes }

    /// Reports a coercion of a field of the current value.
    ///
    /// `start` is the number of changes that were reported before the field. `value` writes the field's value.
    @usableFromInline
    mutating func recordCoercion(_ field: Int, _ step: String, since start: Int, _ value: (inout JSONWriter) -> Void) {
        guard let search else { return }
        if let from = search.records.written[mark.serial]?[field] {
            let to = text(value)
            if to != from { search.add(Coercion(path: path + step, from: from, to: to)) }
        } else if comparesAll, !search.records.made.isEmpty {
            // All fields are compared because the writes to the value are unknown. So the value may have been made in
            // this run. A value with recorded writes existed before the run.
            let container = ObjectIdentifier(search.container)
            let making = CoercionRecords.Making(container: container, index: field, to: text(value))
            guard search.records.made[making] != nil else { return }
            let isNew = purpose == .coercions ? search.isNewValue : recordedChanges > start
            search.add(CoercionSearch.Candidate(making: making, path: path + step, isNew: isNew))
        }
    }

    private func text(_ value: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: 16)
        value(&writer)
        return writer.bytes
    }
}
