import RivuletBase

/// The bookkeeping of a session's stored log: how much of it there is, and when a snapshot is due.
struct SessionLog {
    /// What storage keeps.
    private(set) var retained: RetainedLog
    /// The size of the document of the last snapshot.
    private(set) var snapshotBytes: Int
    private var snapshotVersion: UInt64
    /// When this incarnation stored its last snapshot, in milliseconds since 1970.
    private var snapshotTime: Int64 = 0
    private var bytesSinceSnapshot: Int
    /// The time of the oldest entry after the last snapshot.
    private var loggedSince: Int64?
    /// When the session was created, in milliseconds since 1970.
    private(set) var created: Int64
    /// When the newest entry was written, in the same unit.
    private(set) var updated: Int64

    /// How many snapshots a session in use stores within `logAgeMax` for the sake of age: entries go from one to the next.
    private static let snapshotsPerLogAge: Int64 = 8
    /// A snapshot that is due by the count of versions waits until the log has this part of the state's size: a large state is not
    /// written whole for a few bytes.
    private static let snapshotShareMin = 16
    /// The least versions that are worth a snapshot when a session leaves memory.
    private static let leavingVersionsMin: UInt64 = 16

    /// Begins with what storage has; nil: nothing.
    ///
    /// `tailBytes` are those of the log after the snapshot.
    init(_ stored: StoredSession?, tailBytes: Int, now: Int64) {
        created = stored?.created ?? now
        updated = stored?.updated ?? now
        retained = stored?.retained ?? RetainedLog(from: 1, since: nil)
        snapshotBytes = stored?.snapshot?.state.count ?? 0
        snapshotVersion = stored?.snapshot?.version ?? 0
        bytesSinceSnapshot = tailBytes
        loggedSince = stored?.tail.first?.time
    }

    /// Counts entries that storage has added.
    mutating func didAppend(_ entries: [LogEntry]) {
        for entry in entries { bytesSinceSnapshot += entry.changes.count + entry.event.count }
        guard let time = entries.first?.time, let last = entries.last?.time else { return }
        updated = last
        if retained.since == nil { retained = RetainedLog(from: retained.from, since: time) }
        loggedSince = loggedSince ?? time
    }

    /// Counts the log from a snapshot on.
    mutating func didBeginSnapshot(version: UInt64, bytes: Int, now: Int64) {
        bytesSinceSnapshot = 0
        snapshotBytes = bytes
        snapshotVersion = version
        snapshotTime = now
        loggedSince = nil
    }

    /// Begins the log of a session that storage is to create with a snapshot.
    mutating func willCreate(at time: Int64, snapshotBytes: Int) {
        created = time
        updated = time
        self.snapshotBytes = snapshotBytes
    }

    /// Takes over what storage keeps after a compaction.
    mutating func didCompact(keeping retained: RetainedLog) { self.retained = retained }

    /// Whether the log since the last snapshot has grown so much that a snapshot at this version keeps loading short.
    func isSnapshotDue(at version: UInt64, now: Int64, limits: Limits) -> Bool {
        let isLong =
            bytesSinceSnapshot >= max(limits.snapshotBytesMin, snapshotBytes)
            || (version - snapshotVersion >= limits.snapshotVersionsMax
                && bytesSinceSnapshot >= snapshotBytes / Self.snapshotShareMin)
        return isLong || isOld(now: now, limits: limits)
    }

    /// Whether a snapshot at this version is worth a write before the session leaves memory.
    func isSnapshotWorthLeaving(at version: UInt64, now: Int64, limits: Limits) -> Bool {
        version - snapshotVersion >= Self.leavingVersionsMin || isOld(now: now, limits: limits)
    }

    /// Whether entries are kept that are too old, or the next place up to which they can go is due.
    private func isOld(now: Int64, limits: Limits) -> Bool {
        let age = limits.ageMilliseconds
        let step = age / Self.snapshotsPerLogAge
        if let loggedSince, now - loggedSince > step { return true }
        return now - (retained.since ?? now) > age && now - snapshotTime > step
    }

    /// What a compaction at this version has to keep.
    static func keeping(at version: UInt64, now: Int64, limits: Limits) -> (from: UInt64, since: Int64) {
        let from = version > limits.versionsMax ? version - limits.versionsMax + 1 : 1
        return (from, now - limits.ageMilliseconds)
    }
}

extension SessionLog {
    /// The limits of a log, in the units in which it counts.
    struct Limits {
        let versionsMax: UInt64
        let ageMilliseconds: Int64
        let snapshotVersionsMax: UInt64
        let snapshotBytesMin: Int

        init(_ limits: SessionLimits) {
            versionsMax = limits.logVersionsMax
            ageMilliseconds = Int64(limits.logAgeMax.milliseconds)
            snapshotVersionsMax = limits.snapshotVersionsMax
            snapshotBytesMin = limits.snapshotBytesMin
        }
    }
}
