internal import CSQLite
internal import RivuletSessions

/// The layout of the database file, and how a connection must be set.
enum SQLiteSchema {
    /// "RIVU", by which `file` and we know the database.
    static let applicationID: Int64 = 0x5249_5655
    /// The layout that this code reads and writes.
    static let version: Int64 = 6
    /// The size of a page that we ask for, in bytes.
    static let pageBytes = 4_096

    /// Makes the writing connection safe, and the tables where there are none.
    ///
    /// Source: <https://sqlite.org/pragma.html>
    static func prepareWriter(_ connection: SQLiteConnection, limits: SQLiteStorageLimits) throws(SQLiteError) {
        let found = try checkOrigin(of: connection)
        if found == nil {
            try connection.execute("PRAGMA page_size = \(pageBytes)")
            // Only before the first table.
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        let journal = try connection.text("PRAGMA journal_mode = WAL")
        guard journal == "wal" else {
            throw unsafeSetting("journal_mode is \(journal ?? "unknown"), not wal", connection)
        }
        for setting in [
            "synchronous = FULL", "secure_delete = ON", "wal_autocheckpoint = 0", "cell_size_check = ON",
            "trusted_schema = OFF", "temp_store = MEMORY", "cache_size = -64000", "journal_size_limit = 67108864",
        ] {
            try connection.execute("PRAGMA \(setting)")
        }
        if let bytes = limits.databaseBytesMax {
            let pageBytes = try connection.integer("PRAGMA page_size") ?? Int64(pageBytes)
            try connection.execute("PRAGMA max_page_count = \(max(1, Int64(bytes) / pageBytes))")
        }
        let synchronous = try connection.integer("PRAGMA synchronous")
        guard synchronous == 2 else {
            throw unsafeSetting("synchronous is \(synchronous ?? -1), not 2 (FULL)", connection)
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

    /// Whether every page of a database of this layout was written with `secure_delete` on, so that deleted text leaves the file.
    static func isSecured(_ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        try connection.integer("SELECT count(*) FROM secured") == 1
    }

    /// Whether deleted text leaves the file of a database, which another process may use; an empty one has no text.
    static func isSecured(at path: String, limits: SQLiteStorageLimits) throws(SQLiteError) -> Bool {
        let wait = limits.lockWaitMilliseconds
        let connection = try SQLiteConnection(path: path, access: .readOnly, lockWaitMilliseconds: wait)
        guard let layout = try checkOrigin(of: connection) else { return true }
        guard layout >= erasingLayout else { return false }
        return try isSecured(connection)
    }

    /// Notes that no page of the database has deleted text any more.
    static let noteSecured = "INSERT OR REPLACE INTO secured(one) VALUES (1)"

    /// The layout of a database; refuses one that is empty, not ours, or of a newer layout.
    static func readableLayout(of connection: SQLiteConnection) throws(SQLiteError) -> Int64 {
        if let layout = try checkOrigin(of: connection) { return layout }
        throw .refused(.unavailable(detail: "\(connection.path) is empty: no server has stored anything there"))
    }

    /// The file's layout, nil for an empty file; refuses one that is not ours or newer than we are.
    private static func checkOrigin(of connection: SQLiteConnection) throws(SQLiteError) -> Int64? {
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

    /// Makes the tables of an empty file (nil), or takes the steps from an older layout to this one; all or none.
    private static func bringUpToDate(_ connection: SQLiteConnection, from found: Int64?) throws(SQLiteError) {
        let statements = found.map(steps) ?? tables + [noteSecured]
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

    /// What leads from a layout to the present one.
    private static func steps(from found: Int64) -> [String] {
        // Layout 2 keeps answers in a table of their own, and does not look for commands in the log any more.
        (found < 2 ? answerTable + ["DROP INDEX log_sid_cmd"] : [])
            // Layout 3 keeps the items of stores beside the sessions.
            + (found < 3 ? itemTables : [])
            // Layout 4 keeps the log's index in a table, which is brought up to date now and then and not with every commit.
            + (found < 4 ? logIndexTables + ["DROP INDEX log_sid_v"] : [])
            // Layout 5 keeps what a migration's snapshot takes the place of.
            + (found < 5 ? [olderSnapshotTable] : [])
            // Layout 6 erases deleted sessions in steps. What older layouts deleted is in the file until it is vacuumed.
            + (found < 6 ? erasingTables : [])
    }

    private static let tables =
        [
            // AUTOINCREMENT: a sid is never used again, so it tells one life of a session from the next.
            """
            CREATE TABLE session(
                sid INTEGER PRIMARY KEY AUTOINCREMENT, app TEXT NOT NULL, id TEXT NOT NULL, epoch TEXT NOT NULL,
                created INTEGER NOT NULL, crc INTEGER NOT NULL, UNIQUE(app, id)) STRICT
            """,
            // Ordered by arrival, so that commits append.
            """
            CREATE TABLE log(
                seq INTEGER PRIMARY KEY, sid INTEGER NOT NULL, v INTEGER NOT NULL, time INTEGER NOT NULL,
                crc INTEGER NOT NULL, cmd TEXT, event BLOB NOT NULL, changes BLOB NOT NULL) STRICT
            """,
            """
            CREATE TABLE snapshot(
                row INTEGER PRIMARY KEY, sid INTEGER NOT NULL, v INTEGER NOT NULL, time INTEGER NOT NULL,
                schema INTEGER NOT NULL, enc INTEGER NOT NULL, bytes INTEGER NOT NULL, crc INTEGER NOT NULL,
                body BLOB NOT NULL, UNIQUE(sid, v)) STRICT
            """,
            "CREATE TABLE probe(one INTEGER PRIMARY KEY CHECK (one = 1), commits INTEGER NOT NULL) STRICT",
        ] + answerTable + itemTables + logIndexTables + [olderSnapshotTable] + erasingTables

    /// Beside the table of snapshots, not in it: another key there would copy every stored state.
    private static let olderSnapshotTable = """
        CREATE TABLE older_snapshot(
            row INTEGER PRIMARY KEY, sid INTEGER NOT NULL, v INTEGER NOT NULL, time INTEGER NOT NULL,
            schema INTEGER NOT NULL, enc INTEGER NOT NULL, bytes INTEGER NOT NULL, crc INTEGER NOT NULL,
            body BLOB NOT NULL, UNIQUE(sid, v)) STRICT
        """

    /// The index finds a session's entries up to a row of the log (`log_indexed`); those after it are read when a connection begins.
    private static let logIndexTables = [
        """
        CREATE TABLE log_index(
            sid INTEGER NOT NULL, v INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(sid, v)) STRICT, WITHOUT ROWID
        """,
        "INSERT INTO log_index(sid, v, seq) SELECT sid, v, seq FROM log ORDER BY sid, v",
        "CREATE TABLE log_indexed(one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT",
        "INSERT INTO log_indexed(one, seq) SELECT 1, coalesce(max(seq), 0) FROM log",
    ]

    /// The marks of deleted sessions whose rows are still to erase, and the note that deletions erase.
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

    /// The upper bits of a place are its collection's number, the lower ones count arrivals: a collection is one range, in its order.
    ///
    /// Keys have no index: they are random as often as not, and a commit of 1,000 would write nearly every page of it. The writer
    /// knows the keys of the collections that it writes to, and keeps them unique. The age is how long after its creation a document was
    /// written last: mostly 0, which takes no room.
    private static let itemTables = [
        "CREATE TABLE collection(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, crc INTEGER NOT NULL) STRICT",
        """
        CREATE TABLE item(
            place INTEGER PRIMARY KEY, created INTEGER NOT NULL, age INTEGER NOT NULL, checksum INTEGER NOT NULL,
            key TEXT NOT NULL, document BLOB NOT NULL) STRICT
        """,
    ]
}
