// Part of Rivulet. See README.md for the architecture.
// The keys of a collection as they are read from the database.

/// The keys of a collection in one view of the database.
struct StoredKeys: Sendable {
    /// The collection's number.
    let number: Int64
    /// Where each key's document is.
    private(set) var places = KeyTable()
    /// Where the next new one goes: behind all that are there.
    private(set) var nextPlace: Int64

    private let hashMask: UInt64

    /// The keys of a collection that is empty so far.
    init(number: Int64, hashMask: UInt64) {
        self.number = number
        self.hashMask = hashMask
        nextPlace = ItemRow.places(of: number).lowerBound
    }

    /// Adds the key of a row; the rows come in the order of their places.
    ///
    /// Without its key a row is reached by `removeAll` only.
    @unsafe
    mutating func add(_ key: UnsafeRawBufferPointer, created: Int64, at place: Int64, checksum: Int64) {
        nextPlace = place + 1
        guard unsafe ItemRow.isIdentified(key, created: created, at: place, checksum: checksum) else { return }
        places.insert(place, of: unsafe KeyTable.hash(of: key) & hashMask)
    }
}
