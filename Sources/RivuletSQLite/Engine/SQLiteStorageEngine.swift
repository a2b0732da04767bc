public import RivuletBase
public import RivuletSessions
internal import RivuletStores
internal import Synchronization

/// A storage engine that keeps sessions and the items of stores in one SQLite database in its own folder.
///
/// One thread writes, with one `fsync` for all waiting writes. Another thread reads. A committed write survives the end
/// of the process and a power loss. Only one server uses the folder at a time: the folder is locked while the engine is
/// open.
///
/// Source: <https://sqlite.org/wal.html>
public final class SQLiteStorageEngine: StorageRoles, LocatedStorage, RecoveringStorageEngine, QuotaStorageEngine {
    /// The guarantees and limits of this engine.
    public let capabilities: StorageCapabilities

    let limits: SQLiteStorageLimits
    let clock: @Sendable () -> Int64
    private let folder: String
    /// The path of the data folder, as given to `init`.
    public var location: String { folder }
    let filename: String
    let use: DatabaseUse
    private let requiresClean: Bool
    private let writes: WorkQueue<any WriteRequest>
    private let reads: WorkQueue<ReadRequest>
    private let copies = CopyThread()
    private let phase = Mutex(Phase.new)
    private let writingError = FatalErrorBox()
    /// The error of a replica's call that was not accepted, after which a later one would skip frames.
    private let skipped = FatalErrorBox()
    private let quotas = Mutex<[String: StorageQuota]>([:])
    let sharedKeys: SharedKeys
    let sharedErasure = SharedErasure()

    private enum Phase {
        /// The phase until `start()` succeeds.
        case new
        /// The phase in which the threads run.
        case running(Running)
        /// The phase after `close()`.
        case closed
    }

    var folderNotices: [String] {
        phase.withLock { phase in
            if case .running(let running) = phase { running.folder.notices } else { [] }
        }
    }

    /// The findings of the last start about the write-ahead log.
    public var recovery: StorageRecovery {
        phase.withLock { phase in
            guard case .running(let running) = phase else { return StorageRecovery() }
            return StorageRecovery(information: running.recovery.information, warning: running.recovery.warning)
        }
    }

    private struct Running {
        let folder: DataFolder
        let recovery: LogRecovery
        let writer: WorkerThread
        let reader: WorkerThread
    }

    /// Makes an engine for the database in `folder`, which `start()` opens or creates.
    ///
    /// `clock` gives milliseconds since 1970-01-01T00:00:00Z; nil is the system's clock.
    ///
    /// With `requiresClean`, a start refuses a damaged write-ahead log and changes nothing. Otherwise it keeps the log
    /// beside the database, starts with the remaining commits, and gives all sessions new epochs.
    public convenience init(
        folder: String,
        limits: SQLiteStorageLimits = SQLiteStorageLimits(),
        requiresClean: Bool = false,
        clock: (@Sendable () -> Int64)? = nil
    ) {
        self.init(
            folder: folder,
            filename: DataFolder.serverFilename,
            limits: limits,
            requiresClean: requiresClean,
            clock: clock
        )
    }

    init(
        folder: String,
        filename: String,
        limits: SQLiteStorageLimits,
        use: DatabaseUse = .single,
        requiresClean: Bool = false,
        clock: (@Sendable () -> Int64)?
    ) {
        self.folder = folder
        self.filename = filename
        self.use = use
        self.limits = limits
        self.requiresClean = requiresClean
        self.clock = clock ?? WallClock.milliseconds
        sharedKeys = SharedKeys(keysMax: limits.keysRememberedMax)
        writes = WorkQueue(
            requestsMax: limits.writesWaitingMax,
            bytesMax: limits.writeBytesWaitingMax,
            requestsBeforeOpeningMax: limits.requestsBeforeStartMax
        )
        reads = WorkQueue(
            requestsMax: limits.readsWaitingMax,
            bytesMax: 0,
            requestsBeforeOpeningMax: limits.requestsBeforeStartMax
        )
        capabilities = StorageCapabilities(
            name: "sqlite",
            isShared: false,
            entryBytesMax: limits.entryBytesMax,
            snapshotBytesMax: limits.snapshotBytesMax,
            survivesPowerLoss: use != .replica
        )
    }

    deinit {
        close()
    }

    /// Locks the folder, and opens the database or refuses it; may be called again after a failure.
    ///
    /// - Throws: `.unavailable` if the folder or the database cannot be opened, or if another server has locked it.
    ///   `.incompatible` if the file is not a Rivulet database, or a newer version wrote it, or commits to it would not
    ///   be durable. `.corrupt` if the file as a whole is damaged. `.full` if there is no space for an empty database.
    ///   `.closed` after `close()`.
    public func start() throws(StorageError) {
        try phase.withLock { phase throws(StorageError) in
            switch phase {
            case .new: phase = .running(try open())
            case .running: return
            case .closed: throw .closed
            }
        }
    }

    /// Sets the quotas of apps, which the next start applies.
    public func setQuotas(_ quotas: [String: StorageQuota]) throws(StorageError) {
        guard use != .replica else { throw .incompatible(detail: "the quotas of a replica come with its operations") }
        self.quotas.withLock { $0 = quotas }
    }

    /// True if the engine accepts requests: it was started and not closed.
    package var isOpen: Bool {
        phase.withLock { phase in
            if case .running = phase { true } else { false }
        }
    }

    /// Reads the newest snapshot and every later entry; nil if there is no such session.
    public func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        read(key, reply) { reader throws(SQLiteError) in try reader.load(key) }
    }

    /// Creates a session at version 0.
    public func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        write(key, snapshot: snapshot, reply) { statements throws(SQLiteError) in
            try statements.create(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner)
        }
    }

    /// Appends entries and idempotency records, all or none; they are on disk before the reply.
    public func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        var initial: StateSnapshot?
        if case .creating(_, _, let snapshot, _) = point { initial = snapshot }
        guard let byteCount = byteCount(of: entries, answers.answers, initial, reply) else { return }
        submit(AppendRequest(key, at: point, entries, keeping: answers, byteCount: byteCount, reply))
    }

    /// Reads entries with a version greater than `version`, oldest first.
    public func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    ) {
        read(key, reply) { reader throws(SQLiteError) in
            try reader.history(key, epoch: epoch, after: version, limit: limit)
        }
    }

    /// Reads the snapshot and the entries that rebuild the state at `version`.
    public func past(
        _ key: SessionKey,
        epoch: String,
        at version: UInt64,
        reply: @escaping StorageReply<StoredPast?>
    ) {
        read(key, reply) { reader throws(SQLiteError) in try reader.past(key, epoch: epoch, at: version) }
    }

    /// Finds the idempotency record with this id.
    public func idempotencyRecord(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<IdempotencyRecord?>
    ) {
        read(key, reply) { reader throws(SQLiteError) in try reader.idempotencyRecord(key, epoch: epoch, id: id) }
    }

    /// Counts the idempotency records of a session that are not older than `time`.
    public func idempotencyRecords(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<IdempotencyUsage>
    ) {
        read(key, reply) { reader throws(SQLiteError) in try reader.idempotencyRecords(key, epoch: epoch, since: time) }
    }

    /// Stores a snapshot of the state at `head.version` and drops the part of the log that is no longer needed.
    public func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        write(key, snapshot: snapshot, reply) { statements throws(SQLiteError) in
            try statements.compact(key, at: head, snapshot: snapshot, keeping: keeping)
        }
    }

    /// Deletes a session, its log, its snapshots and its idempotency records; the reply is true if the session existed.
    ///
    /// After the reply, no reader finds the session. Its bytes are erased in the background, and `close()` waits for
    /// that. If the process ends before that, the next start continues.
    public func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        write(key, snapshot: nil, purpose: .removal, reply) { statements throws(SQLiteError) in
            try statements.delete(key)
        }
    }

    /// Lists the sessions of an app with an id greater than `id`, ordered by the bytes of their ids.
    public func sessions(
        app: String,
        owner: String?,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    ) {
        read(nil, reply) { reader throws(SQLiteError) in
            try reader.sessions(app: app, owner: owner, after: id, limit: limit)
        }
    }

    /// Commits a row, to test that storage works.
    ///
    /// After a full disk, the reply is `.full` until the disk has `reserveBytes` of free space beside the reserve.
    public func probe(reply: @escaping StorageReply<Void>) {
        write(nil, snapshot: nil, purpose: .probe, reply) { statements throws(SQLiteError) in try statements.probe() }
    }

    /// Closes the database and unlocks the folder; blocks until all accepted requests are answered and deleted sessions
    /// are erased.
    public func close() {
        phase.withLock { phase in
            var running: Running?
            if case .running(let threads) = phase { running = threads }
            phase = .closed
            copies.close()
            reads.close()
            running?.reader.join()
            // The writer ends last, because only the last connection can copy the whole write-ahead log into the
            // database.
            writes.close()
            running?.writer.join()
            if running == nil { refuseWaiting() }
        }
    }

    /// Refuses the requests that wait for `start()`, because the engine is closed without a start.
    private func refuseWaiting() {
        while case .requests(let requests) = reads.take(idleMilliseconds: nil) {
            for request in requests { request(.failure(.closed)) }
        }
        while case .requests(let requests) = writes.take(idleMilliseconds: nil) {
            for request in requests { request.refuse(.closed) }
        }
    }

    private func open() throws(StorageError) -> Running {
        let folder = try DataFolder(path: folder, filename: filename)
        let path = folder.databasePath
        try ReplicaFolder.check(path, for: use, limits: limits)
        let recovery =
            try use == .replica
            ? LogRecovery(ofReplica: path)
            : LogRecovery(of: path, requiresClean: requiresClean, time: clock())
        let writer: SQLiteWriter
        let reader: SQLiteReader
        do throws(SQLiteError) {
            let reads = reads
            let writingError = writingError
            writer = try SQLiteWriter(
                path: path,
                limits: limits,
                queue: writes,
                sharedKeys: sharedKeys,
                erasure: sharedErasure,
                reserve: DiskReserve(
                    of: path,
                    byteCount: filename == DataFolder.serverFilename ? limits.reserveBytes : 0
                ),
                use: use,
                renewsEpochs: recovery.renewsEpochs,
                quotas: quotas.withLock { $0 },
                askForKeys: askForKeys
            ) { error in
                writingError.set(error)
                reads.refuse(with: error)
            }
            reader = try SQLiteReader(path: path, limits: limits, queue: reads) { writingError.get() }
        } catch {
            let error = error.storageError(for: nil)
            throw use == .replica ? ReplicaFolder.error(error, of: path) : error
        }
        if recovery.renewsEpochs { try recovery.didRenewEpochs() }
        let readerThread = try WorkerThread(name: "rivulet-read") { reader.run() }
        let writerThread: WorkerThread
        do throws(StorageError) {
            if use == .replica { try copies.start(path: path) }
            writerThread = try WorkerThread(name: "rivulet-write") { writer.run() }
        } catch {
            reads.close()
            readerThread.join()
            reads.renew()
            throw error
        }
        writes.open()
        reads.open()
        return Running(folder: folder, recovery: recovery, writer: writerThread, reader: readerThread)
    }

    /// A closure that makes the reader read the keys of a collection for the writer; it returns false if the reader
    /// refuses.
    private var askForKeys: @Sendable (ByteText) -> Bool {
        { [sharedKeys, reads, writes] name in
            let request: ReadRequest = { reader in
                do throws(StorageError) {
                    let reader = try reader.get()
                    do throws(SQLiteError) {
                        let term = sharedKeys.term(ofReading: name)
                        let keys = try reader.keys(of: name.text)
                        if let term, let keys { sharedKeys.add(keys, of: name, in: term) }
                    } catch {
                        throw error.storageError(for: nil)
                    }
                    sharedKeys.answer(name, nil)
                } catch {
                    sharedKeys.answer(name, error)
                }
                writes.call()
            }
            return reads.submit(request, byteCount: 0) == nil
        }
    }

    // MARK: - Requests

    /// Passes a read to the reader; a read that `waits` is also accepted before the start.
    func read<Value: Sendable>(
        _ key: SessionKey?,
        waits: Bool = false,
        _ reply: @escaping StorageReply<Value>,
        _ body: @escaping @Sendable (SQLiteReader) throws(SQLiteError) -> Value
    ) {
        let request: ReadRequest = { reader in
            do throws(StorageError) {
                let reader = try reader.get()
                do throws(SQLiteError) {
                    reply(.success(try body(reader)))
                } catch {
                    throw error.storageError(for: key)
                }
            } catch {
                reply(.failure(error))
            }
        }
        if let refusal = reads.submit(request, byteCount: 0, waits: waits) { reply(.failure(refusal)) }
    }

    private func write<Value: Sendable>(
        _ key: SessionKey?,
        snapshot: StateSnapshot?,
        purpose: WritePurpose = .change,
        _ reply: @escaping StorageReply<Value>,
        _ body: @escaping @Sendable (inout WriteStatements) throws(SQLiteError) -> Value
    ) {
        guard let byteCount = byteCount(of: [], [], snapshot, reply) else { return }
        submit(key, byteCount: byteCount, purpose: purpose, reply, body)
    }

    /// Returns the size of a write in bytes; nil if a part is too large and the reply was called with the error.
    private func byteCount<Value>(
        of entries: [LogEntry],
        _ answers: [IdempotencyRecord],
        _ snapshot: StateSnapshot?,
        _ reply: StorageReply<Value>
    ) -> Int? {
        let snapshotBytes = snapshot?.state.count ?? 0
        guard snapshotBytes <= limits.snapshotBytesMax else {
            reply(.failure(.tooLarge(limitBytes: limits.snapshotBytesMax)))
            return nil
        }
        var bytes = 0
        var largest = 0
        for entry in entries {
            let entryBytes = entry.byteCount
            bytes += entryBytes
            largest = max(largest, entryBytes)
        }
        for answer in answers {
            let answerBytes = answer.byteCount
            bytes += answerBytes
            largest = max(largest, answerBytes)
        }
        guard largest <= limits.entryBytesMax else {
            reply(.failure(.tooLarge(limitBytes: limits.entryBytesMax)))
            return nil
        }
        return bytes + snapshotBytes
    }

    /// Passes a write to the writer; a write that `waits` is also accepted before the start.
    func submit<Value: Sendable>(
        _ key: SessionKey?,
        in collection: ByteText? = nil,
        byteCount: Int,
        purpose: WritePurpose = .change,
        waits: Bool = false,
        _ reply: @escaping StorageReply<Value>,
        _ body: @escaping @Sendable (inout WriteStatements) throws(SQLiteError) -> Value
    ) {
        submit(Write(key, in: collection, byteCount: byteCount, purpose: purpose, reply, body), waits: waits)
    }

    /// Passes an apply or a load to the writer; if it is not accepted, no later one is.
    func submitInOrder(_ request: some WriteRequest) {
        if let error = skipped.get() { return request.refuse(error) }
        guard let refusal = writes.submit(request, byteCount: request.byteCount) else { return }
        skipped.set(refusal)
        request.refuse(refusal)
    }

    /// Passes the read of a whole copy to a thread of its own; the closure gets the database's path.
    func copy<Value: Sendable>(
        _ reply: @escaping StorageReply<Value>,
        _ body: @escaping CopyThread.Body<Value>
    ) {
        copies.submit(reply) { [writingError] (path, isCancelled) throws(StorageError) in
            let value = try body(path, isCancelled)
            // After a failed write, the copy may have other data than a restart would find.
            if let error = writingError.get() { throw error }
            return value
        }
    }

    private func submit(_ request: some WriteRequest, waits: Bool = false) {
        if use == .replica, [.change, .removal].contains(request.purpose) {
            let detail = "a replica changes by frames of its cluster's log alone: write through the cluster's storage"
            return request.refuse(.incompatible(detail: detail))
        }
        if let refusal = writes.submit(request, byteCount: request.byteCount, waits: waits) { request.refuse(refusal) }
    }
}

/// The error that ended all writing, shared by both threads.
private final class FatalErrorBox: Sendable {
    private let error = Mutex<StorageError?>(nil)

    func set(_ error: StorageError) {
        self.error.withLock { $0 = error }
    }

    func get() -> StorageError? {
        error.withLock { $0 }
    }
}
