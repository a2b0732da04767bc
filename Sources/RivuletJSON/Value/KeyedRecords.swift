/// The positions of keyed collections in a text, and the elements on the path to a value.
package struct KeyedRecords: Sendable {
    /// An element on the path to a value.
    package struct Step: Hashable, Sendable {
        /// The number of the path's tokens from the element's own token to the end of the path.
        package let remaining: Int
        /// The position of the element in its collection, from 0.
        package let position: Int
    }

    /// True if the text leaves out elements, because only their ids are needed.
    let isShallow: Bool
    /// The ids of a collection's elements in order, by the offset of the `[` in the text.
    package fileprivate(set) var ids: [Int: [String]] = [:]
    /// The elements on the path, outermost first.
    package fileprivate(set) var steps: [Step] = []
}

extension JSONWriter {
    /// Creates a writer that records the positions of keyed elements.
    ///
    /// A shallow writer leaves the elements out.
    package init(notingKeyed isShallow: Bool, includesTransient: Bool = true) {
        self.init(capacity: 64, includesTransient: includesTransient)
        keyedRecords = KeyedRecords(isShallow: isShallow)
    }

    /// Creates an empty writer with the settings of another writer.
    package init(like outer: JSONWriter) {
        self.init(includesTransient: outer.includesTransient)
        keyedRecords = outer.keyedRecords.map { KeyedRecords(isShallow: $0.isShallow) }
    }

    /// Records the ids of the collection that is written next.
    ///
    /// - Returns: True if the elements must be written, too.
    package mutating func recordKeyed(_ ids: () -> [String]) -> Bool {
        guard keyedRecords != nil else { return true }
        let offset = nextOffset
        keyedRecords?.ids[offset] = ids()
        return keyedRecords?.isShallow == false
    }

    /// Records that the path to a value leads through an element at a position.
    package mutating func recordElement(at position: Int, remaining: Int) {
        keyedRecords?.steps.append(KeyedRecords.Step(remaining: remaining, position: position))
    }

    /// Copies the value that another writer has written, and that writer's records.
    package mutating func raw(_ inner: JSONWriter) {
        let start = nextOffset
        raw(inner.bytes)
        guard let records = inner.keyedRecords else { return }
        record(records.ids, at: start)
        keyedRecords?.steps += records.steps
    }

    /// Adds the records of a text that begins at an offset in this writer's text.
    mutating func record(_ ids: [Int: [String]], at start: Int) {
        guard keyedRecords != nil else { return }
        for (offset, ids) in ids { keyedRecords?.ids[start + offset] = ids }
    }
}
