/// The last 64 entries of the log that its writer knows, by their rows.
struct RecentEntries {
    /// The entry in a row; the session 0 means that there is no entry.
    struct Entry {
        var row: Int64 = 0
        var sid: Int64 = 0
        var version: Int64 = 0
    }

    private var entries = Array(repeating: Entry(), count: Int(LostEntries.distance))

    /// Adds an entry, and returns the entry 64 rows before it.
    mutating func replace(at row: Int64, sid: Int64, version: Int64) -> Entry {
        let index = Int(row & 63)
        var earlier = entries[index]
        // No entry has that row number, for example after a failed commit.
        if earlier.row != row - LostEntries.distance { earlier = Entry() }
        entries[index] = Entry(row: row, sid: sid, version: version)
        return earlier
    }

    /// Replaces all entries by the unindexed ones, because indexed entries need not be named.
    mutating func reset(to known: UnindexedEntries, _ lost: LostEntries) {
        entries = Array(repeating: Entry(), count: entries.count)
        known.forEach { location, sid in
            record(Entry(row: location.row, sid: sid, version: location.version))
        }
        for row in lost.unknownRows {
            record(Entry(row: row, sid: LostEntries.unknownSID))
        }
    }

    private mutating func record(_ entry: Entry) {
        let index = Int(entry.row & 63)
        if entries[index].row < entry.row { entries[index] = entry }
    }
}
