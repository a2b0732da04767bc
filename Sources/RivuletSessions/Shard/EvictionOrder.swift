import DequeModule
import HeapModule

/// The resident sessions of a shard, least recently used first.
///
/// A session's use does not change the order: a slot has the session's last use at the time when the slot was added.
/// The caller takes the first slot and compares it with the session's actual last use. If the session was used since,
/// the caller adds it again. So a use costs nothing, and the order is exact.
struct EvictionOrder {
    /// A session, and its last use at the time when the slot was added.
    struct Entry: Comparable {
        let lastUsed: Duration
        let key: SessionKey

        static func < (first: Entry, second: Entry) -> Bool { first.lastUsed < second.lastUsed }
    }

    private var entries: Heap<Entry> = []
    /// Sessions that could not be evicted, in the order in which the shard tries them again.
    private var aside: Deque<(entry: Entry, until: Duration)> = []

    /// The most slots per resident session; above it, the slots of sessions that have left memory are dropped.
    private static let entriesPerSessionMax = 2
    /// The number of slots up to which there is no cleanup.
    private static let entriesMin = 256

    /// The number of sessions that are put aside.
    var asideCount: Int { aside.count }

    /// Returns true if there are too many slots for this number of resident sessions.
    func isCrowded(by residents: Int) -> Bool {
        entries.count + aside.count > Self.entriesMin + Self.entriesPerSessionMax * residents
    }

    mutating func add(_ key: SessionKey, lastUsed: Duration) {
        entries.insert(Entry(lastUsed: lastUsed, key: key))
    }

    /// Puts aside, until `time`, a session that cannot leave; the times of successive calls are in order.
    mutating func putAside(_ entry: Entry, until time: Duration) {
        aside.append((entry, time))
    }

    /// Moves at most `count` sessions that were put aside back into the order, if their time has come.
    ///
    /// If `now` is nil, sessions are moved back before their time, too.
    ///
    /// - Returns: True if there may be more such sessions.
    @discardableResult
    mutating func recall(at now: Duration?, atMost count: Int) -> Bool {
        for _ in 0..<count {
            guard let first = aside.first, now.map({ first.until <= $0 }) ?? true else { return false }
            aside.removeFirst()
            entries.insert(first.entry)
        }
        return true
    }

    /// Removes and returns the first slot if its `lastUsed` is `limit` or earlier.
    mutating func popFirst(usedUntil limit: Duration) -> Entry? {
        guard let first = entries.min, first.lastUsed <= limit else { return nil }
        return entries.removeMin()
    }

    /// Drops all slots of sessions that do not satisfy the condition, and all but one slot of every other session.
    mutating func keep(where isWanted: (SessionKey) -> Bool) {
        var seen: Set<SessionKey> = []
        let kept = entries.unordered.filter { isWanted($0.key) && seen.insert($0.key).inserted }
        entries = Heap(kept)
        aside.removeAll { !isWanted($0.entry.key) || !seen.insert($0.entry.key).inserted }
    }
}
