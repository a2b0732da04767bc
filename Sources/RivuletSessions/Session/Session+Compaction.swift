// Owns when a session stores a snapshot, and how much of its log it keeps.

import Logging
import RivuletEngine
import RivuletJSON
import RivuletStores

extension Session {
    /// How many snapshots a session in use stores within `logAgeMax` for the sake of age: entries go from one to the next.
    private static var snapshotsPerLogAge: Int64 { 8 }

    /// A snapshot that is due by the count of versions waits until the log has this part of the state's size: a large state is not
    /// written whole for a few bytes.
    private static var snapshotShareMin: Int { 16 }

    /// The least versions that are worth a snapshot when a session leaves memory.
    private static var leavingVersionsMin: UInt64 { 16 }

    var schema: UInt32 { engine.definition.schema }

    /// Counts what storage has added to the log.
    func noteLogged(_ entries: [LogEntry]) {
        bytesSinceSnapshot += entries.reduce(0) { $0 + $1.changes.count + $1.event.count }
        if retained.since == nil { retained = RetainedLog(from: retained.from, since: entries.first?.time) }
        loggedSince = loggedSince ?? entries.first?.time
    }

    /// Stores a snapshot once the log since the last one has grown enough, so that loading stays short and writing stays cheap.
    func compactIfDue() {
        guard let storedHead, storedHead.version == visiblePosition.version, !isStorageBusy else { return }
        let limits = environment.limits
        let isLong =
            bytesSinceSnapshot >= max(limits.snapshotBytesMin, snapshotBytes)
            || (storedHead.version - snapshotVersion >= limits.snapshotVersionsMax
                && bytesSinceSnapshot >= snapshotBytes / Self.snapshotShareMin)
        if isLong || isLogOld { compact(at: storedHead) }
    }

    /// Stores a snapshot for the next load, and lets go of old entries; false: neither is worth a write, or there is work.
    package func compactBeforeLeaving() -> Bool {
        // A session that was only read keeps its document of an earlier schema version.
        guard isQuiet, !isMigrated, let storedHead,
            storedHead.version - snapshotVersion >= Self.leavingVersionsMin || isLogOld
        else {
            return false
        }
        compact(at: storedHead)
        return true
    }

    /// Whether entries are kept that are too old, or the next place up to which they can go is due.
    private var isLogOld: Bool {
        let (now, age) = (environment.wallClock(), environment.limits.logAgeMax.milliseconds)
        let step = age / Self.snapshotsPerLogAge
        if let loggedSince, now - loggedSince > step { return true }
        return now - (retained.since ?? now) > age && now - snapshotTime > step
    }

    private func compact(at head: SessionHead) {
        let snapshot = StateSnapshot(
            version: head.version,
            schema: schema,
            state: persistentJSON(of: logged?.state ?? visible)
        )
        let limits = environment.limits
        let now = environment.wallClock()
        isStorageBusy = true
        // Also when it fails: the log is still whole then, and it is tried again when that has grown.
        noteSnapshot(version: head.version, bytes: snapshot.state.count)
        let confined = Confined(self, to: environment.executor)
        environment.storage.log.compact(
            key,
            at: head,
            snapshot: snapshot,
            keepingFrom: head.version > limits.logVersionsMax ? head.version - limits.logVersionsMax + 1 : 1,
            keepingSince: now - limits.logAgeMax.milliseconds
        ) { outcome in
            confined.post { $0.compactionDidFinish(outcome) }
        }
    }

    /// Counts the log from a snapshot on.
    func noteSnapshot(version: UInt64, bytes: Int) {
        bytesSinceSnapshot = 0
        snapshotBytes = bytes
        snapshotVersion = version
        snapshotTime = environment.wallClock()
        loggedSince = nil
    }

    private func compactionDidFinish(_ outcome: Result<CompactionOutcome, StorageError>) {
        isStorageBusy = false
        switch outcome {
        case .success(.compacted(let head, let retained)):
            storedHead = head
            self.retained = retained
            lacksSnapshot = false
        case .success(.conflict):
            return retire(failing: .storage(.unavailable(detail: "another writer extended the log; try once more")))
        case .failure(let error):
            environment.logger.error(
                "storing a snapshot failed",
                metadata: ["app": "\(key.app)", "error": "\(LogText.of(error))"]
            )
        }
        runQueue()
    }

    /// The state as it goes to disk: no transient and no omitted fields.
    func persistentJSON(of state: State) -> [UInt8] {
        var writer = JSONWriter(capacity: max(1_024, snapshotBytes), includesTransient: false)
        state.encodeJSON(into: &writer)
        return writer.bytes
    }
}

extension Duration {
    /// Whole milliseconds, 0 for negative times.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLarge) = max(seconds, 0).multipliedReportingOverflow(by: 1_000)
        return isTooLarge ? .max / 2 : min(whole, .max / 2) + max(attoseconds, 0) / 1_000_000_000_000_000
    }
}
