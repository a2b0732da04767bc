/// Places by hashes of keys; two keys may have one hash, so who asks looks at the place.
///
/// It holds no keys: an entry is 16 bytes, and a table that grows hashes nothing anew.
package struct KeyTable: Sendable {
    private var slots: [Slot] = []
    /// How many places it holds.
    package private(set) var count = 0

    /// An entry, in the first free slot from that of its hash on; free at place 0, where no document is.
    private struct Slot: Sendable {
        var hash: UInt64 = 0
        var place: Int64 = 0
    }

    /// A table of some places.
    package init(_ entries: [(hash: UInt64, place: Int64)] = []) {
        guard !entries.isEmpty else { return }
        var size = 16
        while entries.count * 3 > size * 2 { size *= 2 }
        slots = Array(repeating: Slot(), count: size)
        for (hash, place) in entries { put(Slot(hash: hash, place: place)) }
        count = entries.count
    }

    /// The hash of a key's UTF-8; which keys share one cannot be foreseen from outside.
    static func hash(of key: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        unsafe hasher.combine(bytes: key)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// The first place under a hash that is the one that is looked for.
    package func place<Failure>(
        of hash: UInt64,
        where isSought: (Int64) throws(Failure) -> Bool
    ) throws(Failure) -> Int64? {
        guard !slots.isEmpty else { return nil }
        var index = first(hash)
        while slots[index].place != 0 {
            if slots[index].hash == hash, try isSought(slots[index].place) { return slots[index].place }
            index = next(index)
        }
        return nil
    }

    /// Adds a place that is not there.
    package mutating func insert(_ place: Int64, of hash: UInt64) {
        // Two thirds are in use at most: then a search looks at five slots on the average.
        if (count + 1) * 3 > slots.count * 2 { resize(to: max(16, slots.count * 2)) }
        put(Slot(hash: hash, place: place))
        count += 1
    }

    /// Removes a place.
    package mutating func remove(_ place: Int64, of hash: UInt64) {
        guard !slots.isEmpty else { return }
        var free = first(hash)
        while slots[free].place != place {
            if slots[free].place == 0 { return }
            free = next(free)
        }
        count -= 1
        // What comes behind moves up, or a search would end at the gap.
        var index = next(free)
        while slots[index].place != 0 {
            let distance = (index - first(slots[index].hash)) & (slots.count - 1)
            if distance >= (index - free) & (slots.count - 1) {
                slots[free] = slots[index]
                free = index
            }
            index = next(index)
        }
        slots[free] = Slot()
    }

    /// Removes the places from one on.
    package mutating func removePlaces(from place: Int64) {
        let kept = slots.filter { $0.place != 0 && $0.place < place }
        guard kept.count < count else { return }
        slots = Array(repeating: Slot(), count: slots.count)
        for slot in kept { put(slot) }
        count = kept.count
    }

    private mutating func resize(to size: Int) {
        let old = slots
        slots = Array(repeating: Slot(), count: size)
        for slot in old where slot.place != 0 { put(slot) }
    }

    private mutating func put(_ slot: Slot) {
        var index = first(slot.hash)
        while slots[index].place != 0 { index = next(index) }
        slots[index] = slot
    }

    private func first(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slots.count - 1) }

    private func next(_ index: Int) -> Int { (index + 1) & (slots.count - 1) }
}
