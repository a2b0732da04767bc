internal import RivuletBase
internal import RivuletSessions

/// The counters of the apps with a quota, on one connection; each call runs inside a transaction that the caller owns.
///
/// A replica has the counters of all apps, because its quotas come with the operations. It counts the bytes of
/// snapshots before their compression, because nodes may have different versions of zlib, and must refuse the same
/// operations.
///
/// A counter is read from the database for each write, and not kept in memory, so that a rollback takes it back too.
/// An app without a quota has no counters, and its writes cost nothing more.
final class SessionCounters {
    /// The quota of the operation that a replica applies.
    var quotaOfOperation = StorageQuota.none
    private let quotas: [String: StorageQuota]
    private let isReplica: Bool
    private let ofOwner: SQLiteLookup
    private let ofSession: SQLiteStatement
    private let add: SQLiteStatement
    private let addToSession: SQLiteStatement
    private let drop: SQLiteStatement
    private let snapshotBytes: SQLiteLookup

    /// The numbers that a write adds to the counters.
    struct Growth {
        var sessions = 0
        var bytes = 0
    }

    /// Returns nil if no app has a quota, except on a replica.
    init?(
        _ connection: SQLiteConnection,
        quotas: [String: StorageQuota],
        isReplica: Bool = false
    ) throws(SQLiteError) {
        guard isReplica || !quotas.isEmpty else { return nil }
        self.quotas = quotas
        self.isReplica = isReplica
        ofOwner = try SQLiteLookup(on: connection) {
            "SELECT sessions, bytes FROM usage\($0) WHERE app = ? AND owner = ?"
        }
        ofSession = try SQLiteStatement("SELECT owner, bytes FROM session WHERE sid = ?", on: connection)
        add = try SQLiteStatement(
            """
            INSERT INTO usage(app, owner, sessions, bytes) VALUES (?1, ?2, max(0, ?3), max(0, ?4))
                ON CONFLICT(app, owner) DO UPDATE SET sessions = max(0, sessions + ?3), bytes = max(0, bytes + ?4)
            """,
            on: connection
        )
        addToSession = try SQLiteStatement(
            "UPDATE session SET bytes = max(0, coalesce(bytes, 0) + ?2) WHERE sid = ?1",
            on: connection
        )
        drop = try SQLiteStatement(
            "DELETE FROM usage WHERE app = ? AND owner = ? AND owner <> '' AND sessions = 0",
            on: connection
        )
        let size = CountedApps.snapshotSize(isReplica: isReplica)
        snapshotBytes = try SQLiteLookup(on: connection) {
            """
            SELECT (SELECT coalesce(sum(\(size)), 0) FROM snapshot\($0) WHERE sid = ?1)
                + (SELECT coalesce(sum(\(size)), 0) FROM older_snapshot\($0) WHERE sid = ?1)
            """
        }
    }

    /// Returns true if an app has counters.
    func counts(_ app: String) -> Bool { isReplica || quotas[app] != nil }

    /// Returns the bytes that are counted for a snapshot.
    func byteCount(of snapshot: SnapshotRow) -> Int { isReplica ? Int(snapshot.byteCount) : snapshot.body.count }

    /// Checks that a write keeps the quotas; it must be called before the write has changed anything.
    ///
    /// - Throws: `.quota` with the first limit that the write would exceed, the owner's limits before the app's.
    func check(_ growth: Growth, app: String, owner: String?) throws(SQLiteError) {
        guard let quota = isReplica ? quotaOfOperation : quotas[app] else { return }
        if let owner {
            try check(growth, app, owner, .owner, sessions: quota.ownerSessionsMax, bytes: quota.ownerBytesMax)
        }
        try check(growth, app, "", .app, sessions: quota.sessionsMax, bytes: quota.bytesMax)
    }

    private func check(
        _ growth: Growth,
        _ app: String,
        _ owner: String,
        _ scope: QuotaExcess.Scope,
        sessions sessionsMax: Int?,
        bytes bytesMax: Int?
    ) throws(SQLiteError) {
        guard sessionsMax != nil || bytesMax != nil else { return }
        let (sessions, bytes) = try ofOwner.read { (row) throws(SQLiteError) in
            try row.bind(app, at: 1)
            try row.bind(owner, at: 2)
            return try row.step() ? (row.integer(0), row.integer(1)) : (0, 0)
        }
        if let sessionsMax, growth.sessions > 0, Int(sessions) + growth.sessions > sessionsMax {
            throw .refused(.quota(QuotaExcess(app: app, scope: scope, measure: .sessions, limit: sessionsMax)))
        }
        if let bytesMax, growth.bytes > 0, Int(bytes) + growth.bytes > bytesMax {
            throw .refused(.quota(QuotaExcess(app: app, scope: scope, measure: .bytes, limit: bytesMax)))
        }
    }

    /// Adds to the counters of a session, of its owner and of its app.
    func count(_ growth: Growth, sid: Int64, app: String, owner: String?) throws(SQLiteError) {
        // A new session has 0 bytes, and not NULL.
        if growth.bytes != 0 || growth.sessions > 0 {
            defer { addToSession.reset() }
            try addToSession.bind(sid, at: 1)
            try addToSession.bind(Int64(growth.bytes), at: 2)
            try addToSession.step()
        }
        for owner in [owner, ""].compactMap(\.self) {
            defer { add.reset() }
            try add.bind(app, at: 1)
            try add.bind(owner, at: 2)
            try add.bind(Int64(growth.sessions), at: 3)
            try add.bind(Int64(growth.bytes), at: 4)
            try add.step()
        }
    }

    /// Records the bytes of a session after a compaction; a compaction is never refused.
    func recount(sid: Int64, app: String, owner: String?, logBytes: Int) throws(SQLiteError) {
        let snapshots = try snapshotBytes.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            return try row.step() ? Int(row.integer(0)) : 0
        }
        let before = try session(sid).bytes
        try count(Growth(bytes: logBytes + snapshots - before), sid: sid, app: app, owner: owner)
    }

    /// Subtracts a session from the counters, before its row is deleted.
    func subtract(sid: Int64, app: String) throws(SQLiteError) {
        let (owner, bytes) = try session(sid)
        try count(Growth(sessions: -1, bytes: -bytes), sid: sid, app: app, owner: owner)
        guard let owner else { return }
        defer { drop.reset() }
        try drop.bind(app, at: 1)
        try drop.bind(owner, at: 2)
        try drop.step()
    }

    private func session(_ sid: Int64) throws(SQLiteError) -> (owner: String?, bytes: Int) {
        defer { ofSession.reset() }
        try ofSession.bind(sid, at: 1)
        guard try ofSession.step() else { return (nil, 0) }
        return (ofSession.isNull(0) ? nil : ofSession.text(0), Int(ofSession.integer(1)))
    }
}

/// The counters of whole apps, which are made from the rows, and compared with them.
enum CountedApps {
    /// Begins the counters of the apps that have a quota now, and drops the others.
    ///
    /// The first start with a quota reads the sizes of all rows, which takes time in a large database.
    static func update(_ connection: SQLiteConnection, apps: Set<String>) throws(SQLiteError) {
        let counted = Set(try names(connection))
        guard counted != apps else { return }
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            for app in counted.subtracting(apps).sorted() {
                try connection.execute("DELETE FROM usage WHERE app = \(quoted(app))")
                try connection.execute("UPDATE session SET bytes = NULL WHERE app = \(quoted(app))")
            }
            try count(apps.subtracting(counted), in: "main", on: connection)
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Makes the counters of apps anew; the connection is in a transaction, and the apps have no counters.
    static func count(_ apps: Set<String>, in schema: String, on connection: SQLiteConnection) throws(SQLiteError) {
        guard !apps.isEmpty else { return }
        let list = apps.sorted().map(quoted).joined(separator: ", ")
        try connection.execute("UPDATE \(schema).session SET bytes = 0 WHERE app IN (\(list))")
        try connection.execute(
            """
            WITH \(sizes(in: schema, isReplica: false)) UPDATE \(schema).session SET bytes = sizes.bytes FROM sizes
                WHERE sizes.sid = session.sid AND session.app IN (\(list))
            """
        )
        for app in apps.sorted() {
            try connection.execute(
                "INSERT INTO \(schema).usage(app, owner, sessions, bytes) VALUES (\(quoted(app)), '', 0, 0)"
            )
        }
        try connection.execute(
            """
            UPDATE \(schema).usage SET (sessions, bytes) =
                (SELECT count(*), coalesce(sum(s.bytes), 0) FROM \(schema).session s WHERE s.app = usage.app)
                WHERE app IN (\(list)) AND owner = ''
            """
        )
        try connection.execute(
            """
            INSERT INTO \(schema).usage(app, owner, sessions, bytes)
                SELECT app, owner, count(*), sum(bytes) FROM \(schema).session
                WHERE app IN (\(list)) AND owner IS NOT NULL GROUP BY app, owner
            """
        )
    }

    /// The apps with counters.
    static func names(_ connection: SQLiteConnection, in schema: String = "main") throws(SQLiteError) -> [String] {
        let rows = try SQLiteStatement(
            "SELECT app FROM \(schema).usage NOT INDEXED WHERE owner = '' ORDER BY app",
            on: connection
        )
        var names: [String] = []
        while try rows.step() { names.append(rows.text(0)) }
        return names
    }

    /// The apps with counters that do not match their rows.
    ///
    /// All apps of a replica have counters.
    static func wrong(_ connection: SQLiteConnection, isReplica: Bool) throws(SQLiteError) -> [String] {
        // Without counters, the sizes of all rows need not be read.
        let used = "SELECT 1 FROM usage NOT INDEXED UNION ALL SELECT 1 FROM session NOT INDEXED WHERE bytes IS NOT NULL"
        let isUsed = try connection.integer("SELECT 1 FROM (\(used)) LIMIT 1") == 1
        guard isUsed || isReplica else { return [] }
        let all = isReplica ? " UNION SELECT app FROM session NOT INDEXED" : ""
        let rows = try SQLiteStatement(
            """
            WITH \(sizes(in: "main", isReplica: isReplica)),
                counted(app) AS (SELECT app FROM usage NOT INDEXED WHERE owner = ''\(all)),
                sums(app, owner, sessions, bytes) AS (
                    SELECT app, '', count(*), sum(bytes) FROM session NOT INDEXED GROUP BY app
                    UNION ALL
                    SELECT app, owner, count(*), sum(bytes) FROM session NOT INDEXED
                        WHERE owner IS NOT NULL GROUP BY app, owner)
            SELECT s.app FROM session s NOT INDEXED LEFT JOIN sizes ON sizes.sid = s.sid
                WHERE s.bytes IS NOT CASE WHEN s.app IN counted THEN coalesce(sizes.bytes, 0) END
            UNION SELECT app FROM (
                SELECT app, owner, sessions, bytes FROM usage NOT INDEXED WHERE sessions <> 0 OR bytes <> 0
                EXCEPT SELECT app, owner, sessions, bytes FROM sums)
            UNION SELECT app FROM (
                SELECT app, owner, sessions, bytes FROM sums WHERE app IN counted
                EXCEPT SELECT app, owner, sessions, bytes FROM usage NOT INDEXED)
            ORDER BY 1
            """,
            on: connection
        )
        var names: [String] = []
        while try rows.step() { names.append(rows.text(0)) }
        return names
    }

    /// The expression for the bytes that are counted for a snapshot.
    fileprivate static func snapshotSize(isReplica: Bool) -> String { isReplica ? "bytes" : "length(body)" }

    /// The table expression `sizes`: the bytes of the log and the snapshots of each session.
    private static func sizes(in schema: String, isReplica: Bool) -> String {
        let size = snapshotSize(isReplica: isReplica)
        return """
            sizes(sid, bytes) AS MATERIALIZED (SELECT sid, sum(bytes) FROM (
                SELECT l.sid AS sid, \(LogRow.size(of: SQLiteSchema.version)) AS bytes FROM \(schema).log l
                UNION ALL SELECT sid, \(size) FROM \(schema).snapshot NOT INDEXED
                UNION ALL SELECT sid, \(size) FROM \(schema).older_snapshot NOT INDEXED) GROUP BY sid)
            """
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
