/// The log and the snapshots of one session in memory.
struct MemorySession {
    let epoch: String
    let token: UInt64
    let created: Int64
    let owner: String?
    /// The snapshots, oldest first; at most two of one version, the older schema first.
    private(set) var snapshots: [StateSnapshot]
    /// The entries, contiguous and oldest first.
    private(set) var entries: [LogEntry] = []
    private(set) var answers = IdempotencyTable()
    private(set) var byteCount: Int
    /// The time of the last dropped entry, or of the creation; it is the time of the last change if there are no
    /// entries.
    private var updatedBeforeEntries: Int64

    /// The bytes that a session, a snapshot, an entry or an idempotency record takes besides its content.
    private static let overheadBytes = 128

    init(epoch: String, token: UInt64, created: Int64, owner: String?, snapshot: StateSnapshot?) {
        self.epoch = epoch
        self.token = token
        self.created = created
        self.owner = owner
        snapshots = snapshot.map { [$0] } ?? []
        updatedBeforeEntries = created
        byteCount = Self.overheadBytes + snapshots.reduce(0) { $0 + Self.byteCount(of: $1) }
    }

    var version: UInt64 { entries.last?.version ?? snapshots.last?.version ?? 0 }

    var head: SessionHead { SessionHead(epoch: epoch, version: version, token: token) }

    /// The bytes that a quota counts: those of the entries and snapshots.
    var contentBytes: Int { entries.reduce(0) { $0 + $1.byteCount } + snapshots.reduce(0) { $0 + $1.state.count } }

    /// The bytes that are counted for an entry.
    static func byteCount(of entry: LogEntry) -> Int { overheadBytes + entry.byteCount }

    /// The bytes that are counted for idempotency records before they are kept.
    static func byteCount(of kept: IdempotencyRecords) -> Int { kept.byteCount + kept.answers.count * overheadBytes }

    private static func byteCount(of snapshot: StateSnapshot) -> Int { overheadBytes + snapshot.state.count }

    var stored: StoredSession {
        let snapshot = snapshots.last
        return StoredSession(
            head: head,
            created: created,
            updated: updated,
            snapshot: snapshot,
            tail: entries(after: snapshot?.version ?? 0, upTo: version).map(Array.init) ?? [],
            retained: retained
        )
    }

    func summary(id: String) -> SessionSummary {
        SessionSummary(id: id, epoch: epoch, version: version, created: created, updated: updated)
    }

    /// The entries after `version`, up to and including `last`; nil if an entry is missing or `last` is beyond the
    /// head.
    func entries(after version: UInt64, upTo last: UInt64) -> ArraySlice<LogEntry>? {
        guard version <= last, last <= self.version else { return nil }
        if version == last { return [] }
        guard version + 1 >= retainedFrom else { return nil }
        return entries[Int(version + 1 - retainedFrom)...Int(last - retainedFrom)]
    }

    func past(at version: UInt64) -> StoredPast? {
        let mark = marks.base(of: version)
        let base = snapshots.first { $0.mark == mark }
        // Without a snapshot, version 0 is the app's default, and the entries must begin with version 1.
        guard base != nil || retainedFrom == 1 else { return nil }
        return entries(after: base?.version ?? 0, upTo: version).map { entries in
            StoredPast(snapshot: base, entries: Array(entries))
        }
    }

    mutating func append(_ added: [LogEntry]) {
        entries += added
        byteCount += added.reduce(0) { $0 + Self.byteCount(of: $1) }
    }

    /// Keeps idempotency records, and drops earlier records that may be dropped.
    mutating func keep(_ kept: IdempotencyRecords) {
        byteCount -= answerBytes
        answers.keep(kept)
        byteCount += answerBytes
    }

    private var answerBytes: Int { answers.byteCount + answers.count * Self.overheadBytes }

    mutating func compact(to snapshot: StateSnapshot, keeping: LogKeeping) {
        replace(with: snapshot)
        let fresh = entries.first { $0.time >= keeping.since }?.version ?? .max
        let fitting = keeping.firstWithinBytes(entries.reversed().lazy.map { ($0.version, $0.byteCount) })
        let needed = min(max(keeping.from, fresh, fitting), snapshot.version + 1)
        let base = marks.base(keepingFrom: needed) ?? 0
        snapshots.removeAll { $0.version < base }
        let dropped = entries.prefix { $0.version <= base }
        if let last = dropped.last { updatedBeforeEntries = last.time }
        entries.removeFirst(dropped.count)
        byteCount = snapshots.reduce(Self.overheadBytes) { $0 + Self.byteCount(of: $1) }
        byteCount += entries.reduce(0) { $0 + Self.byteCount(of: $1) } + answerBytes
    }

    /// Replaces the snapshots of this version, except the oldest one of an older schema.
    private mutating func replace(with snapshot: StateSnapshot) {
        let older = snapshots.first { $0.version == snapshot.version && $0.schema < snapshot.schema }
        snapshots.removeAll { $0.version == snapshot.version }
        snapshots += (older.map { [$0] } ?? []) + [snapshot]
        snapshots.sort { $0.mark < $1.mark }
    }

    private var marks: SnapshotMarks { SnapshotMarks(snapshots.map(\.mark)) }

    private var updated: Int64 { entries.last?.time ?? updatedBeforeEntries }

    private var retainedFrom: UInt64 { entries.first?.version ?? version + 1 }

    /// The beginning of the kept entries.
    var retained: RetainedLog { RetainedLog(from: retainedFrom, since: entries.first?.time) }
}
