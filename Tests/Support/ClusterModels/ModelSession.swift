import RivuletCluster
import RivuletSessions

/// The log, the snapshots and the idempotency records of one session.
struct ModelSession {
    let epoch: String
    /// The replica's own number of the session.
    let token: UInt64
    let created: Int64
    let owner: String?
    /// The snapshots with the times of their versions, oldest first; of one version, the older schema first.
    private(set) var snapshots: [(snapshot: StateSnapshot, time: Int64)] = []
    private(set) var entries: [LogEntry] = []
    /// The records in the order in which they were kept.
    private(set) var answers: [IdempotencyRecord] = []

    init(epoch: String, token: UInt64, created: Int64, owner: String?) {
        (self.epoch, self.token, self.created, self.owner) = (epoch, token, created, owner)
    }

    var version: UInt64 { entries.last?.version ?? snapshots.last?.snapshot.version ?? 0 }
    var head: SessionHead { SessionHead(epoch: epoch, version: version, token: token) }
    /// The bytes that a quota counts.
    var contentBytes: Int {
        snapshots.reduce(entries.reduce(0) { $0 + $1.byteCount }) { $0 + $1.snapshot.state.count }
    }
    private var updated: Int64 { entries.last?.time ?? snapshots.last?.time ?? created }
    private var retainedFrom: UInt64 { entries.first?.version ?? version + 1 }

    // MARK: - Reads

    var stored: StoredSession {
        let snapshot = snapshots.last?.snapshot
        return StoredSession(
            head: head,
            created: created,
            updated: updated,
            snapshot: snapshot,
            tail: entries.filter { $0.version > snapshot?.version ?? 0 },
            retained: RetainedLog(from: retainedFrom, since: entries.first?.time)
        )
    }

    func summary(id: String) -> SessionSummary {
        SessionSummary(id: id, epoch: epoch, version: version, created: created, updated: updated)
    }

    /// The entries after `version`, up to and including `last`; nil if one is missing or not there yet.
    func entries(after version: UInt64, upTo last: UInt64) -> [LogEntry]? {
        guard version <= last, last <= self.version, version == last || version + 1 >= retainedFrom else { return nil }
        return entries.filter { $0.version > version && $0.version <= last }
    }

    func past(at version: UInt64) -> StoredPast? {
        let mark = marks.base(of: version)
        let base = snapshots.map(\.snapshot).first { Self.mark($0) == mark }
        guard base != nil || retainedFrom == 1 else { return nil }
        return entries(after: base?.version ?? 0, upTo: version).map { StoredPast(snapshot: base, entries: $0) }
    }

    func answer(_ id: String) -> IdempotencyRecord? { answers.first { $0.id.utf8.elementsEqual(id.utf8) } }

    func usage(since time: Int64) -> IdempotencyUsage {
        let counted = answers.filter { $0.time >= time }
        return IdempotencyUsage(
            count: counted.count,
            byteCount: counted.reduce(0) { $0 + $1.byteCount },
            oldest: counted.map(\.time).min()
        )
    }

    // MARK: - Writes

    mutating func append(_ added: [LogEntry]) { entries += added }

    mutating func append(_ answer: IdempotencyRecord) {
        answers.removeAll { $0.id.utf8.elementsEqual(answer.id.utf8) }
        answers.append(answer)
    }

    mutating func append(_ snapshot: StateSnapshot, time: Int64) { snapshots.append((snapshot, time)) }

    mutating func keep(_ kept: IdempotencyRecords) {
        guard !kept.answers.isEmpty else { return }
        answers.removeAll { $0.time < kept.droppingBefore }
        for answer in kept.answers { append(answer) }
    }

    mutating func compact(to snapshot: StateSnapshot, keeping: LogKeeping) {
        replace(with: snapshot)
        let fresh = entries.first { $0.time >= keeping.since }?.version ?? .max
        let fitting = keeping.firstWithinBytes(entries.reversed().lazy.map { ($0.version, $0.byteCount) })
        let needed = min(max(keeping.from, fresh, fitting), snapshot.version + 1)
        let base = marks.base(keepingFrom: needed) ?? 0
        snapshots.removeAll { $0.snapshot.version < base }
        entries.removeAll { $0.version <= base }
    }

    func retained(countingBytes: Bool) -> RetainedLog {
        let bytes = countingBytes ? entries.reduce(0) { $0 + $1.byteCount } : nil
        return RetainedLog(from: retainedFrom, since: entries.first?.time, bytes: bytes)
    }

    /// Replaces the snapshots of this version, except the oldest one of an older schema.
    private mutating func replace(with snapshot: StateSnapshot) {
        let same = snapshots.filter { $0.snapshot.version == snapshot.version }
        let time = entries.first { $0.version == snapshot.version }?.time ?? same.first?.time ?? created
        snapshots.removeAll { $0.snapshot.version == snapshot.version }
        if let older = same.first, older.snapshot.schema < snapshot.schema { snapshots.append(older) }
        snapshots.append((snapshot, time))
        snapshots.sort { Self.mark($0.snapshot) < Self.mark($1.snapshot) }
    }

    private var marks: SnapshotMarks { SnapshotMarks(snapshots.map { Self.mark($0.snapshot) }) }

    private static func mark(_ snapshot: StateSnapshot) -> SnapshotMarks.Mark {
        SnapshotMarks.Mark(version: snapshot.version, schema: snapshot.schema)
    }
}
