/// A table from hashes of keys to places: the row ids of documents in the table `item`.
///
/// The table holds no keys. Keys can share a hash, so the caller must check the key at a place. An entry is 16 bytes,
/// and a growing table does not compute hashes again.
package struct KeyTable: Sendable {
    private var slots: [Slot] = []
    /// The number of places in the table.
    package private(set) var count = 0

    /// An entry, stored in the first free slot from its hash on.
    ///
    /// A slot with place 0 is free, because no document has place 0.
    private struct Slot: Sendable {
        var hash: UInt64 = 0
        var rowID: Int64 = 0
    }

    /// Makes a table of places.
    package init(_ entries: [(hash: UInt64, rowID: Int64)] = []) {
        guard !entries.isEmpty else { return }
        var size = 16
        while entries.count * 3 > size * 2 { size *= 2 }
        slots = Array(repeating: Slot(), count: size)
        for (hash, rowID) in entries { put(Slot(hash: hash, rowID: rowID)) }
        count = entries.count
    }

    /// Returns the hash of a key's UTF-8; clients cannot predict which keys share a hash.
    static func hash(of key: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        unsafe hasher.combine(bytes: key)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Returns the first place of a hash for which the closure returns true.
    package func rowID<Failure>(
        of hash: UInt64,
        where isSought: (Int64) throws(Failure) -> Bool
    ) throws(Failure) -> Int64? {
        guard !slots.isEmpty else { return nil }
        var index = first(hash)
        while slots[index].rowID != 0 {
            if slots[index].hash == hash, try isSought(slots[index].rowID) { return slots[index].rowID }
            index = next(index)
        }
        return nil
    }

    /// Adds a place that the table does not have.
    package mutating func insert(_ rowID: Int64, of hash: UInt64) {
        // At most two thirds of the slots are in use, so that a search reads five slots on average.
        if (count + 1) * 3 > slots.count * 2 { resize(to: max(16, slots.count * 2)) }
        put(Slot(hash: hash, rowID: rowID))
        count += 1
    }

    /// Removes a place.
    package mutating func remove(_ rowID: Int64, of hash: UInt64) {
        guard !slots.isEmpty else { return }
        var free = first(hash)
        while slots[free].rowID != rowID {
            if slots[free].rowID == 0 { return }
            free = next(free)
        }
        count -= 1
        // Later entries move up, because a search would end at the gap.
        var index = next(free)
        while slots[index].rowID != 0 {
            let distance = (index - first(slots[index].hash)) & (slots.count - 1)
            if distance >= (index - free) & (slots.count - 1) {
                slots[free] = slots[index]
                free = index
            }
            index = next(index)
        }
        slots[free] = Slot()
    }

    /// Removes a place and all greater places.
    package mutating func removeRowIDs(from rowID: Int64) {
        let kept = slots.filter { $0.rowID != 0 && $0.rowID < rowID }
        guard kept.count < count else { return }
        slots = Array(repeating: Slot(), count: slots.count)
        for slot in kept { put(slot) }
        count = kept.count
    }

    private mutating func resize(to size: Int) {
        let old = slots
        slots = Array(repeating: Slot(), count: size)
        for slot in old where slot.rowID != 0 { put(slot) }
    }

    private mutating func put(_ slot: Slot) {
        var index = first(slot.hash)
        while slots[index].rowID != 0 { index = next(index) }
        slots[index] = slot
    }

    private func first(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slots.count - 1) }

    private func next(_ index: Int) -> Int { (index + 1) & (slots.count - 1) }
}
