internal import RivuletBase
internal import RivuletSessions

/// The writes of the storage contract on one connection; each runs inside a transaction that the caller owns.
struct WriteStatements {
    let finder: SessionFinder
    private let insertSession: SQLiteStatement
    private let insertAnswer: SQLiteStatement
    private let dropOldAnswers: SQLiteLookup
    private let snapshots: SnapshotFinder
    private let insertSnapshot: SQLiteStatement
    private let dropReplacedSnapshot: SQLiteStatement
    private let keepOlderSnapshot: SQLiteStatement
    private let timeOfSnapshot: SQLiteLookup
    private let dropSnapshots: SQLiteStatement
    private let dropOlderSnapshots: SQLiteStatement
    private let deleteSession: SQLiteStatement
    private let lastSID: SQLiteStatement
    private let countProbe: SQLiteStatement
    private let headsMax: Int
    /// The counters of the apps with a quota; nil if no app has one.
    let counters: SessionCounters?

    /// The position of a replica; nil if the database is not one.
    var replica: ReplicaStatements?

    /// The writes to stores and values.
    var items: ItemStatements
    /// The erasure of deleted sessions.
    var erasing: EraseStatements
    /// True if the current transaction removed or replaced data; the files have that data until the log is truncated.
    var removes = false

    var log: LogStatements

    /// The heads by sid, as of the last read or write of this connection; also valid inside the current transaction.
    private var heads: [Int64: Head] = [:]

    /// The head of a session; an object, because most writes read a head and change its version.
    private final class Head {
        let key: SessionKey
        let epoch: String
        let created: Int64
        let owner: String?
        var version: UInt64

        init(key: SessionKey, epoch: String, created: Int64, owner: String?, version: UInt64) {
            self.key = key
            self.epoch = epoch
            self.created = created
            self.owner = owner
            self.version = version
        }
    }

    init(
        _ connection: SQLiteConnection,
        limits: SQLiteStorageLimits,
        sharedKeys: SharedKeys,
        quotas: [String: StorageQuota] = [:],
        isReplica: Bool = false
    ) throws(SQLiteError) {
        counters = try SessionCounters(connection, quotas: quotas, isReplica: isReplica)
        replica = isReplica ? try ReplicaStatements(connection, sidsMax: limits.headsRememberedMax) : nil
        headsMax = limits.headsRememberedMax
        items = try ItemStatements(connection, limits: limits, sharedKeys: sharedKeys, isReplica: isReplica)
        finder = try SessionFinder(connection, layout: SQLiteSchema.version)
        snapshots = try SnapshotFinder(connection, layout: SQLiteSchema.version)
        log = try LogStatements(connection, finder: finder.log)
        erasing = try EraseStatements(connection, finder: finder.log, stepBytesMax: limits.eraseStepBytesMax)
        insertSession = try SQLiteStatement(
            "INSERT INTO session(sid, app, id, epoch, created, crc, owner) VALUES (?, ?, ?, ?, ?, ?, ?)",
            on: connection
        )
        insertAnswer = try SQLiteStatement(AnswerRow.insertion, on: connection)
        // Each new record deletes a few old records of any session. So the number of records stays bounded, and no
        // append waits for many deletions. If the index of times is damaged, the old records stay, because no dispatch
        // should wait for a search of the whole table.
        dropOldAnswers =
            try isReplica
            ? ReplicaStatements.dropOldAnswers(on: connection)
            : SQLiteLookup(
                "DELETE FROM answer WHERE row IN (SELECT row FROM answer WHERE time < ? ORDER BY time LIMIT ?)",
                byTable: "SELECT ?, ?",
                .small,
                on: connection
            )
        insertSnapshot = try SQLiteStatement(SnapshotRow.insertion, on: connection)
        dropReplacedSnapshot = try SQLiteStatement(
            "DELETE FROM older_snapshot WHERE sid = ? AND v = ? AND schema >= ?",
            on: connection
        )
        // An existing row has an even older schema, and stays.
        keepOlderSnapshot = try SQLiteStatement(
            """
            INSERT OR IGNORE INTO older_snapshot(\(SnapshotRow.columns)) SELECT \(SnapshotRow.columns) FROM snapshot
                WHERE sid = ? AND v = ? AND schema < ?
            """,
            on: connection
        )
        timeOfSnapshot = try SQLiteLookup(on: connection) {
            "SELECT time FROM snapshot\($0) WHERE sid = ? AND v = ?"
        }
        dropSnapshots = try SQLiteStatement(
            """
            DELETE FROM snapshot WHERE sid = ?1 AND v + 1 < ?2
                AND v < (SELECT max(v) FROM snapshot WHERE sid = ?1)
            """,
            on: connection
        )
        dropOlderSnapshots = try SQLiteStatement(
            "DELETE FROM older_snapshot WHERE sid = ?1 AND v + 1 < ?2",
            on: connection
        )
        deleteSession = try SQLiteStatement("DELETE FROM session WHERE sid = ?", on: connection)
        lastSID = try SQLiteStatement("SELECT max(seq) FROM sqlite_sequence WHERE name = 'session'", on: connection)
        countProbe = try SQLiteStatement(
            "INSERT INTO probe(one, commits) VALUES (1, 1) ON CONFLICT DO UPDATE SET commits = commits + 1",
            on: connection
        )
    }

    /// The finder of log entries, which also knows the lost entries.
    var logFinder: LogFinder { finder.log }

    /// The number of rows that were added to the log since its index was last updated.
    var unindexedRowCount: Int { log.unindexedRowCount }

    /// Updates the log's index.
    mutating func indexLog() throws(SQLiteError) {
        try log.refresh()
        try log.index()
    }

    /// Updates the state after a transaction began.
    ///
    /// `othersHaveWritten` is true if another connection has written since the last transaction.
    mutating func didBegin(othersHaveWritten: Bool) {
        guard othersHaveWritten else { return }
        forgetSessions()
        replica?.forget()
        items.forget()
    }

    /// Updates the state after a commit; returns true if the transaction removed or replaced data.
    mutating func didCommit() -> Bool {
        defer { removes = false }
        erasing.didCommit()
        return items.didCommit() || removes
    }

    /// Updates the state after a rollback.
    mutating func didRollBack() {
        removes = false
        forgetSessions()
        replica?.forget()
        erasing.didRollBack()
        items.didRollBack()
    }

    /// Erases rows of deleted sessions, up to the limit of one step.
    mutating func erase() throws(SQLiteError) {
        try log.refresh()
        removes = true
        try erasing.step()
    }

    /// Skips the session or the marks in which a step has failed; returns nil if there is nothing to report.
    mutating func skipErasing(isTemporary: Bool) -> EraseStatements.StepError? {
        erasing.skip(isTemporary: isTemporary)
    }

    private mutating func forgetSessions() {
        forgetHeads()
        log.forget()
    }

    mutating func forgetHeads() {
        heads.removeAll(keepingCapacity: true)
    }

    mutating func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?
    ) throws(SQLiteError) -> CreateOutcome {
        try log.refresh()
        if let row = try finder.session(key) { return .exists(head(of: row.sid, try remembered(row))) }
        let (sid, head) = try insert(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner)
        return .created(self.head(of: sid, head))
    }

    mutating func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords
    ) throws(SQLiteError) -> AppendOutcome {
        try log.refresh()
        let sid: Int64
        let head: Head
        switch point {
        case .after(let expected):
            sid = Int64(bitPattern: expected.token)
            guard let found = try remembered(sid: sid), found.key == key, found.epoch == expected.epoch,
                found.version == expected.version, entries.all(followFrom: expected.version)
            else { return .conflict }
            head = found
            if let counters, counters.counts(key.app) {
                let growth = SessionCounters.Growth(bytes: entries.reduce(0) { $0 + $1.byteCount })
                try counters.check(growth, app: key.app, owner: head.owner)
                try counters.count(growth, sid: sid, app: key.app, owner: head.owner)
            }
        case .creating(let epoch, let time, let snapshot, let owner):
            guard entries.all(followFrom: 0), try finder.session(key) == nil else { return .conflict }
            (sid, head) = try insert(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner, entries)
        }
        for entry in entries { try log.append(entry, sid: sid) }
        try keep(answers, sid: sid)
        head.version += UInt64(entries.count)
        return .committed(self.head(of: sid, head))
    }

    mutating func compact(
        _ key: SessionKey,
        at expected: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping
    ) throws(SQLiteError) -> CompactionOutcome {
        try log.refresh()
        let sid = Int64(bitPattern: expected.token)
        guard let head = try remembered(sid: sid), head.key == key, head.epoch == expected.epoch,
            expected.version <= head.version, snapshot.version == expected.version
        else { return .conflict }
        let time = try time(of: snapshot.version, sid: sid) ?? head.created
        try replace(with: SnapshotRow(snapshot, sid: sid, time: time))
        removes = true
        let sizes = keeping.bytes == nil ? [] : try finder.log.sizes(sid: sid)
        if let base = try base(of: sid, snapshot.version, keeping: keeping, sizes) {
            try drop(before: base + 1, of: sid)
        }
        let retained = try finder.retained(sid: sid, head: head.version)
        if let counters, counters.counts(key.app) {
            let logBytes = try finder.log.sizes(sid: sid).reduce(0) { $0 + $1.bytes }
            try counters.recount(sid: sid, app: key.app, owner: head.owner, logBytes: logBytes)
        }
        let bytes = keeping.bytes.map { _ in sizes.prefix { $0.version >= retained.from }.reduce(0) { $0 + $1.bytes } }
        return .compacted(
            self.head(of: sid, head),
            retained: RetainedLog(from: retained.from, since: retained.since, bytes: bytes)
        )
    }

    mutating func delete(_ key: SessionKey) throws(SQLiteError) -> Bool {
        guard let sid = try finder.sid(of: key) else { return false }
        try log.refresh()
        heads[sid] = nil
        removes = true
        if let counters, counters.counts(key.app) { try counters.subtract(sid: sid, app: key.app) }
        defer { deleteSession.reset() }
        try deleteSession.bind(sid, at: 1)
        try deleteSession.step()
        // The rows are erased later, in steps. Without a name, no reader finds them.
        try erasing.add(sid)
        return true
    }

    mutating func probe() throws(SQLiteError) {
        do throws(SQLiteError) {
            try log.refresh()
        } catch {
            // Other errors are reported by the requests that need the log.
            if finder.log.needsSalvage { throw error }
        }
        guard !finder.log.lost.hasUnknown else {
            let detail =
                "a page of the newest log entries is damaged, and it is not known which sessions have entries there"
            throw .refused(.unavailable(detail: "\(detail): stop the server and restore a backup"))
        }
        defer { countProbe.reset() }
        try countProbe.step()
    }

    // MARK: - Parts

    private mutating func insert(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        _ entries: [LogEntry] = []
    ) throws(SQLiteError) -> (sid: Int64, head: Head) {
        // The sid is part of the checksum, so the next sid is read first. No other connection writes meanwhile.
        let row = SessionRow(sid: try nextSID(), key: key, epoch: epoch, created: time, owner: owner)
        let snapshot = snapshot.map { SnapshotRow($0, sid: row.sid, time: time) }
        let growth = SessionCounters.Growth(
            sessions: 1,
            bytes: entries.reduce(snapshot.flatMap { counters?.byteCount(of: $0) } ?? 0) { $0 + $1.byteCount }
        )
        try counters?.check(growth, app: key.app, owner: owner)
        try write(row)
        if let snapshot { try write(snapshot) }
        if let counters, counters.counts(key.app) {
            try counters.count(growth, sid: row.sid, app: key.app, owner: owner)
        }
        let head = Head(key: key, epoch: epoch, created: time, owner: owner, version: 0)
        remember(head, sid: row.sid)
        return (row.sid, head)
    }

    /// The maximum number of old idempotency records that each new one deletes.
    private static let oldAnswersPerNew = 16

    private mutating func keep(_ kept: IdempotencyRecords, sid: Int64) throws(SQLiteError) {
        guard !kept.answers.isEmpty else { return }
        removes = true
        try dropOldAnswers.read { (statement) throws(SQLiteError) in
            try statement.bind(kept.droppingBefore, at: 1)
            try statement.bind(Int64(kept.answers.count * Self.oldAnswersPerNew), at: 2)
            try statement.step()
        }
        for answer in kept.answers { try write(answer, sid: sid) }
    }

    func write(_ answer: IdempotencyRecord, sid: Int64) throws(SQLiteError) {
        defer { insertAnswer.reset() }
        try AnswerRow.bind(answer, sid: sid, to: insertAnswer)
        try insertAnswer.step()
    }

    func write(_ row: SessionRow) throws(SQLiteError) {
        defer { insertSession.reset() }
        try insertSession.bind(row.sid, at: 1)
        try insertSession.bind(row.key.app, at: 2)
        try insertSession.bind(row.key.id, at: 3)
        try insertSession.bind(row.epoch, at: 4)
        try insertSession.bind(row.created, at: 5)
        try insertSession.bind(row.checksum, at: 6)
        try insertSession.bind(row.owner, at: 7)
        try insertSession.step()
    }

    /// Writes a snapshot in place of the snapshot of the same version.
    ///
    /// If snapshots of this version have older schemas, the snapshot with the oldest schema is kept in another table.
    func replace(with row: SnapshotRow) throws(SQLiteError) {
        for statement in [dropReplacedSnapshot, keepOlderSnapshot] {
            defer { statement.reset() }
            try statement.bind(row.sid, at: 1)
            try statement.bind(Int64(clamping: row.version), at: 2)
            try statement.bind(Int64(row.schema), at: 3)
            try statement.step()
        }
        try write(row)
    }

    private func write(_ row: SnapshotRow) throws(SQLiteError) {
        defer { insertSnapshot.reset() }
        try row.bind(to: insertSnapshot)
        try insertSnapshot.step()
    }

    /// Returns the version of the newest snapshot before the entries that are needed; nil if all entries stay.
    ///
    /// `version` is the version of the new snapshot.
    private func base(
        of sid: Int64,
        _ version: UInt64,
        keeping: LogKeeping,
        _ sizes: [(version: UInt64, bytes: Int)]
    ) throws(SQLiteError) -> Int64? {
        // The log is searched from its old end. The first fresh entry is near, because older entries are dropped.
        let next = Int64(clamping: version + 1)
        let fresh = try finder.log.firstVersion(since: keeping.since, sid: sid) ?? next
        let fitting = Int64(clamping: keeping.firstWithinBytes(sizes))
        let needed = min(next, max(Int64(clamping: keeping.from), fresh, fitting))
        return try snapshots.marks(sid: sid).base(keepingFrom: UInt64(clamping: needed)).map(Int64.init(clamping:))
    }

    /// Drops the entries before `version` and the snapshots before `version - 1`, but never the newest snapshot.
    private func drop(before version: Int64, of sid: Int64) throws(SQLiteError) {
        try log.drop(before: version, of: sid)
        for statement in [dropSnapshots, dropOlderSnapshots] {
            defer { statement.reset() }
            try statement.bind(sid, at: 1)
            try statement.bind(version, at: 2)
            try statement.step()
        }
    }

    func nextSID() throws(SQLiteError) -> Int64 {
        defer { lastSID.reset() }
        try lastSID.step()
        return lastSID.integer(0) + 1
    }

    private func time(of version: UInt64, sid: Int64) throws(SQLiteError) -> Int64? {
        let version = Int64(clamping: version)
        if let time = try finder.log.time(of: version, sid: sid) { return time }
        return try timeOfSnapshot.read { (row) throws(SQLiteError) in
            try row.bind(sid, at: 1)
            try row.bind(version, at: 2)
            return try row.step() ? row.integer(0) : nil
        }
    }

    // MARK: - Heads

    private func head(of sid: Int64, _ head: Head) -> SessionHead {
        SessionHead(epoch: head.epoch, version: head.version, token: UInt64(bitPattern: sid))
    }

    private mutating func remembered(sid: Int64) throws(SQLiteError) -> Head? {
        if let head = heads[sid] { return head }
        guard let row = try finder.session(sid: sid) else { return nil }
        return try remembered(row)
    }

    private mutating func remembered(_ row: SessionRow) throws(SQLiteError) -> Head {
        if let head = heads[row.sid] { return head }
        let version = try finder.versions(sid: row.sid).head
        let head = Head(
            key: row.key,
            epoch: row.epoch,
            created: row.created,
            owner: row.owner,
            version: version
        )
        remember(head, sid: row.sid)
        return head
    }

    private mutating func remember(_ head: Head, sid: Int64) {
        if heads.count >= headsMax { forgetHeads() }
        heads[sid] = head
    }
}
