public import RivuletSessions
internal import RivuletStores
internal import Synchronization

/// Keeps sessions and the items of stores in one SQLite database in a folder of its own.
///
/// One thread writes and shares one `fsync` between all writes that wait; another reads. A committed write survives the
/// end of the process and a power cut. One server at a time: the folder is locked while it is open.
///
/// Source: <https://sqlite.org/wal.html>
public final class SQLiteStorageEngine: StorageRoles, LocatedStorage {
    /// What this engine promises.
    public let capabilities: StorageCapabilities

    let limits: SQLiteStorageLimits
    let clock: @Sendable () -> Int64
    private let folder: String
    /// The data folder as it was given.
    public var location: String { folder }
    let filename: String
    private let writes: WorkQueue<any WriteRequest>
    private let reads: WorkQueue<ReadRequest>
    private let phase = Mutex(Phase.new)
    private let fault = SharedFault()
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

    private struct Running {
        let folder: DataFolder
        let writer: WorkerThread
        let reader: WorkerThread
    }

    /// Makes an engine for the database in `folder`, which `start()` opens, or makes where there is none.
    ///
    /// `clock` gives milliseconds since 1970-01-01T00:00:00Z, nil: the system's clock.
    public convenience init(
        folder: String,
        limits: SQLiteStorageLimits = SQLiteStorageLimits(),
        clock: (@Sendable () -> Int64)? = nil
    ) {
        self.init(folder: folder, filename: DataFolder.serverFilename, limits: limits, clock: clock)
    }

    init(folder: String, filename: String, limits: SQLiteStorageLimits, clock: (@Sendable () -> Int64)?) {
        self.folder = folder
        self.filename = filename
        self.limits = limits
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
            survivesPowerLoss: true
        )
    }

    deinit {
        close()
    }

    /// Locks the folder, opens the database, and refuses one that is not safe; may be called again after it has failed.
    ///
    /// - Throws: `.unavailable` when the folder or the database cannot be opened or another server has locked it,
    ///   `.incompatible` when the database is not ours, was written by a newer version or would not be durable,
    ///   `.corrupt` when the file is damaged as a whole, `.full` when there is no space for an empty one, `.closed`
    ///   after `close()`.
    public func start() throws(StorageError) {
        try phase.withLock { phase throws(StorageError) in
            switch phase {
            case .new: phase = .running(try open())
            case .running: return
            case .closed: throw .closed
            }
        }
    }

    /// Whether it takes requests: it was started, and not closed.
    package var isOpen: Bool {
        phase.withLock { phase in
            if case .running = phase { true } else { false }
        }
    }

    /// Reads the newest snapshot and every later entry; nil when there is no such session.
    public func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        read(key, reply) { reader throws(SQLiteError) in try reader.load(key) }
    }

    /// Creates a session at version 0.
    public func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        write(key, snapshot: snapshot, reply) { statements throws(SQLiteError) in
            try statements.create(key, epoch: epoch, time: time, snapshot: snapshot)
        }
    }

    /// Appends entries and keeps answers, all or nothing; on disk when it is answered.
    public func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: KeptAnswers,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        var initial: StateSnapshot?
        if case .creating(_, _, let snapshot) = point { initial = snapshot }
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

    /// Reads what is needed to rebuild the state at `version`.
    public func past(
        _ key: SessionKey,
        epoch: String,
        at version: UInt64,
        reply: @escaping StorageReply<StoredPast?>
    ) {
        read(key, reply) { reader throws(SQLiteError) in try reader.past(key, epoch: epoch, at: version) }
    }

    /// Finds the answer that was kept under this id.
    public func keptAnswer(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<KeptAnswer?>
    ) {
        read(key, reply) { reader throws(SQLiteError) in try reader.keptAnswer(key, epoch: epoch, id: id) }
    }

    /// Counts the answers that the session keeps of a time not before `time`.
    public func keptAnswers(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<KeptAnswersUsage>
    ) {
        read(key, reply) { reader throws(SQLiteError) in try reader.keptAnswers(key, epoch: epoch, since: time) }
    }

    /// Stores a snapshot of the state at `head.version` and drops the part of the log that is no longer needed.
    public func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keepingFrom: UInt64,
        keepingSince: Int64,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        write(key, snapshot: snapshot, reply) { statements throws(SQLiteError) in
            try statements.compact(
                key,
                at: head,
                snapshot: snapshot,
                keepingFrom: keepingFrom,
                keepingSince: keepingSince
            )
        }
    }

    /// Deletes a session, its log, its snapshots and its kept answers; answers whether there was one.
    ///
    /// No reader finds it from the answer on. Its bytes leave the files in the background, and `close()` waits for that; after the end of
    /// the process the next start goes on with it.
    public func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        write(key, snapshot: nil, reply) { statements throws(SQLiteError) in try statements.delete(key) }
    }

    /// Lists the sessions of an app whose id is greater than `id`, ordered by the bytes of their ids.
    public func sessions(
        app: String,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    ) {
        read(nil, reply) { reader throws(SQLiteError) in try reader.sessions(app: app, after: id, limit: limit) }
    }

    /// Commits a row of its own.
    public func probe(reply: @escaping StorageReply<Void>) {
        write(nil, snapshot: nil, reply) { statements throws(SQLiteError) in try statements.probe() }
    }

    /// Closes the database and unlocks the folder; blocks until every accepted request has been answered and what was deleted is erased.
    public func close() {
        phase.withLock { phase in
            var running: Running?
            if case .running(let threads) = phase { running = threads }
            phase = .closed
            reads.close()
            running?.reader.join()
            // The writer ends last: only the last connection can fold the write-ahead log into the database.
            writes.close()
            running?.writer.join()
            if running == nil { refuseWaiting() }
        }
    }

    /// Answers what waited for a start that never came.
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
        let writer: SQLiteWriter
        let reader: SQLiteReader
        do throws(SQLiteError) {
            let reads = reads
            let fault = fault
            writer = try SQLiteWriter(
                path: path,
                limits: limits,
                queue: writes,
                sharedKeys: sharedKeys,
                erasure: sharedErasure,
                askForKeys: askForKeys
            ) { error in
                fault.set(error)
                reads.refuse(with: error)
            }
            reader = try SQLiteReader(path: path, limits: limits, queue: reads) { fault.get() }
        } catch {
            throw error.storageError(for: nil)
        }
        let readerThread = try WorkerThread(name: "rivulet-read") { reader.run() }
        let writerThread: WorkerThread
        do throws(StorageError) {
            writerThread = try WorkerThread(name: "rivulet-write") { writer.run() }
        } catch {
            reads.close()
            readerThread.join()
            reads.renew()
            throw error
        }
        writes.open()
        reads.open()
        return Running(folder: folder, writer: writerThread, reader: readerThread)
    }

    /// Has the reader read the keys of a collection for the writer; false: it does not.
    private var askForKeys: @Sendable (ItemKey) -> Bool {
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

    /// Hands a read to the reader; one that `waits` also before the start.
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
        _ reply: @escaping StorageReply<Value>,
        _ body: @escaping @Sendable (inout WriteStatements) throws(SQLiteError) -> Value
    ) {
        guard let byteCount = byteCount(of: [], [], snapshot, reply) else { return }
        submit(key, byteCount: byteCount, reply, body)
    }

    /// The bytes of a write; nil: one of its parts is too large, and the reply has said so.
    private func byteCount<Value>(
        of entries: [LogEntry],
        _ answers: [KeptAnswer],
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

    /// Hands a write to the writer; one that `waits` also before the start.
    func submit<Value: Sendable>(
        _ key: SessionKey?,
        in collection: ItemKey? = nil,
        byteCount: Int,
        waits: Bool = false,
        _ reply: @escaping StorageReply<Value>,
        _ body: @escaping @Sendable (inout WriteStatements) throws(SQLiteError) -> Value
    ) {
        submit(Write(key, in: collection, byteCount: byteCount, reply, body), waits: waits)
    }

    private func submit(_ request: some WriteRequest, waits: Bool = false) {
        if let refusal = writes.submit(request, byteCount: request.byteCount, waits: waits) { request.refuse(refusal) }
    }
}

/// The fault that has ended all writing, for both threads to see.
private final class SharedFault: Sendable {
    private let error = Mutex<StorageError?>(nil)

    func set(_ error: StorageError) {
        self.error.withLock { $0 = error }
    }

    func get() -> StorageError? {
        error.withLock { $0 }
    }
}
