internal import RivuletSessions
internal import RivuletStores

/// A read that waits for its turn; it receives the reader, or an error.
typealias ReadRequest = @Sendable (Result<SQLiteReader, StorageError>) -> Void

/// The reading connection and its thread's function.
final class SQLiteReader {
    private let queue: WorkQueue<ReadRequest>
    private let limits: SQLiteStorageLimits
    private let connection: SQLiteConnection
    private let finder: SessionFinder
    private let snapshots: SnapshotFinder
    private let begin: SQLiteStatement
    private let end: SQLiteStatement
    private let snapshotUpTo: SQLiteLookup
    /// The reads of idempotency records; nil on a connection that only inspects, because an older layout may have none.
    private let answers: AnswerStatements?
    /// The reads of stores and values; nil if the layout has no items yet.
    private let items: ItemReader?
    private let summaries: SQLiteLookup
    /// The list of one owner's sessions; nil if the layout has no owners yet.
    private let ownedSummaries: SQLiteLookup?
    private let newestMark: SQLiteLookup
    private let fault: @Sendable () -> StorageError?
    /// The query for SQLite's data version; nil if the writer is in the same process.
    private let dataVersion: SQLiteStatement?
    private var lastDataVersion: Int64?

    /// Opens the writer's database; with `checksOrigin`, a database that another process may use, perhaps with an older
    /// layout.
    init(
        path: String,
        limits: SQLiteStorageLimits,
        queue: WorkQueue<ReadRequest>,
        checksOrigin: Bool = false,
        fault: @escaping @Sendable () -> StorageError?
    ) throws(SQLiteError) {
        self.queue = queue
        self.limits = limits
        self.fault = fault
        connection = try SQLiteConnection(
            path: path,
            access: .readOnly,
            lockWaitMilliseconds: limits.lockWaitMilliseconds
        )
        try SQLiteSchema.prepareReader(connection)
        let layout = checksOrigin ? try SQLiteSchema.readableLayout(of: connection) : SQLiteSchema.version
        finder = try SessionFinder(connection, layout: layout)
        snapshots = try SnapshotFinder(connection, layout: layout)
        begin = try SQLiteStatement("BEGIN", on: connection)
        end = try SQLiteStatement("COMMIT", on: connection)
        snapshotUpTo = try SQLiteLookup(on: connection) {
            "SELECT \(SnapshotRow.columns) FROM snapshot\($0) WHERE sid = ? AND v <= ? ORDER BY v DESC LIMIT 1"
        }
        dataVersion = checksOrigin ? try SQLiteStatement("PRAGMA data_version", on: connection) : nil
        answers = checksOrigin ? nil : try AnswerStatements(connection)
        items = layout < SQLiteSchema.itemsLayout ? nil : try ItemReader(connection, limits: limits)
        summaries = try SQLiteLookup(on: connection) {
            "SELECT sid, id, epoch, created FROM session\($0) WHERE app = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
        }
        let hasOwners = layout >= SQLiteSchema.callersLayout
        ownedSummaries =
            !hasOwners
            ? nil
            : try SQLiteLookup(on: connection) {
                """
                SELECT sid, id, epoch, created FROM session\($0) WHERE app = ?1 AND owner = ?4 AND id > ?2 ORDER BY id
                    LIMIT ?3
                """
            }
        newestMark = try SQLiteLookup(on: connection) {
            "SELECT v, time FROM snapshot\($0) WHERE sid = ? ORDER BY v DESC LIMIT 1"
        }
    }

    /// Answers reads until the queue is closed.
    func run() {
        while case .requests(let requests) = queue.take(idleMilliseconds: nil) {
            for request in requests {
                // After a failed write, this connection may see other data than a restart would find.
                if let fault = fault() { request(.failure(fault)) } else { request(.success(self)) }
                queue.finish(1, byteCount: 0)
            }
        }
    }

    // MARK: - Reads

    func load(_ key: SessionKey) throws(SQLiteError) -> StoredSession? {
        try inOneView { () throws(SQLiteError) in
            guard let row = try finder.session(key) else { return nil }
            let head = try finder.versions(sid: row.sid).head
            let stored = try snapshot(sid: row.sid, upTo: head)
            let snapshot = try stored.map { (row) throws(SQLiteError) in try unpack(row) }
            let tail = try contiguous(sid: row.sid, after: snapshot?.version ?? 0, upTo: head)
            var updated = tail.last?.time
            if updated == nil { updated = try time(of: head, sid: row.sid) }
            return StoredSession(
                head: SessionHead(epoch: row.epoch, version: head, token: UInt64(bitPattern: row.sid)),
                created: row.created,
                updated: updated ?? stored?.time ?? row.created,
                snapshot: snapshot,
                tail: tail,
                retained: try finder.retained(sid: row.sid, head: head)
            )
        }
    }

    func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int
    ) throws(SQLiteError) -> [LogEntry]? {
        try inOneView { () throws(SQLiteError) in
            guard let row = try finder.session(key), row.epoch == epoch else { return nil }
            let (retainedFrom, head) = try finder.versions(sid: row.sid)
            guard version <= head, version == head || version + 1 >= retainedFrom else { return nil }
            let bytesMax = limits.historyBytesMax
            return try entries(sid: row.sid, after: version, upTo: head, limit: max(1, limit), bytesMax: bytesMax)
        }
    }

    func past(_ key: SessionKey, epoch: String, at version: UInt64) throws(SQLiteError) -> StoredPast? {
        try inOneView { () throws(SQLiteError) in
            guard let row = try finder.session(key), row.epoch == epoch else { return nil }
            let (retainedFrom, head) = try finder.versions(sid: row.sid)
            guard version <= head else { return nil }
            let mark = try snapshots.marks(sid: row.sid).base(of: version)
            let base = try mark.flatMap { (mark) throws(SQLiteError) in try snapshots.snapshot(mark, sid: row.sid) }
            let start = base?.version ?? 0
            // Without a snapshot, the entries are applied to the app's default state. Then no entry may be missing.
            guard base != nil || retainedFrom == 1, version == start || start + 1 >= retainedFrom else { return nil }
            let entries = try contiguous(sid: row.sid, after: start, upTo: version)
            return StoredPast(snapshot: try base.map { (row) throws(SQLiteError) in try unpack(row) }, entries: entries)
        }
    }

    func idempotencyRecord(_ key: SessionKey, epoch: String, id: String) throws(SQLiteError) -> IdempotencyRecord? {
        try inOneView(ofLog: false) { () throws(SQLiteError) in
            guard let row = try finder.session(key), row.epoch == epoch else { return nil }
            return try answers?.answer(sid: row.sid, id: id)
        }
    }

    func idempotencyRecords(_ key: SessionKey, epoch: String, since time: Int64) throws(SQLiteError) -> IdempotencyUsage
    {
        try inOneView(ofLog: false) { () throws(SQLiteError) in
            guard let row = try finder.session(key), row.epoch == epoch, let answers else {
                return IdempotencyUsage(count: 0, byteCount: 0, oldest: nil)
            }
            return try answers.usage(sid: row.sid, since: time)
        }
    }

    func sessions(
        app: String,
        owner: String? = nil,
        after id: String?,
        limit: Int
    ) throws(SQLiteError) -> [SessionSummary] {
        var damaged: Set<Int64> = []
        while true {
            var current: Int64?
            do throws(SQLiteError) {
                return try inOneView { () throws(SQLiteError) in
                    try list(app: app, owner: owner, after: id, limit: limit, damaged: damaged) { current = $0 }
                }
            } catch {
                // If a page of a session's log fails, the list is made again without a read of this session's log.
                guard error.isPageDamage, let sid = current, damaged.insert(sid).inserted else { throw error }
            }
        }
    }

    func items(
        of collection: String,
        withKeys: Bool
    ) throws(SQLiteError) -> (contents: StoredCollection, keys: StoredKeys?) {
        try inOneView(ofLog: false) { () throws(SQLiteError) in
            try items?.items(of: collection, withKeys: withKeys) ?? (StoredCollection(), nil)
        }
    }

    func keys(of collection: String) throws(SQLiteError) -> StoredKeys? {
        try inOneView(ofLog: false) { () throws(SQLiteError) in try items?.keys(of: collection) }
    }

    func apps() throws(SQLiteError) -> [String] {
        let names = try SQLiteLookup(on: connection) { "SELECT DISTINCT app FROM session\($0) ORDER BY app" }
        return try inOneView(ofLog: false) { () throws(SQLiteError) in
            try names.read { (row) throws(SQLiteError) in
                var apps: [String] = []
                while try row.step() { apps.append(row.text(0)) }
                return apps
            }
        }
    }

    // MARK: - Parts

    /// Runs a closure in one read transaction, so that it sees one view of the database.
    ///
    /// With `ofLog`, the new entries of the log are read first. If a page of an index fails, the closure runs again
    /// without that index.
    private func inOneView<Value>(
        ofLog: Bool = true,
        _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        defer { connection.detours.end() }
        while true {
            do throws(SQLiteError) {
                return try once(ofLog: ofLog, body)
            } catch {
                if finder.log.needsSalvage {
                    try finder.log.salvage()
                } else if !connection.detours.takeNew() {
                    throw error
                }
            }
        }
    }

    private func once<Value>(ofLog: Bool, _ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        do {
            defer { begin.reset() }
            try begin.step()
        }
        do throws(SQLiteError) {
            if ofLog { try seeTheLog() }
            let value = try body()
            try endView()
            return value
        } catch {
            // The first of both errors is more informative.
            do throws(SQLiteError) { try endView() } catch {}
            throw error
        }
    }

    private func endView() throws(SQLiteError) {
        defer { end.reset() }
        // An error may have ended the transaction already.
        if connection.isInTransaction { try end.step() }
    }

    /// Reads the new entries of the log since the last view.
    private func seeTheLog() throws(SQLiteError) {
        if let dataVersion {
            // The server in the other process may have restarted, and may number rows from a smaller number. So all
            // unindexed entries are read again.
            defer { dataVersion.reset() }
            try dataVersion.step()
            let version = dataVersion.integer(0)
            guard version != lastDataVersion else { return }
            finder.log.forget()
            try finder.log.refresh()
            lastDataVersion = version
        } else {
            try finder.log.refresh()
        }
    }

    private func snapshot(sid: Int64, upTo version: UInt64) throws(SQLiteError) -> SnapshotRow? {
        try snapshotUpTo.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.bind(Int64(clamping: version), at: 2)
            return try row.step() ? try SnapshotRow(in: row, path: connection.path) : nil
        }
    }

    private func list(
        app: String,
        owner: String?,
        after id: String?,
        limit: Int,
        damaged: Set<Int64>,
        _ willRead: (_ sid: Int64) -> Void
    ) throws(SQLiteError) -> [SessionSummary] {
        guard let list = owner == nil ? summaries : ownedSummaries else { return [] }
        return try list.read { (row) throws(SQLiteError) in
            try row.bind(app, at: 1)
            try row.bind(id ?? "", at: 2)
            try row.bind(Int64(max(0, limit)), at: 3)
            if let owner { try row.bind(owner, at: 4) }
            var sessions: [SessionSummary] = []
            while try row.step() {
                let (sid, created) = (row.integer(0), row.integer(3))
                willRead(sid)
                let (version, updated) = try head(sid: sid, created: created, isDamaged: damaged.contains(sid))
                let (id, epoch) = (row.text(1), finder.epoch(row.text(2), sid: sid))
                sessions.append(
                    SessionSummary(id: id, epoch: epoch, version: version, created: created, updated: updated)
                )
            }
            return sessions
        }
    }

    /// Returns the version and the time of a session's last entry, or of its newest snapshot.
    ///
    /// If the session has a damaged entry, these are the last known version and time.
    private func head(
        sid: Int64,
        created: Int64,
        isDamaged: Bool
    ) throws(SQLiteError) -> (version: UInt64, updated: Int64) {
        if !isDamaged, let last = try finder.log.last(sid: sid) { return (UInt64(clamping: last.version), last.time) }
        let known = isDamaged ? try finder.log.newestVersion(sid: sid) : nil
        return try newestMark.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            let (version, updated) = try row.step() ? (row.integer(0), row.integer(1)) : (0, created)
            return (UInt64(clamping: max(version, known ?? 0)), updated)
        }
    }

    private func unpack(_ row: SnapshotRow) throws(SQLiteError) -> StateSnapshot {
        guard let snapshot = row.snapshot else {
            let detail = "the snapshot of version \(row.version) has an encoding that this server does not know"
            throw .damaged(detail: detail, path: connection.path)
        }
        return snapshot
    }

    private func time(of version: UInt64, sid: Int64) throws(SQLiteError) -> Int64? {
        guard version > 0 else { return nil }
        return try entries(sid: sid, after: version - 1, upTo: version, limit: 1, bytesMax: 0).last?.time
    }

    /// Returns all entries of a range; throws if one is missing.
    private func contiguous(sid: Int64, after version: UInt64, upTo last: UInt64) throws(SQLiteError) -> [LogEntry] {
        let entries = try entries(sid: sid, after: version, upTo: last, limit: .max, bytesMax: .max)
        guard UInt64(entries.count) == last - version else {
            let detail = "log entries of versions \(version + 1) to \(last) are missing"
            throw .damaged(detail: detail, path: connection.path)
        }
        return entries
    }

    /// Returns contiguous entries of a range within the limits, but at least one if there is any.
    private func entries(
        sid: Int64,
        after version: UInt64,
        upTo last: UInt64,
        limit: Int,
        bytesMax: Int
    ) throws(SQLiteError) -> [LogEntry] {
        var entries: [LogEntry] = []
        var bytes = 0
        try finder.log.read(sid: sid, after: Int64(clamping: version), upTo: Int64(clamping: last)) { entry in
            bytes += entry.byteCount
            guard bytes <= bytesMax || entries.isEmpty else { return false }
            entries.append(entry)
            return entries.count < limit
        }
        guard entries.all(followFrom: version) else {
            throw .damaged(detail: "log entries after version \(version) are missing", path: connection.path)
        }
        return entries
    }
}
