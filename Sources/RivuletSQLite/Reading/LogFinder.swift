internal import RivuletSessions

/// Finds entries by session and version on one connection.
///
/// Entries are stored in the order of their arrival, so that commits append. The table `log_index` is their index. An
/// update in every commit would write a page for each session of the commit, so the index is updated at intervals. Each
/// connection remembers the few entries after the last update (`unindexed`), which `refresh()` reads from the log. If a
/// page with such entries is damaged, `salvage()` reads the other pages. Each entry names an earlier entry, so the
/// other pages name most entries of the damaged page. `lost` has the rest.
final class LogFinder {
    /// The entries that the index does not have, as of the last `refresh()`.
    private(set) var unindexed = UnindexedEntries(indexedTo: 0)
    /// The unindexed entries that cannot be read and that no later entry names.
    private(set) var lost = LostEntries()
    /// True if the known entries are outdated and must be read again.
    private var isStale = true
    /// True if a page of unindexed entries has failed since the last salvage.
    private(set) var needsSalvage = false
    /// True if the next view uses the salvaged entries without a further read, which would fail again.
    private var isSalvaged = false
    private let connection: SQLiteConnection
    private let layout: Int64
    /// The query for the last indexed row; nil in older layouts, in which SQLite keeps the index up to date.
    private let indexedTo: SQLiteStatement?
    private let newer: SQLiteStatement
    private let ends: SQLiteLookup
    private let first: SQLiteLookup
    private let last: SQLiteLookup
    private let timeOf: SQLiteLookup
    private let firstSince: SQLiteLookup
    private let between: SQLiteLookup
    private let entryAt: SQLiteStatement
    private let timeAt: SQLiteStatement
    private let sizesOf: SQLiteLookup
    private let sizeAt: SQLiteStatement
    private let path: String

    init(_ connection: SQLiteConnection, layout: Int64) throws(SQLiteError) {
        path = connection.path
        self.connection = connection
        self.layout = layout
        let hasIndexTable = layout >= SQLiteSchema.logIndexLayout
        indexedTo = hasIndexTable ? try SQLiteStatement("SELECT seq FROM log_indexed", on: connection) : nil
        newer = try SQLiteStatement("SELECT seq, sid, v FROM log WHERE seq >= ? ORDER BY seq", on: connection)
        // In older layouts, the log itself has the index's columns, and SQLite has an index over them.
        let index = hasIndexTable ? "log_index i" : "log i"
        // Without the index, the log itself is read, up to the last indexed row.
        let rows = "log i NOT INDEXED"
        let bound = hasIndexTable ? " AND i.seq <= (SELECT seq FROM log_indexed)" : ""
        func lookup(_ sql: (_ index: String, _ bound: String) -> String) throws(SQLiteError) -> SQLiteLookup {
            try SQLiteLookup(sql(index, ""), byTable: sql(rows, bound), .large, on: connection)
        }
        func entries(_ index: String) -> String {
            "FROM \(index) CROSS JOIN log l ON l.seq = i.seq AND l.sid = i.sid AND l.v = i.v"
        }
        // Each end has its own subquery, because only then does SQLite seek directly to that end of the index.
        ends = try lookup { index, bound in
            """
            SELECT (SELECT min(v) FROM \(index) WHERE sid = ?1\(bound)), (SELECT max(v) FROM \(index) WHERE sid = ?1\(bound))
            """
        }
        first = try lookup { "SELECT l.v, l.time \(entries($0)) WHERE i.sid = ?\($1) ORDER BY i.v LIMIT 1" }
        last = try lookup { "SELECT l.v, l.time \(entries($0)) WHERE i.sid = ?\($1) ORDER BY i.v DESC LIMIT 1" }
        timeOf = try lookup { "SELECT l.time \(entries($0)) WHERE i.sid = ? AND i.v = ?\($1)" }
        firstSince = try lookup {
            "SELECT l.v \(entries($0)) WHERE i.sid = ? AND l.time >= ?\($1) ORDER BY i.v LIMIT 1"
        }
        let columns = LogRow.columns(of: layout)
        between = try lookup {
            "SELECT \(columns) \(entries($0)) WHERE i.sid = ? AND i.v > ? AND i.v <= ?\($1) ORDER BY i.v"
        }
        let row = "FROM log l WHERE l.seq = ? AND l.sid = ? AND l.v = ?"
        entryAt = try SQLiteStatement("SELECT \(columns) \(row)", on: connection)
        timeAt = try SQLiteStatement("SELECT l.time \(row)", on: connection)
        let size = LogRow.size(of: layout)
        sizesOf = try lookup { "SELECT l.v, \(size) \(entries($0)) WHERE i.sid = ?\($1) ORDER BY i.v DESC" }
        sizeAt = try SQLiteStatement("SELECT \(size) \(row)", on: connection)
    }

    // MARK: - Unindexed entries

    /// Forgets the known entries, so that `refresh()` reads them again.
    func forget() {
        isStale = true
    }

    /// Reads the new entries of the log, at the beginning of a view or of a transaction that writes.
    ///
    /// If this fails because of a damaged page, the caller ends the view, calls `salvage()` and begins again.
    func refresh() throws(SQLiteError) {
        guard let indexedTo else { return }
        if isSalvaged {
            (isSalvaged, isStale) = (false, false)
            return
        }
        do throws(SQLiteError) {
            try readNewer(than: indexedTo)
        } catch {
            if error.isPageDamage { needsSalvage = true }
            throw error.ofTheWholeStore
        }
    }

    /// Reads the entries outside of a damaged page; must be called outside of a transaction.
    ///
    /// An error is attributed to the whole database.
    func salvage() throws(SQLiteError) {
        needsSalvage = false
        guard let indexedTo else { return }
        do throws(SQLiteError) {
            let row = try self.row(of: indexedTo)
            let (entries, lost) = try LogSalvage(connection, layout: layout).entries(after: row)
            unindexed = UnindexedEntries(indexedTo: row)
            for entry in entries { add(version: entry.version, row: entry.row, of: entry.sid) }
            (self.lost, isSalvaged) = (lost, true)
        } catch {
            throw error.ofTheWholeStore
        }
    }

    private func row(of indexedTo: SQLiteStatement) throws(SQLiteError) -> Int64 {
        defer { indexedTo.reset() }
        guard try indexedTo.step(), (0..<Int64.max).contains(indexedTo.integer(0)) else {
            throw .damaged(detail: "the number of the last indexed log entry is missing or invalid", path: path)
        }
        return indexedTo.integer(0)
    }

    /// Throws if it is not known whether entries of a session are lost.
    private func checkIsKnown(_ last: UnindexedEntries.Location?) throws(SQLiteError) {
        guard lost.hasUnknown, !lost.isBehind(last) else { return }
        throw .damaged(
            detail:
                "a page of the newest log entries is damaged, and it is not known whether this session has entries there",
            path: path
        )
    }

    private func readNewer(than indexedTo: SQLiteStatement) throws(SQLiteError) {
        let row = try row(of: indexedTo)
        // The row is smaller only if another program has replaced the database with an older one.
        if isStale || row < unindexed.indexedTo {
            unindexed = UnindexedEntries(indexedTo: row)
            lost = LostEntries()
        }
        unindexed.index(to: row)
        defer { newer.reset() }
        try newer.bind(unindexed.last + 1, at: 1)
        while try newer.step() {
            add(version: newer.integer(2), row: newer.integer(0), of: newer.integer(1))
        }
        isStale = false
    }

    /// Reads the new entries if `forget()` was called; for the writing connection, which knows its own writes.
    ///
    /// - Returns: True if the log had to be read.
    func refreshIfStale() throws(SQLiteError) -> Bool {
        guard isStale else { return false }
        try refresh()
        return true
    }

    func add(version: Int64, row: Int64, of sid: Int64) {
        unindexed.add(UnindexedEntries.Location(version: version, row: row), of: sid)
    }

    /// Forgets the entries before a version; returns their rows.
    func remove(before version: Int64, of sid: Int64) -> [Int64] {
        let locations = unindexed.locations(of: sid)
        let kept = locations.filter { $0.version >= version }
        guard kept.count < locations.count else { return [] }
        unindexed.replace(kept, of: sid)
        return locations.filter { $0.version < version }.map(\.row)
    }

    /// Updates the state after all known entries were indexed.
    func didIndex() {
        unindexed.index(to: unindexed.last)
    }

    // MARK: - Entries

    /// Returns a session's oldest and newest version in the log; nil if the log has none.
    ///
    /// Throws if the unindexed versions do not continue the indexed versions without a gap.
    func versions(sid: Int64) throws(SQLiteError) -> (first: Int64, last: Int64)? {
        let newest = try present(of: sid)
        try checkIsKnown(newest.last)
        var ends = try indexedVersions(sid: sid)
        for location in newest {
            guard let (first, last) = ends else {
                ends = (location.version, location.version)
                continue
            }
            guard location.version == last + 1 else {
                throw .damaged(detail: "log entries after version \(last) are missing", path: path)
            }
            ends = (first, location.version)
        }
        return ends
    }

    /// Returns the version of a session's newest entry, without reading the entry; nil if none is known.
    func newestVersion(sid: Int64) throws(SQLiteError) -> Int64? {
        try checkIsKnown(unindexed.locations(of: sid).last)
        if let location = unindexed.locations(of: sid).last { return location.version }
        return try indexedVersions(sid: sid)?.last
    }

    private func indexedVersions(sid: Int64) throws(SQLiteError) -> (first: Int64, last: Int64)? {
        try ends.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.step()
            return row.isNull(0) ? nil : (row.integer(0), row.integer(1))
        }
    }

    /// Returns the version and the time of a session's oldest entry.
    func first(sid: Int64) throws(SQLiteError) -> (version: Int64, time: Int64)? {
        if let found = try end(first, sid: sid) { return found }
        guard let location = try present(of: sid).first, let time = try time(at: location, of: sid) else { return nil }
        return (location.version, time)
    }

    /// Returns the version and the time of a session's newest entry.
    func last(sid: Int64) throws(SQLiteError) -> (version: Int64, time: Int64)? {
        try checkIsKnown(unindexed.locations(of: sid).last)
        guard let location = try present(of: sid).last, let time = try time(at: location, of: sid) else {
            return try end(last, sid: sid)
        }
        return (location.version, time)
    }

    /// Returns the time when an entry was accepted; nil if the log does not have the entry.
    func time(of version: Int64, sid: Int64) throws(SQLiteError) -> Int64? {
        if let location = unindexed.locations(of: sid).first(where: { $0.version == version }) {
            return try time(at: location, of: sid)
        }
        return try timeOf.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.bind(version, at: 2)
            return try row.step() ? row.integer(0) : nil
        }
    }

    /// Returns the version of the first entry that is not older than a time, searched from the oldest entry on.
    func firstVersion(since time: Int64, sid: Int64) throws(SQLiteError) -> Int64? {
        let indexed: Int64? = try firstSince.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.bind(time, at: 2)
            return try row.step() ? row.integer(0) : nil
        }
        if let indexed { return indexed }
        for location in unindexed.locations(of: sid) {
            if let accepted = try self.time(at: location, of: sid), accepted >= time { return location.version }
        }
        return nil
    }

    /// Returns the sizes of a session's entries in bytes, the newest first.
    func sizes(sid: Int64) throws(SQLiteError) -> [(version: UInt64, bytes: Int)] {
        var sizes: [(version: UInt64, bytes: Int)] = []
        for location in try present(of: sid).reversed() {
            defer { sizeAt.reset() }
            try sizeAt.bind(location.row, at: 1)
            try sizeAt.bind(sid, at: 2)
            try sizeAt.bind(location.version, at: 3)
            guard try sizeAt.step() else { continue }
            sizes.append((UInt64(clamping: location.version), Int(sizeAt.integer(0))))
        }
        let indexed = try sizesOf.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            var sizes: [(version: UInt64, bytes: Int)] = []
            while try row.step() { sizes.append((UInt64(clamping: row.integer(0)), Int(row.integer(1)))) }
            return sizes
        }
        return sizes + indexed
    }

    /// Passes the entries after `version` up to `last` to a closure, in their order, until the closure returns false.
    func read(
        sid: Int64,
        after version: Int64,
        upTo last: Int64,
        _ goesOn: (LogEntry) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) {
        let isDone = try between.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.bind(version, at: 2)
            try row.bind(last, at: 3)
            while try row.step() {
                guard try goesOn(LogRow.entry(in: row, path: path)) else { return true }
            }
            return false
        }
        if isDone { return }
        for location in unindexed.locations(of: sid) where location.version > version && location.version <= last {
            defer { entryAt.reset() }
            guard try step(entryAt, to: location, of: sid) else { continue }
            guard try goesOn(LogRow.entry(in: entryAt, path: path)) else { return }
        }
    }

    // MARK: - Parts

    /// Returns a session's unindexed entries, without the oldest ones that a compaction has dropped since.
    private func present(of sid: Int64) throws(SQLiteError) -> [UnindexedEntries.Location] {
        let locations = unindexed.locations(of: sid)
        var present = locations[...]
        while let location = present.first, try time(at: location, of: sid) == nil { present.removeFirst() }
        if present.count < locations.count { unindexed.replace(Array(present), of: sid) }
        return Array(present)
    }

    private func time(at location: UnindexedEntries.Location, of sid: Int64) throws(SQLiteError) -> Int64? {
        defer { timeAt.reset() }
        return try step(timeAt, to: location, of: sid) ? timeAt.integer(0) : nil
    }

    private func step(
        _ statement: SQLiteStatement,
        to location: UnindexedEntries.Location,
        of sid: Int64
    ) throws(SQLiteError) -> Bool {
        try statement.bind(location.row, at: 1)
        try statement.bind(sid, at: 2)
        try statement.bind(location.version, at: 3)
        return try statement.step()
    }

    private func end(_ lookup: SQLiteLookup, sid: Int64) throws(SQLiteError) -> (version: Int64, time: Int64)? {
        try lookup.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            return try row.step() ? (row.integer(0), row.integer(1)) : nil
        }
    }
}
