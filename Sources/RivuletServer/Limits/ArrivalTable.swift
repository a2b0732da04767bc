import Synchronization

/// The theoretical arrival times of the keys of one limit, in a table of fixed size.
///
/// A key's time lies ahead of the present by the part of its burst that is in use. Each cost moves the time further. A
/// cost that would move it by more than the whole burst is refused (the generic cell rate algorithm).
///
/// A key takes eight bytes: 20 bits of its hash, and 44 bits of its time. Two keys share a slot. A third key replaces
/// the one with the earlier time, so memory never grows, and a full table admits more instead of less.
///
/// Any thread may call it. The clocks of the callers may differ by some milliseconds.
/// Source: <https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm>.
final class ArrivalTable: Sendable {
    /// The outcome of a cost.
    enum Outcome: Hashable, Sendable {
        /// The cost is counted, and this part of the burst is in use, in microseconds.
        case taken(ahead: UInt64)
        /// The cost is not counted; the same cost is admitted after this time, in microseconds.
        case refused(wait: UInt64)
    }

    /// The slots of a table where no other number is given; each has room for two keys.
    static let defaultSlots = 65_536
    /// The bits of a word that have the time, in microseconds; the others have the tag of the key.
    private static let timeMask = (UInt64(1) << 44) - 1
    /// The most by which the clocks of two callers differ, in microseconds.
    ///
    /// A time that seems to lie further ahead than a whole burst and this difference is a time of the past.
    private static let clockSkewMax: UInt64 = 60_000_000

    private let rows: [Row]
    private let slotMask: UInt64

    /// Some slots of the table, in one block of memory.
    private final class Row: Sendable {
        static let slots = 256

        private let words = InlineArray<512, Atomic<UInt64>> { (_: Int) -> Atomic<UInt64> in Atomic(0) }

        subscript(index: Int) -> UInt64 { words[index].load(ordering: .relaxed) }

        /// Replaces a word; false if it is another one by now.
        func replace(_ word: UInt64, by other: UInt64, at index: Int) -> Bool {
            words[index].compareExchange(expected: word, desired: other, ordering: .relaxed).exchanged
        }
    }

    /// The entry of a key in its row: its own word, or the word that it replaces.
    private struct Entry {
        let index: Int
        let word: UInt64
        /// True if the word is the key's own.
        let isOwn: Bool
    }

    /// Makes an empty table; the number of slots is a power of two.
    init(slots: Int = defaultSlots) {
        precondition(slots > 0 && slots & (slots - 1) == 0, "\(slots) slots are no power of two")
        rows = (0..<max(slots / Row.slots, 1)).map { _ in Row() }
        slotMask = UInt64(slots - 1)
    }

    /// Counts a cost of a key, if its burst has room for it.
    ///
    /// - Parameters:
    ///   - cost: The time that the cost uses, in microseconds, at most `capacity`.
    ///   - key: The hash of the key.
    ///   - capacity: The time of the whole burst, in microseconds.
    ///   - now: The time of a clock that never goes back, in microseconds.
    /// - Returns: The part of the burst that is in use, or the time to wait.
    func take(_ cost: UInt64, of key: UInt64, within capacity: UInt64, at now: UInt64) -> Outcome {
        let row = row(of: key)
        while true {
            let entry = entry(of: key, in: row, at: now)
            let ahead = (entry.isOwn ? Self.ahead(entry.word, now, within: capacity) : 0) + cost
            guard ahead <= capacity else { return .refused(wait: ahead - capacity) }
            if row.replace(entry.word, by: Self.word(key, now &+ ahead), at: entry.index) {
                return .taken(ahead: ahead)
            }
        }
    }

    /// Takes back a cost that was counted.
    ///
    /// A key that was replaced meanwhile has its whole burst already.
    func giveBack(_ cost: UInt64, of key: UInt64, within capacity: UInt64, at now: UInt64) {
        let row = row(of: key)
        while true {
            let entry = entry(of: key, in: row, at: now)
            guard entry.isOwn else { return }
            let ahead = Self.ahead(entry.word, now, within: capacity)
            guard ahead > 0 else { return }
            let rest = ahead > cost ? ahead - cost : 0
            if row.replace(entry.word, by: Self.word(key, now &+ rest), at: entry.index) { return }
        }
    }

    /// Records a key at this time.
    func record(_ key: UInt64, at now: UInt64) {
        let row = row(of: key)
        let entry = entry(of: key, in: row, at: now)
        // If another thread has just used the slot, the key is recorded the next time.
        _ = row.replace(entry.word, by: Self.word(key, now), at: entry.index)
    }

    /// True if the key is recorded, and was not replaced since.
    func contains(_ key: UInt64) -> Bool { entry(of: key, in: row(of: key), at: 0).isOwn }

    private func row(of key: UInt64) -> Row { rows[Int(key & slotMask) / Row.slots] }

    private func entry(of key: UInt64, in row: Row, at now: UInt64) -> Entry {
        let first = Int(key & slotMask) % Row.slots * 2
        let (word, other) = (row[first], row[first + 1])
        let tag = Self.tag(of: key)
        if word & ~Self.timeMask == tag { return Entry(index: first, word: word, isOwn: true) }
        if other & ~Self.timeMask == tag { return Entry(index: first + 1, word: other, isOwn: true) }
        return Self.order(word, now) <= Self.order(other, now)
            ? Entry(index: first, word: word, isOwn: false) : Entry(index: first + 1, word: other, isOwn: false)
    }

    /// The time from now until the time of a word, in microseconds; 0 for a time of the past.
    private static func ahead(_ word: UInt64, _ now: UInt64, within capacity: UInt64) -> UInt64 {
        let distance = (word &- now) & timeMask
        return distance <= capacity + clockSkewMax ? distance : 0
    }

    /// A number that is larger for a later time of a word; 0 for no word.
    private static func order(_ word: UInt64, _ now: UInt64) -> UInt64 {
        word == 0 ? 0 : (word &- now &+ (timeMask >> 1)) & timeMask
    }

    private static func word(_ key: UInt64, _ time: UInt64) -> UInt64 { tag(of: key) | time & timeMask }

    /// The highest bits of a key, of which one is always set, so that no word of a key is 0.
    private static func tag(of key: UInt64) -> UInt64 { (key | 1 << 44) & ~timeMask }
}
