/// The keys of a collection in one view of the database.
struct StoredKeys: Sendable {
    /// The collection's number.
    let number: Int64
    /// Where each key's document is.
    let places: KeyTable
    /// Where the next new one goes: behind all that are there.
    let nextPlace: Int64

    /// Keys on their way: a table whose size is known is made in a third of the time.
    struct Gathering {
        private let number: Int64
        private let hashMask: UInt64
        private var entries: [(hash: UInt64, place: Int64)] = []
        private var nextPlace: Int64

        /// The keys of a collection that is empty so far.
        init(number: Int64, hashMask: UInt64) {
            self.number = number
            self.hashMask = hashMask
            nextPlace = ItemRow.places(of: number).lowerBound
        }

        /// The keys that were added.
        var keys: StoredKeys { StoredKeys(number: number, places: KeyTable(entries), nextPlace: nextPlace) }

        /// Adds the key of a row; the rows come in the order of their places.
        ///
        /// A row that does not have the key of once is reached by `removeAll` only.
        @unsafe
        mutating func add(_ key: UnsafeRawBufferPointer, at place: Int64, isIdentified: Bool) {
            nextPlace = place + 1
            if isIdentified { entries.append((unsafe KeyTable.hash(of: key) & hashMask, place)) }
        }
    }
}
