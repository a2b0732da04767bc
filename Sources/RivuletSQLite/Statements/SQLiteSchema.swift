internal import CSQLite
internal import RivuletSessions

/// The layout of the database file, and the settings of a connection.
enum SQLiteSchema {
    /// "RIVU", the application id by which `file` and Rivulet recognize the database.
    static let applicationID: Int64 = 0x5249_5655
    /// The layout that this code reads and writes.
    static let version: Int64 = 10
    /// The page size of a new database, in bytes.
    static let pageBytes = 4_096

    /// Sets the writing connection up for durable commits, and creates or updates the tables.
    ///
    /// On a replica, a power cut may take back the last commits, but never a part of a commit.
    /// Source: <https://sqlite.org/pragma.html>
    static func prepareWriter(
        _ connection: SQLiteConnection,
        limits: SQLiteStorageLimits,
        for use: DatabaseUse
    ) throws(SQLiteError) {
        let found = try checkOrigin(of: connection)
        // This comes first, so that a refused database stays as it is.
        try use.check(connection, layout: found)
        if found == nil {
            try connection.execute("PRAGMA page_size = \(pageBytes)")
            // A change of the page size resets the reserved bytes, so they are set again.
            try connection.reservePageChecksums()
            // This setting works only before the first table exists.
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        let journal = try connection.text("PRAGMA journal_mode = WAL")
        guard journal == "wal" else {
            throw unsafeSetting("journal_mode is \(journal ?? "unknown"), not wal", connection)
        }
        for setting in [
            "synchronous = \(use.synchronous.name)", "secure_delete = ON", "wal_autocheckpoint = 0",
            "cell_size_check = ON", "trusted_schema = OFF", "temp_store = MEMORY", "cache_size = -64000",
            "journal_size_limit = 67108864",
        ] {
            try connection.execute("PRAGMA \(setting)")
        }
        if let bytes = limits.databaseBytesMax {
            let pageBytes = try connection.integer("PRAGMA page_size") ?? Int64(pageBytes)
            try connection.execute("PRAGMA max_page_count = \(max(1, Int64(bytes) / pageBytes))")
        }
        let synchronous = try connection.integer("PRAGMA synchronous")
        guard synchronous == use.synchronous.number else {
            let wanted = "\(use.synchronous.number) (\(use.synchronous.name))"
            throw unsafeSetting("synchronous is \(synchronous ?? -1), not \(wanted)", connection)
        }
        try bringUpToDate(connection, from: found)
        connection.countWALPages()
    }

    /// Sets up a connection that only reads.
    static func prepareReader(_ connection: SQLiteConnection) throws(SQLiteError) {
        for setting in ["query_only = ON", "cell_size_check = ON", "trusted_schema = OFF", "cache_size = -16000"] {
            try connection.execute("PRAGMA \(setting)")
        }
    }

    /// The first layout with items of stores.
    static let itemsLayout: Int64 = 3
    /// The first layout in which the log's index is a table.
    static let logIndexLayout: Int64 = 4
    /// The first layout that keeps snapshots of older schemas.
    static let olderSnapshotsLayout: Int64 = 5
    /// The first layout with marks of deleted sessions.
    static let erasingLayout: Int64 = 6
    /// The first layout that can renew all epochs.
    static let renewalLayout: Int64 = 7

    /// The first layout in which entries name the entry 64 rows before them.
    static let earlierEntriesLayout: Int64 = 8
    /// The first layout with callers of entries, owners of sessions and counters.
    static let callersLayout: Int64 = 9
    /// The first layout that can be a node's copy of a cluster's data.
    static let replicaLayout: Int64 = 10

    /// Returns true if every page of a database of this layout was written with `secure_delete`, so that deletions
    /// erase their text.
    static func isSecured(_ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        try connection.integer("SELECT count(*) FROM secured") == 1
    }

    /// Returns true if deletions erase their text in a database that another process may use, or if the database is
    /// empty.
    static func isSecured(at path: String, limits: SQLiteStorageLimits) throws(SQLiteError) -> Bool {
        let wait = limits.lockWaitMilliseconds
        let connection = try SQLiteConnection(path: path, access: .readOnly, lockWaitMilliseconds: wait)
        guard let layout = try checkOrigin(of: connection) else { return true }
        guard layout >= erasingLayout else { return false }
        return try isSecured(connection)
    }

    /// The statement that records that no page of the database has deleted text.
    static let recordSecured = "INSERT OR REPLACE INTO secured(one) VALUES (1)"

    /// Returns the layout of a database; refuses a database that is empty, of another program, or of a newer layout.
    static func readableLayout(of connection: SQLiteConnection) throws(SQLiteError) -> Int64 {
        if let layout = try checkOrigin(of: connection) { return layout }
        throw .refused(.unavailable(detail: "\(connection.path) is empty: no server has stored anything there"))
    }

    /// Returns the file's layout, or nil for an empty file; refuses a file of another program or of a newer layout.
    static func checkOrigin(of connection: SQLiteConnection) throws(SQLiteError) -> Int64? {
        guard sqlite3_libversion_number() >= 3_037_000, sqlite3_threadsafe() != 0 else {
            let version = unsafe String(cString: sqlite3_libversion())
            let detail = "SQLite \(version) is too old or not thread-safe: install libsqlite3-0 3.37.0 or later"
            throw .refused(.incompatible(detail: detail))
        }
        let application = try connection.integer("PRAGMA application_id")
        let found = try connection.integer("PRAGMA user_version") ?? 0
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        if application == 0, found == 0, tables == 0 { return nil }
        guard application == applicationID else {
            let detail = "\(connection.path) is not a Rivulet database: give this server another data folder"
            throw .refused(.incompatible(detail: detail))
        }
        guard (1...version).contains(found) else {
            let detail =
                "\(connection.path) has layout \(found), this server reads layout \(version): "
                + "run the Rivulet version that wrote it, or give this one another data folder"
            throw .refused(.incompatible(detail: detail))
        }
        return found
    }

    private static func unsafeSetting(_ what: String, _ connection: SQLiteConnection) -> SQLiteError {
        let detail =
            "\(connection.path): \(what), so a commit would not be durable: "
            + "use a local file system and SQLite's default build"
        return .refused(.incompatible(detail: detail))
    }

    /// Updates a file from the layout `found` to this layout, or creates the tables if `found` is nil; all or nothing.
    private static func bringUpToDate(_ connection: SQLiteConnection, from found: Int64?) throws(SQLiteError) {
        let statements = found.map(steps) ?? tables + [recordSecured]
        guard !statements.isEmpty else { return }
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            for statement in statements { try connection.execute(statement) }
            try connection.execute("PRAGMA application_id = \(applicationID)")
            try connection.execute("PRAGMA user_version = \(version)")
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Returns the statements that lead from a layout to the current one.
    private static func steps(from found: Int64) -> [String] {
        let layouts: [(number: Int64, statements: [String])] = [
            // Idempotency records have their own table, and are no longer searched in the log.
            (2, answerTable + ["DROP INDEX log_sid_cmd"]),
            // The items of stores are stored beside the sessions.
            (3, itemTables),
            // The log's index is a table, which is updated at intervals and not with every commit.
            (4, logIndexTables + ["DROP INDEX log_sid_v"]),
            // The snapshots that a migration's snapshot replaces are kept.
            (5, [olderSnapshotTable]),
            // Deleted sessions are erased in steps. Data that older layouts deleted stays in the file until a vacuum.
            (6, erasingTables),
            // A loss of commits is recorded; it changes all epochs.
            (7, [EpochRenewal.table]),
            // Each entry names the entry 64 rows before it. Existing entries name none.
            (8, earlierEntryColumns),
            // Entries have callers, and sessions have owners. Existing rows have none.
            (9, callerColumns + ownerTables),
            // The database can be a node's copy of a cluster's data. An existing one is not.
            (10, [ReplicaRow.table]),
        ]
        return layouts.filter { found < $0.number }.flatMap(\.statements)
    }

    /// The columns for a session and a version: see `LostEntries`.
    private static let earlierEntryColumns = [
        "ALTER TABLE log ADD COLUMN earlier_sid INTEGER", "ALTER TABLE log ADD COLUMN earlier_v INTEGER",
    ]

    private static let callerColumns = [
        "ALTER TABLE log ADD COLUMN caller TEXT", "ALTER TABLE session ADD COLUMN owner TEXT",
        "ALTER TABLE session ADD COLUMN bytes INTEGER",
    ]

    /// The list of an owner's sessions, and the counters of the apps with a quota.
    ///
    /// The row of the owner "" counts all sessions of its app. The other rows count those of their owner. The bytes of
    /// one session are in its row; they are NULL if its app has no quota.
    private static let ownerTables = [
        "CREATE INDEX session_owner ON session(app, owner, id) WHERE owner IS NOT NULL",
        """
        CREATE TABLE usage(
            row INTEGER PRIMARY KEY, app TEXT NOT NULL, owner TEXT NOT NULL, sessions INTEGER NOT NULL,
            bytes INTEGER NOT NULL, UNIQUE(app, owner)) STRICT
        """,
    ]

    private static let tables =
        [
            // AUTOINCREMENT: a sid is never used again, so a session that is deleted and created again has another sid.
            """
            CREATE TABLE session(
                sid INTEGER PRIMARY KEY AUTOINCREMENT, app TEXT NOT NULL, id TEXT NOT NULL, epoch TEXT NOT NULL,
                created INTEGER NOT NULL, crc INTEGER NOT NULL, owner TEXT, bytes INTEGER, UNIQUE(app, id)) STRICT
            """,
            // Entries are ordered by arrival, so that commits append.
            """
            CREATE TABLE log(
                seq INTEGER PRIMARY KEY, sid INTEGER NOT NULL, v INTEGER NOT NULL, time INTEGER NOT NULL,
                crc INTEGER NOT NULL, cmd TEXT, event BLOB NOT NULL, changes BLOB NOT NULL,
                earlier_sid INTEGER, earlier_v INTEGER, caller TEXT) STRICT
            """,
            """
            CREATE TABLE snapshot(
                row INTEGER PRIMARY KEY, sid INTEGER NOT NULL, v INTEGER NOT NULL, time INTEGER NOT NULL,
                schema INTEGER NOT NULL, enc INTEGER NOT NULL, bytes INTEGER NOT NULL, crc INTEGER NOT NULL,
                body BLOB NOT NULL, UNIQUE(sid, v)) STRICT
            """,
            "CREATE TABLE probe(one INTEGER PRIMARY KEY CHECK (one = 1), commits INTEGER NOT NULL) STRICT",
        ] + answerTable + itemTables + logIndexTables + [olderSnapshotTable] + erasingTables
        + [EpochRenewal.table] + ownerTables + [ReplicaRow.table]

    /// A separate table, because a new unique key for the table `snapshot` would require a copy of every stored state.
    private static let olderSnapshotTable = """
        CREATE TABLE older_snapshot(
            row INTEGER PRIMARY KEY, sid INTEGER NOT NULL, v INTEGER NOT NULL, time INTEGER NOT NULL,
            schema INTEGER NOT NULL, enc INTEGER NOT NULL, bytes INTEGER NOT NULL, crc INTEGER NOT NULL,
            body BLOB NOT NULL, UNIQUE(sid, v)) STRICT
        """

    /// The index has a session's entries up to a row of the log (`log_indexed`); a connection reads later entries when
    /// it begins.
    private static let logIndexTables = [
        """
        CREATE TABLE log_index(
            sid INTEGER NOT NULL, v INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(sid, v)) STRICT, WITHOUT ROWID
        """,
        "INSERT INTO log_index(sid, v, seq) SELECT sid, v, seq FROM log ORDER BY sid, v",
        "CREATE TABLE log_indexed(one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT",
        "INSERT INTO log_indexed(one, seq) SELECT 1, coalesce(max(seq), 0) FROM log",
    ]

    /// The marks of deleted sessions with rows that are not erased yet, and the record that deletions erase their text.
    private static let erasingTables = [
        "CREATE TABLE erasing(sid INTEGER PRIMARY KEY) STRICT",
        "CREATE TABLE secured(one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT",
    ]

    private static let answerTable = [
        """
        CREATE TABLE answer(
            row INTEGER PRIMARY KEY, sid INTEGER NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL,
            crc INTEGER NOT NULL, print BLOB NOT NULL, body BLOB NOT NULL, UNIQUE(sid, id)) STRICT
        """,
        "CREATE INDEX answer_time ON answer(time)",
    ]

    /// The upper bits of a place are the collection's number, and the lower bits count arrivals.
    ///
    /// So a collection is one range of places, in the order of arrival.
    ///
    /// Keys have no index. Keys are often random, so a commit of 1,000 items would write nearly every page of an index.
    /// The writer knows the keys of the collections that it writes to, and keeps them unique. The age is the time from
    /// a document's creation to its last write. It is mostly 0, which takes no space.
    private static let itemTables = [
        "CREATE TABLE collection(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, crc INTEGER NOT NULL) STRICT",
        """
        CREATE TABLE item(
            place INTEGER PRIMARY KEY, created INTEGER NOT NULL, age INTEGER NOT NULL, checksum INTEGER NOT NULL,
            key TEXT NOT NULL, document BLOB NOT NULL) STRICT
        """,
    ]
}
