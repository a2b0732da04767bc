// Part of Rivulet. See README.md for the architecture.
// Owns the events of a group that some of its subscribers have not been given yet.

import DequeModule
import RivuletEventLoop

/// The last events of one group on one loop, numbered without gaps.
///
/// What comes within a turn is one entry, so that it is one write to each subscriber.
struct EventLog {
    private struct Entry {
        let bytes: SharedBytes
        /// Where one stands who has it.
        let cursor: String
    }

    private var entries: Deque<Entry> = []
    /// The number of the first entry.
    private(set) var start: UInt64 = 0
    /// Where one stands who has nothing of the entries, but all before.
    private var startCursor: String
    /// What came in this turn.
    private var open: [SharedBytes] = []
    private var openCursor: String?
    /// The bytes of all entries.
    private(set) var byteCount = 0

    /// An empty log, of a group that stands at a cursor.
    init(at cursor: String) { startCursor = cursor }

    /// The number of the next entry.
    var end: UInt64 { start + UInt64(entries.count) }

    /// Whether something came that no entry has yet.
    var isOpen: Bool { openCursor != nil }

    /// Where one stands who has everything up to now.
    var cursor: String { openCursor ?? entries.last?.cursor ?? startCursor }

    /// Notes an event of this turn.
    mutating func append(_ bytes: SharedBytes, cursor: String) {
        open.append(bytes)
        openCursor = cursor
    }

    /// Makes one entry of what came in this turn.
    mutating func close(_ account: SharedBytes.Account) {
        guard let cursor = openCursor else { return }
        let bytes = open.count == 1 ? open[0] : Self.joined(open, account)
        entries.append(Entry(bytes: bytes, cursor: cursor))
        byteCount += bytes.count
        open.removeAll(keepingCapacity: true)
        openCursor = nil
    }

    private static func joined(_ parts: [SharedBytes], _ account: SharedBytes.Account) -> SharedBytes {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count })
        for part in parts { part.append(to: &bytes) }
        return SharedBytes(bytes, account: account)
    }

    /// The bytes of the last entry.
    var last: SharedBytes? { entries.last?.bytes }

    /// The bytes of the entries from that number on.
    func bytes(from number: UInt64) -> [SharedBytes] { entries[index(of: number)...].map(\.bytes) }

    /// How many bytes the entries from that number on have.
    func byteCount(from number: UInt64) -> Int { entries[index(of: number)...].reduce(0) { $0 + $1.bytes.count } }

    /// Where one stands whose next entry has that number.
    func cursor(before number: UInt64) -> String {
        let index = index(of: number)
        return index == 0 ? startCursor : entries[index - 1].cursor
    }

    /// Lets go of the entries before that number.
    mutating func drop(before number: UInt64) {
        while start < number, let entry = entries.popFirst() {
            start += 1
            byteCount -= entry.bytes.count
            startCursor = entry.cursor
        }
    }

    private func index(of number: UInt64) -> Int { number > start ? min(Int(number - start), entries.count) : 0 }
}
