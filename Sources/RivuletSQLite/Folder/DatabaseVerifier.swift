internal import RivuletSessions
internal import RivuletStores

/// Reads a whole database, and names what of it is damaged.
struct DatabaseVerifier {
    /// What is damaged, a line each.
    private(set) var damages: [String] = []
    /// Whether some damage is that of a session with a name, which can be deleted.
    private(set) var hasDamagedSessions = false
    /// The sessions that are stored.
    private(set) var sessionCount = 0
    /// The items of stores and the values that are stored.
    private(set) var itemCount = 0

    /// The lines that are gathered; more damage is only counted as one line.
    private static let damagesMax = 100

    private let connection: SQLiteConnection
    private let reader: SQLiteReader
    private let layout: Int64
    private let path: String

    init(path: String) throws(SQLiteError) {
        self.path = path
        let limits = SQLiteStorageLimits()
        connection = try SQLiteConnection(
            path: path,
            access: .readOnly,
            lockWaitMilliseconds: limits.lockWaitMilliseconds
        )
        try SQLiteSchema.prepareReader(connection)
        layout = try SQLiteSchema.readableLayout(of: connection)
        reader = try SQLiteReader(
            path: path,
            limits: limits,
            queue: WorkQueue(requestsMax: 0, bytesMax: 0),
            checksOrigin: true
        ) { nil }
    }

    /// Checks the structure, the checksum of every row, and that every session can be read.
    mutating func verify() throws(SQLiteError) {
        let check = try SQLiteStatement("PRAGMA integrity_check(\(Self.damagesMax))", on: connection)
        while try check.step() {
            if check.text(0) != "ok" { add(check.text(0)) }
        }
        // Rows of a broken structure say nothing more.
        guard damages.isEmpty else { return }
        let path = path
        try verifySessions()
        try verifyRows("SELECT \(LogRow.columns) FROM log l") { (row) throws(SQLiteError) in
            _ = try LogRow.entry(in: row, path: path)
        }
        for table in ["snapshot"] + (layout >= SQLiteSchema.olderSnapshotsLayout ? ["older_snapshot"] : []) {
            try verifyRows("SELECT \(SnapshotRow.columns) FROM \(table)") { (row) throws(SQLiteError) in
                guard try SnapshotRow(in: row, path: path).snapshot == nil else { return }
                throw .damaged(detail: "a snapshot cannot be unpacked", path: path)
            }
        }
        if layout >= 2 {
            try verifyRows("SELECT \(AnswerRow.columns) FROM answer") { (row) throws(SQLiteError) in
                _ = try AnswerRow.answer(in: row, path: path)
            }
        }
        if layout >= SQLiteSchema.itemsLayout { try verifyItems() }
    }

    private mutating func verifySessions() throws(SQLiteError) {
        let rows = try SQLiteStatement("SELECT app, id FROM session ORDER BY app, id", on: connection)
        while try rows.step() {
            let key = SessionKey(app: rows.text(0), id: rows.text(1))
            sessionCount += 1
            do throws(SQLiteError) {
                _ = try reader.load(key)
            } catch {
                try add(error, of: "session \(key)", key)
            }
        }
    }

    private mutating func verifyItems() throws(SQLiteError) {
        let collections = try SQLiteStatement("SELECT number, name, crc FROM collection", on: connection)
        while try collections.step() {
            let (number, name) = (collections.integer(0), collections.text(1))
            if CollectionFinder.checksum(of: name, number) != collections.integer(2) {
                add("collection \(number) fails its checksum")
            }
        }
        let rows = try SQLiteStatement("SELECT \(ItemRow.columns) FROM item", on: connection)
        while try rows.step() {
            itemCount += 1
            var contents = StoredCollection()
            var keys: StoredKeys.Gathering?
            ItemRow.read(rows, into: &contents, &keys)
            for damage in contents.damaged { add("item \(damage.key ?? "without a key"): \(damage.detail)") }
        }
    }

    private mutating func verifyRows(
        _ sql: String,
        _ body: (SQLiteStatement) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let rows = try SQLiteStatement(sql, on: connection)
        while try rows.step() {
            do throws(SQLiteError) {
                try body(rows)
            } catch {
                let key = try key(ofSession: rows.integer(0))
                try add(error, of: key.map { "session \($0)" } ?? "a deleted session", key)
            }
        }
    }

    /// The name of a session; nil: it is deleted.
    private func key(ofSession sid: Int64) throws(SQLiteError) -> SessionKey? {
        let row = try SQLiteStatement("SELECT app, id FROM session WHERE sid = \(sid)", on: connection)
        return try row.step() ? SessionKey(app: row.text(0), id: row.text(1)) : nil
    }

    /// Notes damage; any other failure ends the check.
    private mutating func add(_ error: SQLiteError, of name: String, _ key: SessionKey?) throws(SQLiteError) {
        // Damage of the store as a whole has no key.
        if case .corrupt(.some, _) = error.storageError(for: key) { hasDamagedSessions = true }
        guard case .damaged(let detail, _) = error else {
            guard case .corrupt(_, let detail) = error.storageError(for: nil) else { throw error }
            return add("\(name): \(detail)")
        }
        add("\(name): \(detail)")
    }

    private mutating func add(_ damage: String) {
        if damages.count < Self.damagesMax {
            // A session that cannot be read is named once, not again for each of its rows.
            if !damages.contains(damage) { damages.append(damage) }
        } else if damages.count == Self.damagesMax {
            damages.append("and more")
        }
    }
}
