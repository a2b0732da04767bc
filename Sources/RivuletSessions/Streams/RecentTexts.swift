/// Large texts of one session that were written a moment ago, so that many readers get the same bytes.
struct RecentTexts<Key: Hashable, Text> {
    /// The limits of the kept texts.
    struct Limits {
        /// The time for which a text is kept.
        let ageMax: Duration
        /// A text below this size is written for each reader, which costs less than keeping it.
        let bytesMin: Int
        /// The most texts that are kept.
        let countMax: Int
        /// The most bytes of all texts together.
        let bytesMax: Int
    }

    private struct Entry {
        var text: Text
        var bytes: Int
        let due: Duration
    }

    private let limits: Limits
    private var entries: [Key: Entry] = [:]
    /// The memory of the texts, in bytes.
    private(set) var bytes = 0

    init(_ limits: Limits) { self.limits = limits }

    var isEmpty: Bool { entries.isEmpty }

    /// The text of a key, if it is young enough.
    func text(_ key: Key, now: Duration) -> Text? {
        guard let entry = entries[key], now < entry.due else { return nil }
        return entry.text
    }

    /// Keeps a text in place of the key's earlier one; false if it is too small, or if the other texts leave no room.
    mutating func keep(_ text: Text, bytes count: Int, as key: Key, now: Duration) -> Bool {
        guard count >= limits.bytesMin else { return false }
        remove(key)
        guard entries.count < limits.countMax, bytes + count <= limits.bytesMax else { return false }
        entries[key] = Entry(text: text, bytes: count, due: now + limits.ageMax)
        bytes += count
        return true
    }

    /// Replaces a text that is kept; the new text has the age of the old one.
    mutating func replace(_ key: Key, with text: Text, bytes count: Int) {
        guard let entry = entries[key] else { return }
        bytes += count - entry.bytes
        entries[key] = Entry(text: text, bytes: count, due: entry.due)
    }

    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { bytes -= entry.bytes }
    }

    /// Drops the texts that are too old.
    ///
    /// - Returns: The time until the next text is too old; nil if none is left.
    mutating func expire(now: Duration) -> Duration? {
        for (key, entry) in entries where entry.due <= now { remove(key) }
        return entries.values.lazy.map(\.due).min().map { $0 - now }
    }
}
