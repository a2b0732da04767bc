/// The keys of a collection, as one read transaction saw them.
struct StoredKeys: Sendable {
    /// The collection's number.
    let number: Int64
    /// The place of each key's document.
    let rowIDs: KeyTable
    /// The place of the next new document, after all existing documents.
    let nextRowID: Int64
    /// False if a row has a damaged key, which is then missing here.
    let areIdentified: Bool

    /// Gathers the keys of a collection during a read.
    ///
    /// The keys are in an array first, because a table is made in a third of the time if its final size is known.
    struct Gathering {
        private let number: Int64
        private let hashMask: UInt64
        private var entries: [(hash: UInt64, rowID: Int64)] = []
        private var nextRowID: Int64
        private var areIdentified = true

        /// Begins without keys.
        init(number: Int64, hashMask: UInt64) {
            self.number = number
            self.hashMask = hashMask
            nextRowID = ItemRow.rowIDs(of: number).lowerBound
        }

        /// The keys that were added.
        var keys: StoredKeys {
            StoredKeys(
                number: number,
                rowIDs: KeyTable(entries),
                nextRowID: nextRowID,
                areIdentified: areIdentified
            )
        }

        /// Adds the key of a row; the rows must come in the order of their places.
        ///
        /// A row with a damaged key is not added; only `removeAll` removes it.
        @unsafe
        mutating func add(_ key: UnsafeRawBufferPointer, at rowID: Int64, isIdentified: Bool) {
            nextRowID = rowID + 1
            if isIdentified {
                entries.append((unsafe KeyTable.hash(of: key) & hashMask, rowID))
            } else {
                areIdentified = false
            }
        }
    }
}
