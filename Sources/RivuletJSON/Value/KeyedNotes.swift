/// Where keyed collections are in a text, and which elements the way to a value led through.
package struct KeyedNotes: Sendable {
    /// An element on the way to a value.
    package struct Step: Hashable, Sendable {
        /// How many tokens of the path were left, the element's own one included.
        package let remaining: Int
        /// Where the element stands in its collection, from 0.
        package let position: Int
    }

    /// Whether elements are left out of the text: only their ids are asked for.
    let isShallow: Bool
    /// The ids of a collection's elements in their order, by the offset of the text's `[`.
    package fileprivate(set) var ids: [Int: [String]] = [:]
    /// From the outside.
    package fileprivate(set) var steps: [Step] = []
}

extension JSONWriter {
    /// Creates a writer that notes where keyed elements are; a shallow one leaves them out.
    package init(notingKeyed isShallow: Bool, includesTransient: Bool = true) {
        self.init(capacity: 64, includesTransient: includesTransient)
        keyedNotes = KeyedNotes(isShallow: isShallow)
    }

    /// Creates an empty writer that writes as another one does.
    package init(like outer: JSONWriter) {
        self.init(includesTransient: outer.includesTransient)
        keyedNotes = outer.keyedNotes.map { KeyedNotes(isShallow: $0.isShallow) }
    }

    /// Notes the ids of the collection that is written next.
    ///
    /// - Returns: Whether its elements are to be written, too.
    package mutating func noteKeyed(_ ids: () -> [String]) -> Bool {
        guard keyedNotes != nil else { return true }
        let offset = nextOffset
        keyedNotes?.ids[offset] = ids()
        return keyedNotes?.isShallow == false
    }

    /// Notes that the way to a value leads through an element at a position.
    package mutating func noteElement(at position: Int, remaining: Int) {
        keyedNotes?.steps.append(KeyedNotes.Step(remaining: remaining, position: position))
    }

    /// Copies the value that another writer has written, and what it has noted.
    package mutating func raw(_ inner: JSONWriter) {
        let start = nextOffset
        raw(inner.bytes)
        guard let notes = inner.keyedNotes else { return }
        note(notes.ids, at: start)
        keyedNotes?.steps += notes.steps
    }

    /// Takes over notes of a text that begins at an offset of this one.
    mutating func note(_ ids: [Int: [String]], at start: Int) {
        guard keyedNotes != nil else { return }
        for (offset, ids) in ids { keyedNotes?.ids[start + offset] = ids }
    }
}
