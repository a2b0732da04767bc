internal import RivuletSessions

/// The rebuild of a database: all rows are copied into a new file, and all indexes are built from these rows.
///
/// If two rows have the same name, the older row keeps the name. The newer row's name gets a suffix with the row's
/// number, such as `-repaired-17`.
struct DatabaseRebuild {
    /// The path of the new database, until it replaces the old one.
    let target: String
    /// A line for each step.
    private(set) var lines: [String] = []
    /// True if indexes are damaged or names occur twice.
    let isNeeded: Bool

    private let connection: SQLiteConnection
    private let path: String

    /// A table with rows that have unique names.
    fileprivate struct NamedTable: Sendable {
        let table: String
        let number: String
        /// The index of the names.
        let index: String
        /// The columns that are unique together, with the name last.
        let key: [String]
        let columns: [String]
        /// The checksum of a row with a changed name.
        let checksum: @Sendable (_ row: SQLiteStatement, _ name: String) -> Int64
    }

    /// Opens the database and searches it for damage.
    ///
    /// - Throws: `.corrupt` if tables are damaged, or if an index has rows that its table lacks.
    init(of path: String) throws(SQLiteError) {
        self.path = path
        target = DataFolder.vacuumPath(of: path)
        let limits = SQLiteStorageLimits()
        connection = try SQLiteConnection(
            path: path,
            access: .readWriteCreate,
            lockWaitMilliseconds: limits.lockWaitMilliseconds
        )
        try SQLiteSchema.prepareWriter(connection, limits: limits, for: .maintenance)
        try connection.checkpoint(.truncate, waitingMilliseconds: limits.lockWaitMilliseconds)
        let structure = try StructureCheck(connection)
        guard structure.tables.isEmpty else { throw Self.damaged(path, structure.tables.joined(separator: "; ")) }
        var hasDoubles = false
        for table in Self.namedTables {
            // A covering index still has the rows that a damaged table lacks. An index that cannot be read gives no
            // result.
            let lost = try Self.unlessDamaged(
                connection,
                """
                SELECT count(*) FROM (SELECT \(table.number) AS n FROM \(table.table) INDEXED BY \(table.index)
                    ORDER BY \(table.key.joined(separator: ", "))) WHERE n NOT IN (SELECT \(table.number) FROM \(table.table) NOT INDEXED)
                """
            )
            guard lost ?? 0 == 0 else {
                throw Self.damaged(path, "the table \(table.table) lacks rows that its index has")
            }
            let double = try connection.integer("SELECT 1 FROM (\(table.ranked)) WHERE rank > 1 LIMIT 1")
            if double != nil { hasDoubles = true }
        }
        let hasRightLogIndex = try Self.unlessDamaged(connection, Self.wrongLogIndex) == 0
        let hasRightCounters = try CountedApps.wrong(connection, isReplica: false).isEmpty
        isNeeded = !structure.indexes.isEmpty || hasDoubles || !hasRightLogIndex || !hasRightCounters
    }

    /// Writes the new database, durably.
    mutating func write() throws(StorageError) {
        do throws(SQLiteError) {
            let wait = SQLiteStorageLimits().lockWaitMilliseconds
            let copy = try SQLiteConnection(path: target, access: .readWriteCreate, lockWaitMilliseconds: wait)
            try SQLiteSchema.prepareWriter(copy, limits: SQLiteStorageLimits(), for: .maintenance)
        } catch {
            throw error.storageError(for: nil)
        }
        do throws(SQLiteError) {
            let quoted = target.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
            try connection.execute("ATTACH '\(quoted)' AS repaired")
            try connection.execute("BEGIN IMMEDIATE")
            try copyRows()
            try connection.execute("COMMIT")
            _ = try connection.integer("PRAGMA repaired.wal_checkpoint(TRUNCATE)")
            try connection.execute("DETACH repaired")
            guard try connection.text("PRAGMA journal_mode = DELETE") == "delete" else {
                throw .refused(.unavailable(detail: "another program reads \(path): wait for its end, then try again"))
            }
        } catch {
            throw error.storageError(for: nil)
        }
        try WritePacer(target).sync()
    }

    // MARK: - Parts

    private mutating func copyRows() throws(SQLiteError) {
        let named = Dictionary(uniqueKeysWithValues: Self.namedTables.map { ($0.table, $0) })
        let names = try SQLiteStatement(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
            on: connection
        )
        var rows: Int64 = 0
        while try names.step() {
            let name = names.text(0)
            if ["log_index", "log_indexed"].contains(name) { continue }
            try connection.execute("DELETE FROM repaired.\(name)")
            if let table = named[name] {
                try copy(table)
            } else {
                // The columns are named, because an updated database may have them in another order than a new one.
                let columns = try connection.text("SELECT group_concat(name) FROM pragma_table_info('\(name)')") ?? ""
                // Without the condition, SQLite would copy the pages of the indexes too, and not build new indexes.
                try connection.execute(
                    "INSERT INTO repaired.\(name)(\(columns)) SELECT \(columns) FROM main.\(name) NOT INDEXED WHERE rowid IS NOT NULL"
                )
            }
            rows += try connection.integer("SELECT count(*) FROM repaired.\(name)") ?? 0
        }
        for statement in [
            "INSERT INTO repaired.log_index(sid, v, seq) SELECT sid, v, min(seq) FROM main.log NOT INDEXED GROUP BY sid, v",
            "UPDATE repaired.log_indexed SET seq = (SELECT coalesce(max(seq), 0) FROM main.log NOT INDEXED)",
            // The numbers of deleted sessions are never used again.
            "DELETE FROM repaired.sqlite_sequence",
            "INSERT INTO repaired.sqlite_sequence SELECT * FROM main.sqlite_sequence",
        ] {
            try connection.execute(statement)
        }
        let counted = Set(try CountedApps.names(connection, in: "repaired"))
        try connection.execute("DELETE FROM repaired.usage")
        try connection.execute("UPDATE repaired.session SET bytes = NULL WHERE bytes IS NOT NULL")
        try CountedApps.count(counted, in: "repaired", on: connection)
        lines.insert(
            "\(path) was written anew: all indexes are built from its rows (\(rows)), and no row was deleted",
            at: 0
        )
    }

    private mutating func copy(_ table: NamedTable) throws(SQLiteError) {
        let columns = table.columns.joined(separator: ", ")
        try connection.execute(
            "INSERT INTO repaired.\(table.table)(\(columns)) SELECT \(columns) FROM (\(table.ranked)) WHERE rank = 1"
        )
        let doubles = try SQLiteStatement("SELECT \(columns) FROM (\(table.ranked)) WHERE rank > 1", on: connection)
        let name = table.key.last ?? ""
        let renamed = table.columns.map { $0 == name ? "?2" : $0 == "crc" ? "?3" : $0 }.joined(separator: ", ")
        let copy = try SQLiteStatement(
            """
            INSERT INTO repaired.\(table.table)(\(columns)) SELECT \(renamed)
                FROM main.\(table.table) NOT INDEXED WHERE \(table.number) = ?1
            """,
            on: connection
        )
        while try doubles.step() {
            let number = doubles.integer(0)
            let column = table.columns.firstIndex(of: name) ?? 0
            let old = doubles.text(Int32(column))
            let new = "\(old)-repaired-\(number)"
            try copy.bind(number, at: 1)
            try copy.bind(new, at: 2)
            try copy.bind(table.checksum(doubles, new), at: 3)
            try copy.step()
            copy.reset()
            lines.append(
                "\(path): two rows of the table \(table.table) had the name \(old); the newer row has the name \(new) now"
            )
        }
    }

    private static let wrongLogIndex = """
        SELECT EXISTS (SELECT 1 FROM log_index i LEFT JOIN log l ON l.seq = i.seq AND l.sid = i.sid AND l.v = i.v
                WHERE l.seq IS NULL)
            OR EXISTS (SELECT 1 FROM log l LEFT JOIN log_index i ON i.sid = l.sid AND i.v = l.v
                WHERE l.seq <= (SELECT seq FROM log_indexed) AND i.seq IS NULL)
        """

    /// Returns the number that a query gives; nil if a page that the query reads is damaged.
    private static func unlessDamaged(_ connection: SQLiteConnection, _ sql: String) throws(SQLiteError) -> Int64? {
        do throws(SQLiteError) {
            return try connection.integer(sql)
        } catch {
            guard error.isPageDamage else { throw error }
            return nil
        }
    }

    private static func damaged(_ path: String, _ detail: String) -> SQLiteError {
        .refused(
            .corrupt(
                nil,
                detail: "\(path): \(detail); tables are damaged, which a repair cannot undo. Nothing was changed"
            )
        )
    }

    private static let namedTables: [NamedTable] = [
        NamedTable(
            table: "session",
            number: "sid",
            index: "sqlite_autoindex_session_1",
            key: ["app", "id"],
            columns: ["sid", "app", "id", "epoch", "created", "crc", "owner", "bytes"]
        ) { row, name in
            let key = SessionKey(app: row.text(1), id: name)
            let session = SessionRow(
                sid: row.integer(0),
                key: key,
                epoch: row.text(3),
                created: row.integer(4),
                owner: row.isNull(6) ? nil : row.text(6)
            )
            return session.checksum
        },
        NamedTable(
            table: "collection",
            number: "number",
            index: "sqlite_autoindex_collection_1",
            key: ["name"],
            columns: ["number", "name", "crc"]
        ) { row, name in
            CollectionFinder.checksum(of: name, row.integer(0))
        },
        NamedTable(
            table: "answer",
            number: "row",
            index: "sqlite_autoindex_answer_1",
            key: ["sid", "id"],
            columns: ["row", "sid", "id", "time", "crc", "print", "body"]
        ) { row, name in
            AnswerRow.checksum(
                of: IdempotencyRecord(id: name, time: row.integer(3), fingerprint: row.bytes(5), body: row.bytes(6)),
                sid: row.integer(1)
            )
        },
    ]
}

extension DatabaseRebuild.NamedTable {
    /// A query of the rows with their rank among the rows of the same name, oldest first.
    fileprivate var ranked: String {
        "SELECT *, row_number() OVER (PARTITION BY \(key.joined(separator: ", ")) ORDER BY \(number)) AS rank "
            + "FROM main.\(table) NOT INDEXED"
    }
}
