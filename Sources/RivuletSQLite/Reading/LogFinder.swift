internal import RivuletSessions

/// Finds entries by session and version on one connection.
///
/// Entries lie in the order of their arrival, so that commits append. A table is their index, and to keep it with every commit would
/// write a page for each session that the commit is of: so it is brought up to date now and then, and the entries after that
/// (`unindexed`) are known to each connection by itself. They are few, and `refresh()` reads them from the log. Where a page that has
/// them is damaged, no session can be read: each one may have had entries on it.
final class LogFinder {
    /// The entries that the index does not know; right since `refresh()`.
    private(set) var unindexed = UnindexedEntries(indexedTo: 0)
    /// Whether all that is known was forgotten.
    private var isStale = true
    /// Nil in a layout whose index is SQLite's own, and so always up to date.
    private let indexedTo: SQLiteStatement?
    private let newer: SQLiteStatement
    private let ends: SQLiteStatement
    private let first: SQLiteStatement
    private let last: SQLiteStatement
    private let timeOf: SQLiteStatement
    private let firstSince: SQLiteStatement
    private let between: SQLiteStatement
    private let entryAt: SQLiteStatement
    private let timeAt: SQLiteStatement
    private let path: String

    init(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) {
        path = connection.path
        let hasIndexTable = layout >= SQLiteSchema.logIndexLayout
        // In older layouts the log itself has these columns, and SQLite's index over them.
        let index = hasIndexTable ? "log_index" : "log"
        let entries = "FROM \(index) i CROSS JOIN log l ON l.seq = i.seq AND l.sid = i.sid AND l.v = i.v"
        indexedTo = hasIndexTable ? try SQLiteStatement("SELECT seq FROM log_indexed", on: connection) : nil
        newer = try SQLiteStatement("SELECT seq, sid, v FROM log WHERE seq > ? ORDER BY seq", on: connection)
        // One subquery each: only so does SQLite go straight to the end of the index.
        ends = try SQLiteStatement(
            "SELECT (SELECT min(v) FROM \(index) WHERE sid = ?1), (SELECT max(v) FROM \(index) WHERE sid = ?1)",
            on: connection
        )
        first = try SQLiteStatement(
            "SELECT l.v, l.time \(entries) WHERE i.sid = ? ORDER BY i.v LIMIT 1",
            on: connection
        )
        last = try SQLiteStatement(
            "SELECT l.v, l.time \(entries) WHERE i.sid = ? ORDER BY i.v DESC LIMIT 1",
            on: connection
        )
        timeOf = try SQLiteStatement("SELECT l.time \(entries) WHERE i.sid = ? AND i.v = ?", on: connection)
        firstSince = try SQLiteStatement(
            "SELECT l.v \(entries) WHERE i.sid = ? AND l.time >= ? ORDER BY i.v LIMIT 1",
            on: connection
        )
        between = try SQLiteStatement(
            "SELECT \(LogRow.columns) \(entries) WHERE i.sid = ? AND i.v > ? AND i.v <= ? ORDER BY i.v",
            on: connection
        )
        let row = "FROM log l WHERE l.seq = ? AND l.sid = ? AND l.v = ?"
        entryAt = try SQLiteStatement("SELECT \(LogRow.columns) \(row)", on: connection)
        timeAt = try SQLiteStatement("SELECT l.time \(row)", on: connection)
    }

    // MARK: - What the index does not know

    /// Forgets what is known, so that `refresh()` reads it anew.
    func forget() {
        isStale = true
    }

    /// Reads what the log has got since the last time; at the beginning of a view, or of a transaction that writes.
    ///
    /// Its failure is that of the whole store: each session may have entries that could not be read.
    func refresh() throws(SQLiteError) {
        guard let indexedTo else { return }
        do throws(SQLiteError) {
            try readNewer(than: indexedTo)
        } catch {
            throw error.ofTheWholeStore
        }
    }

    private func readNewer(than indexedTo: SQLiteStatement) throws(SQLiteError) {
        defer { indexedTo.reset() }
        guard try indexedTo.step(), (0..<Int64.max).contains(indexedTo.integer(0)) else {
            throw .damaged(detail: "how far the log has an index is not stored", path: path)
        }
        let row = indexedTo.integer(0)
        // It goes back only where another program has put an older database in place of this one.
        if isStale || row < unindexed.indexedTo { unindexed = UnindexedEntries(indexedTo: row) }
        unindexed.index(to: row)
        defer { newer.reset() }
        try newer.bind(unindexed.last, at: 1)
        while try newer.step() {
            add(version: newer.integer(2), row: newer.integer(0), of: newer.integer(1))
        }
        isStale = false
    }

    /// The same on the connection that writes, which knows what it has written itself.
    func refreshIfStale() throws(SQLiteError) {
        if isStale { try refresh() }
    }

    func add(version: Int64, row: Int64, of sid: Int64) {
        unindexed.add(UnindexedEntries.Place(version: version, row: row), of: sid)
    }

    /// Forgets entries before a version; returns their rows.
    func remove(before version: Int64, of sid: Int64) -> [Int64] {
        let places = unindexed.places(of: sid)
        let kept = places.filter { $0.version >= version }
        guard kept.count < places.count else { return [] }
        unindexed.replace(kept, of: sid)
        return places.filter { $0.version < version }.map(\.row)
    }

    /// The index has been brought up to date with all that is known.
    func didIndex() {
        unindexed.index(to: unindexed.last)
    }

    // MARK: - Entries

    /// A session's oldest and newest version in the log; nil when the log has none.
    ///
    /// Refuses a log in which versions are missing after those of the index, or come twice.
    func versions(sid: Int64) throws(SQLiteError) -> (first: Int64, last: Int64)? {
        let newest = try present(of: sid)
        defer { ends.reset() }
        try ends.bind(sid, at: 1)
        try ends.step()
        var ends = ends.isNull(0) ? nil : (first: ends.integer(0), last: ends.integer(1))
        for place in newest {
            guard let (first, last) = ends else {
                ends = (place.version, place.version)
                continue
            }
            guard place.version == last + 1 else {
                throw .damaged(detail: "log entries after version \(last) are missing", path: path)
            }
            ends = (first, place.version)
        }
        return ends
    }

    /// A session's oldest entry, its version and its time.
    func first(sid: Int64) throws(SQLiteError) -> (version: Int64, time: Int64)? {
        if let found = try end(first, sid: sid) { return found }
        guard let place = try present(of: sid).first, let time = try time(at: place, of: sid) else { return nil }
        return (place.version, time)
    }

    /// A session's newest entry, its version and its time.
    func last(sid: Int64) throws(SQLiteError) -> (version: Int64, time: Int64)? {
        guard let place = try present(of: sid).last, let time = try time(at: place, of: sid) else {
            return try end(last, sid: sid)
        }
        return (place.version, time)
    }

    /// When an entry was accepted; nil: the log does not have it.
    func time(of version: Int64, sid: Int64) throws(SQLiteError) -> Int64? {
        if let place = unindexed.places(of: sid).first(where: { $0.version == version }) {
            return try time(at: place, of: sid)
        }
        defer { timeOf.reset() }
        try timeOf.bind(sid, at: 1)
        try timeOf.bind(version, at: 2)
        return try timeOf.step() ? timeOf.integer(0) : nil
    }

    /// The version of the first entry that is not older than a time, searched from the old end.
    func firstVersion(since time: Int64, sid: Int64) throws(SQLiteError) -> Int64? {
        do {
            defer { firstSince.reset() }
            try firstSince.bind(sid, at: 1)
            try firstSince.bind(time, at: 2)
            if try firstSince.step() { return firstSince.integer(0) }
        }
        for place in unindexed.places(of: sid) {
            if let accepted = try self.time(at: place, of: sid), accepted >= time { return place.version }
        }
        return nil
    }

    /// Reads entries after a version up to another one, in their order, until a closure says no.
    func read(
        sid: Int64,
        after version: Int64,
        upTo last: Int64,
        _ goesOn: (LogEntry) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) {
        do {
            defer { between.reset() }
            try between.bind(sid, at: 1)
            try between.bind(version, at: 2)
            try between.bind(last, at: 3)
            while try between.step() {
                guard try goesOn(LogRow.entry(in: between, path: path)) else { return }
            }
        }
        for place in unindexed.places(of: sid) where place.version > version && place.version <= last {
            defer { entryAt.reset() }
            guard try step(entryAt, to: place, of: sid) else { continue }
            guard try goesOn(LogRow.entry(in: entryAt, path: path)) else { return }
        }
    }

    // MARK: - Parts

    /// A session's unindexed entries, without the oldest that are gone since: a compaction drops them.
    private func present(of sid: Int64) throws(SQLiteError) -> [UnindexedEntries.Place] {
        let places = unindexed.places(of: sid)
        var present = places[...]
        while let place = present.first, try time(at: place, of: sid) == nil { present.removeFirst() }
        if present.count < places.count { unindexed.replace(Array(present), of: sid) }
        return Array(present)
    }

    private func time(at place: UnindexedEntries.Place, of sid: Int64) throws(SQLiteError) -> Int64? {
        defer { timeAt.reset() }
        return try step(timeAt, to: place, of: sid) ? timeAt.integer(0) : nil
    }

    private func step(
        _ statement: SQLiteStatement,
        to place: UnindexedEntries.Place,
        of sid: Int64
    ) throws(SQLiteError) -> Bool {
        try statement.bind(place.row, at: 1)
        try statement.bind(sid, at: 2)
        try statement.bind(place.version, at: 3)
        return try statement.step()
    }

    private func end(_ statement: SQLiteStatement, sid: Int64) throws(SQLiteError) -> (version: Int64, time: Int64)? {
        defer { statement.reset() }
        try statement.bind(sid, at: 1)
        return try statement.step() ? (statement.integer(0), statement.integer(1)) : nil
    }
}
