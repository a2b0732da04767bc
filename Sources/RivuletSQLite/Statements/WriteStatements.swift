internal import RivuletSessions

/// The writes of the storage contract on one connection; each runs inside a transaction that the caller owns.
struct WriteStatements {
    private let finder: SessionFinder
    private let insertSession: SQLiteStatement
    private let insertAnswer: SQLiteStatement
    private let dropOldAnswers: SQLiteStatement
    private let snapshots: SnapshotFinder
    private let insertSnapshot: SQLiteStatement
    private let dropReplacedSnapshot: SQLiteStatement
    private let keepOlderSnapshot: SQLiteStatement
    private let timeOfSnapshot: SQLiteStatement
    private let dropSnapshots: SQLiteStatement
    private let dropOlderSnapshots: SQLiteStatement
    private let deleteSession: SQLiteStatement
    private let lastSID: SQLiteStatement
    private let countProbe: SQLiteStatement
    private let headsMax: Int

    /// What can be written of stores.
    var items: ItemStatements
    /// What erases deleted sessions.
    private(set) var erasing: EraseStatements
    /// Whether something was removed or replaced in the transaction under way, whose text the files have until the log is truncated.
    private var removes = false

    private var log: LogStatements

    /// Heads as this connection has last seen them, by sid; right also inside the transaction under way.
    private var heads: [Int64: Head] = [:]

    /// An object: most writes look at one, and change its version.
    private final class Head {
        let key: SessionKey
        let epoch: String
        let created: Int64
        var version: UInt64

        init(key: SessionKey, epoch: String, created: Int64, version: UInt64) {
            self.key = key
            self.epoch = epoch
            self.created = created
            self.version = version
        }
    }

    init(_ connection: SQLiteConnection, limits: SQLiteStorageLimits, sharedKeys: SharedKeys) throws(SQLiteError) {
        headsMax = limits.headsRememberedMax
        items = try ItemStatements(connection, limits: limits, sharedKeys: sharedKeys)
        finder = try SessionFinder(connection, layout: SQLiteSchema.version)
        snapshots = try SnapshotFinder(connection, layout: SQLiteSchema.version)
        log = try LogStatements(connection, finder: finder.log)
        erasing = try EraseStatements(connection, finder: finder.log, stepBytesMax: limits.eraseStepBytesMax)
        insertSession = try SQLiteStatement(
            "INSERT INTO session(sid, app, id, epoch, created, crc) VALUES (?, ?, ?, ?, ?, ?)",
            on: connection
        )
        insertAnswer = try SQLiteStatement(AnswerRow.insertion, on: connection)
        // A few of any session with each new one: what is kept stays in bounds, and no append waits for many.
        dropOldAnswers = try SQLiteStatement(
            "DELETE FROM answer WHERE row IN (SELECT row FROM answer WHERE time < ? ORDER BY time LIMIT ?)",
            on: connection
        )
        insertSnapshot = try SQLiteStatement(SnapshotRow.insertion, on: connection)
        dropReplacedSnapshot = try SQLiteStatement(
            "DELETE FROM older_snapshot WHERE sid = ? AND v = ? AND schema >= ?",
            on: connection
        )
        // What is there already is of a schema that is older yet.
        keepOlderSnapshot = try SQLiteStatement(
            """
            INSERT OR IGNORE INTO older_snapshot(\(SnapshotRow.columns)) SELECT \(SnapshotRow.columns) FROM snapshot
                WHERE sid = ? AND v = ? AND schema < ?
            """,
            on: connection
        )
        timeOfSnapshot = try SQLiteStatement("SELECT time FROM snapshot WHERE sid = ? AND v = ?", on: connection)
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

    /// How many rows the log has got since its index was brought up to date.
    var unindexedRowCount: Int { log.unindexedRowCount }

    /// Brings the log's index up to date.
    mutating func indexLog() throws(SQLiteError) {
        try log.refresh()
        try log.index()
    }

    /// A transaction has begun; `othersHaveWritten`: another connection has, since the last one.
    mutating func didBegin(othersHaveWritten: Bool) {
        guard othersHaveWritten else { return }
        forgetSessions()
        items.forget()
    }

    /// A transaction was committed; true: something was removed or replaced in it.
    mutating func didCommit() -> Bool {
        defer { removes = false }
        erasing.didCommit()
        return items.didCommit() || removes
    }

    /// A transaction was rolled back.
    mutating func didRollBack() {
        removes = false
        forgetSessions()
        erasing.didRollBack()
        items.didRollBack()
    }

    /// Erases as much of deleted sessions as one step may write.
    mutating func erase() throws(SQLiteError) {
        try log.refresh()
        removes = true
        try erasing.step()
    }

    /// Leaves the session or the marks alone in which a step has failed; nil: there is nothing to report, and the step is tried again.
    mutating func skipErasing(isTemporary: Bool) -> EraseStatements.Failure? {
        erasing.skip(isTemporary: isTemporary)
    }

    private mutating func forgetSessions() {
        forgetHeads()
        log.forget()
    }

    private mutating func forgetHeads() {
        heads.removeAll(keepingCapacity: true)
    }

    mutating func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?
    ) throws(SQLiteError) -> CreateOutcome {
        try log.refresh()
        if let row = try finder.session(key) { return .exists(head(of: row.sid, try remembered(row))) }
        let (sid, head) = try insert(key, epoch: epoch, time: time, snapshot: snapshot)
        return .created(self.head(of: sid, head))
    }

    mutating func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: KeptAnswers
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
        case .creating(let epoch, let time, let snapshot):
            guard entries.all(followFrom: 0), try finder.session(key) == nil else { return .conflict }
            (sid, head) = try insert(key, epoch: epoch, time: time, snapshot: snapshot)
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
        keepingFrom: UInt64,
        keepingSince: Int64
    ) throws(SQLiteError) -> CompactionOutcome {
        try log.refresh()
        let sid = Int64(bitPattern: expected.token)
        guard let head = try remembered(sid: sid), head.key == key, head.epoch == expected.epoch,
            expected.version <= head.version, snapshot.version == expected.version
        else { return .conflict }
        let time = try time(of: snapshot.version, sid: sid) ?? head.created
        try replace(with: SnapshotRow(snapshot, sid: sid, time: time))
        removes = true
        if let base = try base(of: sid, snapshot.version, keepingFrom: keepingFrom, keepingSince: keepingSince) {
            try drop(before: base + 1, of: sid)
        }
        return .compacted(self.head(of: sid, head), retained: try finder.retained(sid: sid, head: head.version))
    }

    mutating func delete(_ key: SessionKey) throws(SQLiteError) -> Bool {
        guard let sid = try finder.sid(of: key) else { return false }
        try log.refresh()
        heads[sid] = nil
        removes = true
        defer { deleteSession.reset() }
        try deleteSession.bind(sid, at: 1)
        try deleteSession.step()
        // Its rows go later, in steps: without a name no reader finds them.
        try erasing.add(sid)
        return true
    }

    func probe() throws(SQLiteError) {
        defer { countProbe.reset() }
        try countProbe.step()
    }

    // MARK: - Parts

    private mutating func insert(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?
    ) throws(SQLiteError) -> (sid: Int64, head: Head) {
        defer { insertSession.reset() }
        // The sid is part of the checksum, so the next one is asked for first; no other connection writes meanwhile.
        let row = SessionRow(sid: try nextSID(), key: key, epoch: epoch, created: time)
        try insertSession.bind(row.sid, at: 1)
        try insertSession.bind(key.app, at: 2)
        try insertSession.bind(key.id, at: 3)
        try insertSession.bind(epoch, at: 4)
        try insertSession.bind(time, at: 5)
        try insertSession.bind(row.checksum, at: 6)
        try insertSession.step()
        if let snapshot { try write(SnapshotRow(snapshot, sid: row.sid, time: time)) }
        let head = Head(key: key, epoch: epoch, created: time, version: 0)
        remember(head, sid: row.sid)
        return (row.sid, head)
    }

    /// How many old answers go with each new one.
    private static let oldAnswersPerNew = 16

    private mutating func keep(_ kept: KeptAnswers, sid: Int64) throws(SQLiteError) {
        guard !kept.answers.isEmpty else { return }
        removes = true
        do {
            defer { dropOldAnswers.reset() }
            try dropOldAnswers.bind(kept.droppingBefore, at: 1)
            try dropOldAnswers.bind(Int64(kept.answers.count * Self.oldAnswersPerNew), at: 2)
            try dropOldAnswers.step()
        }
        for answer in kept.answers {
            defer { insertAnswer.reset() }
            try AnswerRow.bind(answer, sid: sid, to: insertAnswer)
            try insertAnswer.step()
        }
    }

    /// Writes a snapshot in the place of one of its version; the oldest of an older schema is kept.
    private func replace(with row: SnapshotRow) throws(SQLiteError) {
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

    /// The newest snapshot before the entries that are needed, at a snapshot of a version; nil: all entries stay.
    private func base(
        of sid: Int64,
        _ version: UInt64,
        keepingFrom: UInt64,
        keepingSince: Int64
    ) throws(SQLiteError) -> Int64? {
        // The log is searched from its old end, where the first fresh entry is near: what is older goes.
        let next = Int64(clamping: version + 1)
        let fresh = try finder.log.firstVersion(since: keepingSince, sid: sid) ?? next
        let needed = min(next, max(Int64(clamping: keepingFrom), fresh))
        return try snapshots.marks(sid: sid).base(keepingFrom: UInt64(clamping: needed)).map(Int64.init(clamping:))
    }

    /// Drops entries before a version, and snapshots from which no kept entry leads on; never the newest snapshot.
    private func drop(before version: Int64, of sid: Int64) throws(SQLiteError) {
        try log.drop(before: version, of: sid)
        for statement in [dropSnapshots, dropOlderSnapshots] {
            defer { statement.reset() }
            try statement.bind(sid, at: 1)
            try statement.bind(version, at: 2)
            try statement.step()
        }
    }

    private func nextSID() throws(SQLiteError) -> Int64 {
        defer { lastSID.reset() }
        try lastSID.step()
        return lastSID.integer(0) + 1
    }

    private func time(of version: UInt64, sid: Int64) throws(SQLiteError) -> Int64? {
        let version = Int64(clamping: version)
        if let time = try finder.log.time(of: version, sid: sid) { return time }
        defer { timeOfSnapshot.reset() }
        try timeOfSnapshot.bind(sid, at: 1)
        try timeOfSnapshot.bind(version, at: 2)
        return try timeOfSnapshot.step() ? timeOfSnapshot.integer(0) : nil
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
        let head = Head(key: row.key, epoch: row.epoch, created: row.created, version: version)
        remember(head, sid: row.sid)
        return head
    }

    private mutating func remember(_ head: Head, sid: Int64) {
        if heads.count >= headsMax { forgetHeads() }
        heads[sid] = head
    }
}
