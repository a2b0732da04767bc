import RivuletBase

/// The bookkeeping of a session's stored log: its size, and the time for a snapshot.
struct SessionLog {
    /// The part of the log that storage keeps.
    private(set) var retained: RetainedLog
    /// The size of the last snapshot's document, in bytes.
    private(set) var snapshotBytes: Int
    private var snapshotVersion: UInt64
    /// The time of this incarnation's last snapshot, in milliseconds since 1970.
    private var snapshotTime: Int64 = 0
    private var bytesSinceSnapshot: Int
    /// An upper bound of the bytes of all stored entries; nil after a load, until storage has counted the entries
    /// before the snapshot.
    private var storedBytes: Int?
    /// The time of the oldest entry after the last snapshot, in milliseconds since 1970.
    private var loggedSince: Int64?
    /// The time of the session's creation, in milliseconds since 1970.
    private(set) var created: Int64
    /// The time of the newest entry, in milliseconds since 1970.
    private(set) var updated: Int64

    /// The number of snapshots that a session in use stores within `logAgeMax` because of the log's age.
    ///
    /// Storage drops old entries only up to a snapshot.
    private static let snapshotsPerLogAge: Int64 = 8
    /// A snapshot is due after `snapshotVersionsMax` versions only if their entries have at least 1/16 of the last
    /// snapshot's bytes.
    ///
    /// So a large state is not written whole for a few bytes of changes.
    private static let snapshotShareMin = 16
    /// The least number of new versions that is worth a snapshot when a session leaves memory.
    private static let leavingVersionsMin: UInt64 = 16

    /// Begins with a session in storage; `stored` is nil if storage does not have the session.
    ///
    /// `tailBytes` is the size of the log after the snapshot.
    init(_ stored: StoredSession?, tailBytes: Int, now: Int64) {
        created = stored?.created ?? now
        updated = stored?.updated ?? now
        retained = stored?.retained ?? RetainedLog(from: 1, since: nil)
        snapshotBytes = stored?.snapshot?.state.count ?? 0
        snapshotVersion = stored?.snapshot?.version ?? 0
        bytesSinceSnapshot = tailBytes
        storedBytes = retained.from > snapshotVersion ? tailBytes : nil
        loggedSince = stored?.tail.first?.time
    }

    /// Adds newly stored entries to the counts.
    mutating func didAppend(_ entries: [LogEntry]) {
        let bytes = entries.reduce(0) { $0 + $1.changes.count + $1.event.count }
        bytesSinceSnapshot += bytes
        storedBytes? += bytes
        guard let time = entries.first?.time, let last = entries.last?.time else { return }
        updated = last
        if retained.since == nil { retained = RetainedLog(from: retained.from, since: time) }
        loggedSince = loggedSince ?? time
    }

    /// Restarts the counts of the log at a snapshot.
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

    /// Records the part of the log that storage keeps after a compaction.
    mutating func didCompact(keeping retained: RetainedLog) {
        self.retained = retained
        if let bytes = retained.bytes { storedBytes = bytes }
    }

    /// Returns true if the log since the last snapshot has grown or aged so much that a snapshot at this version is
    /// due.
    func isSnapshotDue(at version: UInt64, now: Int64, limits: Limits) -> Bool {
        let isLong =
            bytesSinceSnapshot >= max(limits.snapshotBytesMin, snapshotBytes)
            || (version - snapshotVersion >= limits.snapshotVersionsMax
                && bytesSinceSnapshot >= snapshotBytes / Self.snapshotShareMin)
        return isLong || isOld(now: now, limits: limits)
    }

    /// Returns true if a snapshot at this version is worth a write before the session leaves memory.
    func isSnapshotWorthLeaving(at version: UInt64, now: Int64, limits: Limits) -> Bool {
        version - snapshotVersion >= Self.leavingVersionsMin || isOld(now: now, limits: limits)
    }

    /// Returns true if a snapshot is due because the entries after the last snapshot, or the oldest kept entry, are
    /// old.
    private func isOld(now: Int64, limits: Limits) -> Bool {
        let age = limits.ageMilliseconds
        let step = age / Self.snapshotsPerLogAge
        if let loggedSince, now - loggedSince > step { return true }
        return now - (retained.since ?? now) > age && now - snapshotTime > step
    }

    /// Returns the part of the log that a compaction at this version has to keep.
    ///
    /// Storage has to count the bytes only if the log may have more than `bytesMax`.
    func keeping(at version: UInt64, now: Int64, limits: Limits) -> LogKeeping {
        let isWithin = storedBytes.map { $0 <= limits.bytesMax } ?? false
        return LogKeeping(
            from: version > limits.versionsMax ? version - limits.versionsMax + 1 : 1,
            since: now - limits.ageMilliseconds,
            bytes: isWithin ? nil : limits.bytesMax
        )
    }
}

extension SessionLog {
    /// The limits of a log; ages are in milliseconds.
    struct Limits {
        let versionsMax: UInt64
        let bytesMax: Int
        let ageMilliseconds: Int64
        let snapshotVersionsMax: UInt64
        let snapshotBytesMin: Int

        init(_ limits: SessionLimits) {
            versionsMax = limits.logVersionsMax
            bytesMax = limits.logBytesMax
            ageMilliseconds = Int64(limits.logAgeMax.milliseconds)
            snapshotVersionsMax = limits.snapshotVersionsMax
            snapshotBytesMin = limits.snapshotBytesMin
        }
    }
}
