internal import RivuletCluster
internal import RivuletSessions
internal import RivuletStores

/// The check of a whole database, which lists all damage.
struct DatabaseVerifier {
    /// A line for each damage.
    private(set) var damages: [String] = []
    /// True if a damaged session has a name, so that the session can be deleted.
    private(set) var hasDamagedSessions = false
    /// The number of stored sessions.
    private(set) var sessionCount = 0
    /// The number of stored items and values.
    private(set) var itemCount = 0

    /// The maximum number of lines.
    ///
    /// All further damage together adds one line.
    private static let damagesMax = StructureCheck.linesMax

    private let connection: SQLiteConnection
    private let reader: SQLiteReader
    private let layout: Int64
    private let path: String
    /// True if the database is a node's copy of a cluster's data.
    private let isReplica: Bool

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
        isReplica = try ReplicaRow.cluster(in: connection, layout: layout) != nil
        reader = try SQLiteReader(
            path: path,
            limits: limits,
            queue: WorkQueue(requestsMax: 0, bytesMax: 0),
            checksOrigin: true
        ) { nil }
    }

    /// Checks the structure and the checksum of every row, reads every session, and checks that no version of a log is
    /// missing.
    mutating func verify() throws(SQLiteError) {
        let structure = try StructureCheck(connection)
        for line in structure.lines { add(line) }
        for sid in structure.unindexedSessions {
            if let key = try key(ofSession: sid) { add("session \(key): its name is not in the index", ofSession: key) }
        }
        // If the structure of tables is broken, a check of the rows gives no more information. An index that lacks rows
        // does not affect the check of the rows.
        guard structure.tables.isEmpty else { return }
        let path = path
        try verifyPart("the sessions") { (verifier) throws(SQLiteError) in try verifier.verifySessions() }
        try verifyPart("the log") { (verifier) throws(SQLiteError) in try verifier.verifyLog() }
        try verifyRows("SELECT \(LogRow.columns(of: layout)) FROM log l") { (row) throws(SQLiteError) in
            _ = try LogRow.entry(in: row, path: path)
        }
        for table in ["snapshot"] + (layout >= SQLiteSchema.olderSnapshotsLayout ? ["older_snapshot"] : []) {
            try verifyRows("SELECT \(SnapshotRow.columns) FROM \(table) NOT INDEXED") { (row) throws(SQLiteError) in
                guard try SnapshotRow(in: row, path: path).snapshot == nil else { return }
                throw .damaged(detail: "a snapshot cannot be unpacked", path: path)
            }
        }
        if layout >= 2 {
            try verifyRows("SELECT \(AnswerRow.columns) FROM answer NOT INDEXED") { (row) throws(SQLiteError) in
                _ = try AnswerRow.answer(in: row, path: path)
            }
        }
        if layout >= SQLiteSchema.callersLayout {
            try verifyPart("the counters") { (verifier) throws(SQLiteError) in try verifier.verifyCounters() }
        }
        if layout >= SQLiteSchema.itemsLayout {
            try verifyPart("the items") { (verifier) throws(SQLiteError) in try verifier.verifyItems() }
        }
        if isReplica { try verifyPosition() }
    }

    /// Runs one part of the check.
    ///
    /// A damaged page ends that part, and the next part continues.
    private mutating func verifyPart(
        _ name: String,
        _ body: (inout Self) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        do throws(SQLiteError) {
            try body(&self)
        } catch {
            guard error.isPageDamage else { throw error }
            add("\(name): \(error)")
        }
    }

    private mutating func verifySessions() throws(SQLiteError) {
        // The query does not use the index, which may lack rows.
        let rows = try SQLiteStatement("SELECT app, id FROM session NOT INDEXED ORDER BY app, id, sid", on: connection)
        var last: SessionKey?
        while try rows.step() {
            let key = SessionKey(app: rows.text(0), id: rows.text(1))
            sessionCount += 1
            if key == last { add("session \(key): two sessions have this name", ofSession: key) }
            last = key
            do throws(SQLiteError) {
                if try reader.load(key) == nil { add("session \(key): stored, but not found by name", ofSession: key) }
            } catch {
                try add(error, of: "session \(key)", key)
            }
        }
    }

    /// Compares the log with its index, and searches for gaps between versions.
    private mutating func verifyLog() throws(SQLiteError) {
        let gaps = try SQLiteStatement(
            "SELECT sid, min(v), max(v), count(DISTINCT v), count(*) FROM log NOT INDEXED GROUP BY sid",
            on: connection
        )
        while try gaps.step() {
            let (first, last, versions) = (gaps.integer(1), gaps.integer(2), gaps.integer(3))
            guard let key = try key(ofSession: gaps.integer(0)) else { continue }
            if versions != last - first + 1 {
                add(
                    "session \(key): of the versions \(first) to \(last) only \(versions) are in the log",
                    ofSession: key
                )
            }
            if gaps.integer(4) != versions { add("session \(key): two log entries have one version", ofSession: key) }
        }
        guard layout >= SQLiteSchema.logIndexLayout else { return }
        for (sql, text) in [
            (
                "SELECT DISTINCT i.sid FROM log_index i LEFT JOIN log l ON l.seq = i.seq AND l.sid = i.sid AND l.v = i.v "
                    + "WHERE l.seq IS NULL",
                "the index of the log has entries that the log lacks"
            ),
            (
                "SELECT DISTINCT l.sid FROM log l LEFT JOIN log_index i ON i.sid = l.sid AND i.v = l.v "
                    + "WHERE l.seq <= (SELECT seq FROM log_indexed) AND i.seq IS NULL",
                "the log has entries that its index lacks"
            ),
        ] {
            let rows = try SQLiteStatement(sql, on: connection)
            while try rows.step() {
                if let key = try key(ofSession: rows.integer(0)) { add("session \(key): \(text)", ofSession: key) }
            }
        }
    }

    /// Compares the counters of the apps with a quota with the sessions.
    private mutating func verifyCounters() throws(SQLiteError) {
        for app in try CountedApps.wrong(connection, isReplica: isReplica) {
            add("the counters of the app \(app) do not match its sessions")
        }
    }

    private mutating func verifyPosition() throws(SQLiteError) {
        do throws(SQLiteError) {
            _ = try ReplicaRow.position(of: .first, in: connection)
        } catch {
            try add(error, of: "the position in the cluster's log", nil)
        }
    }

    private mutating func verifyItems() throws(SQLiteError) {
        let collections = try SQLiteStatement("SELECT number, name, crc FROM collection NOT INDEXED", on: connection)
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

    /// Returns the name of a session; nil if the session is deleted.
    private func key(ofSession sid: Int64) throws(SQLiteError) -> SessionKey? {
        let row = try SQLiteStatement("SELECT app, id FROM session NOT INDEXED WHERE sid = \(sid)", on: connection)
        return try row.step() ? SessionKey(app: row.text(0), id: row.text(1)) : nil
    }

    /// Records damage.
    ///
    /// Any other failure ends the check.
    private mutating func add(_ error: SQLiteError, of name: String, _ key: SessionKey?) throws(SQLiteError) {
        // Damage that concerns no single session has no key.
        if case .corrupt(.some, _) = error.storageError(for: key) { hasDamagedSessions = true }
        guard case .damaged(let detail, _) = error else {
            guard case .corrupt(_, let detail) = error.storageError(for: nil) else { throw error }
            return add("\(name): \(detail)")
        }
        add("\(name): \(detail)")
    }

    private mutating func add(_ damage: String, ofSession key: SessionKey) {
        hasDamagedSessions = true
        add(damage)
    }

    private mutating func add(_ damage: String) {
        if damages.count < Self.damagesMax {
            // A session that cannot be read is listed once, not once for each of its rows.
            if !damages.contains(damage) { damages.append(damage) }
        } else if damages.count == Self.damagesMax {
            damages.append("and more")
        }
    }
}
