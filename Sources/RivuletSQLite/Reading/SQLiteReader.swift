internal import RivuletSessions
internal import RivuletStores

/// A read that waits for its turn; it gets the reader, or the reason why there is none.
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
    private let snapshotUpTo: SQLiteStatement
    /// Nil on a connection that only inspects: an older layout may have no answers.
    private let answers: AnswerStatements?
    /// Nil where the layout has none yet.
    private let items: ItemReader?
    private let summaries: SQLiteStatement
    private let fault: @Sendable () -> StorageError?
    /// Nil beside the writer of the same process.
    private let dataVersion: SQLiteStatement?
    private var lastDataVersion: Int64?

    /// Opens the database that the writer has made; `checksOrigin`: or another process, perhaps of another version.
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
        snapshotUpTo = try SQLiteStatement(
            "SELECT \(SnapshotRow.columns) FROM snapshot WHERE sid = ? AND v <= ? ORDER BY v DESC LIMIT 1",
            on: connection
        )
        dataVersion = checksOrigin ? try SQLiteStatement("PRAGMA data_version", on: connection) : nil
        answers = checksOrigin ? nil : try AnswerStatements(connection)
        items = layout < SQLiteSchema.itemsLayout ? nil : try ItemReader(connection, limits: limits)
        summaries = try SQLiteStatement(
            """
            SELECT s.sid, s.id, s.epoch, s.created, coalesce(p.v, 0), coalesce(p.time, s.created) FROM session s
                LEFT JOIN snapshot p ON p.sid = s.sid AND p.v = (SELECT max(v) FROM snapshot WHERE sid = s.sid)
                WHERE s.app = ? AND s.id > ? ORDER BY s.id LIMIT ?
            """,
            on: connection
        )
    }

    /// Answers reads until the queue is closed.
    func run() {
        while case .requests(let requests) = queue.take(idleMilliseconds: nil) {
            for request in requests {
                // After a failed write this connection may not see what a restart would find.
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
            // Without a snapshot version 0 is the app's default, but only if nothing was ever dropped.
            guard base != nil || retainedFrom == 1, version == start || start + 1 >= retainedFrom else { return nil }
            let entries = try contiguous(sid: row.sid, after: start, upTo: version)
            return StoredPast(snapshot: try base.map { (row) throws(SQLiteError) in try unpack(row) }, entries: entries)
        }
    }

    func keptAnswer(_ key: SessionKey, epoch: String, id: String) throws(SQLiteError) -> KeptAnswer? {
        try inOneView(ofLog: false) { () throws(SQLiteError) in
            guard let row = try finder.session(key), row.epoch == epoch else { return nil }
            return try answers?.answer(sid: row.sid, id: id)
        }
    }

    func keptAnswers(_ key: SessionKey, epoch: String, since time: Int64) throws(SQLiteError) -> KeptAnswersUsage {
        try inOneView(ofLog: false) { () throws(SQLiteError) in
            guard let row = try finder.session(key), row.epoch == epoch, let answers else {
                return KeptAnswersUsage(count: 0, byteCount: 0, oldest: nil)
            }
            return try answers.usage(sid: row.sid, since: time)
        }
    }

    func sessions(app: String, after id: String?, limit: Int) throws(SQLiteError) -> [SessionSummary] {
        try inOneView { () throws(SQLiteError) in
            defer { summaries.reset() }
            try summaries.bind(app, at: 1)
            try summaries.bind(id ?? "", at: 2)
            try summaries.bind(Int64(max(0, limit)), at: 3)
            var sessions: [SessionSummary] = []
            while try summaries.step() {
                let last = try finder.log.last(sid: summaries.integer(0))
                sessions.append(
                    SessionSummary(
                        id: summaries.text(1),
                        epoch: summaries.text(2),
                        version: UInt64(clamping: last?.version ?? summaries.integer(4)),
                        created: summaries.integer(3),
                        updated: last?.time ?? summaries.integer(5)
                    )
                )
            }
            return sessions
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
        let statement = try SQLiteStatement("SELECT DISTINCT app FROM session ORDER BY app", on: connection)
        var apps: [String] = []
        while try statement.step() { apps.append(statement.text(0)) }
        return apps
    }

    // MARK: - Parts

    /// Reads from one view; `ofLog`: one that the log belongs to.
    private func inOneView<Value>(
        ofLog: Bool = true,
        _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
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
            // Of the two the first failure says more.
            do throws(SQLiteError) { try endView() } catch {}
            throw error
        }
    }

    private func endView() throws(SQLiteError) {
        defer { end.reset() }
        // An error may have ended the transaction already.
        if connection.isInTransaction { try end.step() }
    }

    /// Reads what the log has got since the last view.
    private func seeTheLog() throws(SQLiteError) {
        if let dataVersion {
            // The server beside this process may have been started anew, and may count rows from a smaller number: all is read again.
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
        defer { snapshotUpTo.reset() }
        try snapshotUpTo.bind(sid, at: 1)
        try snapshotUpTo.bind(Int64(clamping: version), at: 2)
        return try snapshotUpTo.step() ? try SnapshotRow(in: snapshotUpTo, path: connection.path) : nil
    }

    private func unpack(_ row: SnapshotRow) throws(SQLiteError) -> StateSnapshot {
        guard let snapshot = row.snapshot else {
            let detail = "the snapshot of version \(row.version) is packed in a way that this server does not know"
            throw .damaged(detail: detail, path: connection.path)
        }
        return snapshot
    }

    private func time(of version: UInt64, sid: Int64) throws(SQLiteError) -> Int64? {
        guard version > 0 else { return nil }
        return try entries(sid: sid, after: version - 1, upTo: version, limit: 1, bytesMax: 0).last?.time
    }

    /// All entries of a range, none of which may be missing.
    private func contiguous(sid: Int64, after version: UInt64, upTo last: UInt64) throws(SQLiteError) -> [LogEntry] {
        let entries = try entries(sid: sid, after: version, upTo: last, limit: .max, bytesMax: .max)
        guard UInt64(entries.count) == last - version else {
            let detail = "log entries of versions \(version + 1) to \(last) are missing"
            throw .damaged(detail: detail, path: connection.path)
        }
        return entries
    }

    /// Entries of a range, at least one where there is one, each right after the one before.
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
