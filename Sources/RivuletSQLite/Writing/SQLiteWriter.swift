internal import RivuletSessions
internal import RivuletStores

/// The writing connection and its thread's function.
final class SQLiteWriter {
    private let queue: WorkQueue<any WriteRequest>
    let limits: SQLiteStorageLimits
    let connection: SQLiteConnection
    private let beginStatement: SQLiteStatement
    private let commitStatement: SQLiteStatement
    private let sharedKeys: SharedKeys
    private let askForKeys: @Sendable (ItemKey) -> Bool
    private let onFault: @Sendable (StorageError) -> Void
    let erasure: SharedErasure

    private var waitingForKeys = WritesWaitingForKeys()
    var statements: WriteStatements
    /// The database's version after the last commit of this connection; another one at the next transaction: somebody else has committed.
    private var lastDataVersion: UInt32 = 0
    var walPagesAtCheckpoint = 0
    /// The rows beside the log's index when it could not be brought up to date; 0: it could.
    var unindexedAtFailure = 0
    /// Since when the files may have text that was removed; at the start the log is not known to have none.
    var removedTextSince: ContinuousClock.Instant? = .now
    /// When the next step of erasing is due, if there is something to erase.
    var nextErasing = ContinuousClock.now
    /// Whether a reader was in the way when the log was to be truncated after a step.
    var isTruncationHeldUp = false
    /// Why nothing is written any more.
    private(set) var fault: StorageError?

    /// Opens the database, and makes it where there is none.
    ///
    /// `askForKeys` has another thread read the keys of a collection into `sharedKeys`, answer there and call the queue; false: it does not.
    /// `onFault` is called once when the disk has failed in a way after which only a restart tells what it holds.
    init(
        path: String,
        limits: SQLiteStorageLimits,
        queue: WorkQueue<any WriteRequest>,
        sharedKeys: SharedKeys,
        erasure: SharedErasure,
        askForKeys: @escaping @Sendable (ItemKey) -> Bool,
        onFault: @escaping @Sendable (StorageError) -> Void
    ) throws(SQLiteError) {
        self.queue = queue
        self.limits = limits
        self.sharedKeys = sharedKeys
        self.erasure = erasure
        self.askForKeys = askForKeys
        self.onFault = onFault
        connection = try SQLiteConnection(
            path: path,
            access: .readWriteCreate,
            lockWaitMilliseconds: limits.lockWaitMilliseconds
        )
        try SQLiteSchema.prepareWriter(connection, limits: limits)
        beginStatement = try SQLiteStatement("BEGIN IMMEDIATE", on: connection)
        commitStatement = try SQLiteStatement("COMMIT", on: connection)
        statements = try WriteStatements(connection, limits: limits, sharedKeys: sharedKeys)
        lastDataVersion = connection.dataVersion
        let isSecured = try SQLiteSchema.isSecured(connection)
        erasure.didOpen(isSecured: isSecured, pendingCount: statements.erasing.pendingCount)
    }

    /// Commits whatever has queued while the last commit ran, until the queue is closed.
    ///
    /// There is no timer: the commit under way is what gathers the next group.
    func run() {
        var isTidy = false
        while true {
            switch queue.take(idleMilliseconds: idleMilliseconds(isTidy: isTidy)) {
            case .requests(let requests):
                var rest = withKeys(before: requests)[...]
                while let group = nextGroup(of: &rest) {
                    let ready = ready(group)
                    commit(ready)
                    indexLogIfDue()
                    checkpointIfDue()
                    finish(ready)
                    eraseIfDue()
                }
                isTidy = false
            case .none where statements.erasing.hasWork && fault == nil:
                eraseIfDue()
                isTidy = false
            case .none:
                isTidy = tidyUp()
            case .end:
                return finishErasing()
            }
        }
    }

    // MARK: - Keys

    /// The commits whose keys have been read, before `requests`; answers those whose keys cannot be.
    private func withKeys(before requests: [any WriteRequest]) -> [any WriteRequest] {
        let answers = sharedKeys.takeAnswers()
        guard !answers.isEmpty else { return requests }
        return answers.flatMap { (name, error) in
            let writes = waitingForKeys.take(name)
            guard let error else { return writes }
            refuse(writes[...], with: error)
            finish(writes[...])
            return []
        } + requests
    }

    /// The writes of a group that are made now; the others wait for the keys of their collections, which can be many.
    private func ready(_ group: ArraySlice<any WriteRequest>) -> ArraySlice<any WriteRequest> {
        guard fault == nil, group.contains(where: { $0.collection != nil }) else { return group }
        return group.filter { !waits($0) }[...]
    }

    private func waits(_ write: any WriteRequest) -> Bool {
        guard let name = write.collection else { return false }
        if !waitingForKeys.contain(name) {
            do throws(SQLiteError) {
                guard try !statements.items.isReady(name), write.mayWaitForKeys, askForKeys(name) else { return false }
            } catch {
                // The write fails of it as well, and says so.
                return false
            }
        }
        waitingForKeys.add(write, of: name)
        return true
    }

    // MARK: - Commits

    /// Takes the first requests, as many as one commit may have; nil: none is left.
    private func nextGroup(of requests: inout ArraySlice<any WriteRequest>) -> ArraySlice<any WriteRequest>? {
        guard !requests.isEmpty else { return nil }
        var bytes = 0
        let end = requests.indices.first { index in
            bytes += requests[index].byteCount
            return index > requests.startIndex
                && (index - requests.startIndex == limits.batchWritesMax || bytes > limits.batchBytesMax)
        }
        defer { requests = requests[(end ?? requests.endIndex)...] }
        return requests[..<(end ?? requests.endIndex)]
    }

    private func commit(_ group: ArraySlice<any WriteRequest>) {
        guard !group.isEmpty else { return }
        if let fault { return refuse(group, with: fault) }
        do throws(SQLiteError) {
            try beginTransaction()
        } catch {
            guard rollBack(group) else { return }
            return refuse(group, with: error.storageError(for: nil))
        }
        for request in group {
            do throws(SQLiteError) {
                try request.write(&statements)
            } catch {
                return writeDidFail(request, of: group, error)
            }
        }
        do throws(SQLiteError) {
            try endTransaction()
        } catch {
            return commitDidFail(group, error)
        }
        didCommit()
        for request in group { request.answer() }
    }

    func beginTransaction() throws(SQLiteError) {
        do {
            defer { beginStatement.reset() }
            try beginStatement.step()
        }
        statements.didBegin(othersHaveWritten: connection.dataVersion != lastDataVersion)
    }

    func endTransaction() throws(SQLiteError) {
        defer { commitStatement.reset() }
        try commitStatement.step()
        lastDataVersion = connection.dataVersion
    }

    /// One write failed: the others are done again, each alone, so that it fails by itself.
    private func writeDidFail(_ request: any WriteRequest, of group: ArraySlice<any WriteRequest>, _ error: SQLiteError)
    {
        if error.isWriteFault { return stop(group, error) }
        guard rollBack(group) else { return }
        if error.isFull, makeRoom() { return commit(group) }
        if group.count == 1 { return request.refuse(error.storageError(for: request.key)) }
        for index in group.indices { commit(group[index...index]) }
    }

    func commitDidFail(_ group: ArraySlice<any WriteRequest>, _ error: SQLiteError) {
        // A full disk is found before the commit mark is written; after any other failure the disk may have the commit.
        guard error.isFull else { return stop(group, error) }
        guard rollBack(group) else { return }
        if makeRoom() { return commit(group) }
        refuse(group, with: error.storageError(for: nil))
    }

    /// Undoes the transaction; false: not even that, and the group has been answered.
    func rollBack(_ group: ArraySlice<any WriteRequest>) -> Bool {
        statements.didRollBack()
        guard connection.isInTransaction else { return true }
        do throws(SQLiteError) {
            try connection.execute("ROLLBACK")
            return true
        } catch {
            stop(group, error)
            return false
        }
    }

    /// Ends all writing: what the disk holds is known only after the database has been opened anew.
    private func stop(_ group: ArraySlice<any WriteRequest>, _ error: SQLiteError) {
        stop(error)
        let detail = "\(error); the server must be restarted, and the sessions loaded again"
        refuse(group, with: .indeterminate(detail: detail))
    }

    func stop(_ error: SQLiteError) {
        let fault = StorageError.unavailable(
            detail: "the disk failed (\(error)): check the disk of \(connection.path), then restart the server"
        )
        self.fault = fault
        do throws(SQLiteError) {
            // A checkpoint could carry pages into the database that the disk has lost.
            try connection.forbidCheckpointOnClose()
        } catch {
            // What matters is told by the fault already.
        }
        queue.refuse(with: fault)
        let waiting = waitingForKeys.takeAll()[...]
        refuse(waiting, with: fault)
        finish(waiting)
        onFault(fault)
    }

    private func refuse(_ group: ArraySlice<any WriteRequest>, with error: StorageError) {
        for request in group { request.refuse(error) }
    }

    private func finish(_ group: ArraySlice<any WriteRequest>) {
        queue.finish(group.count, byteCount: group.reduce(0) { $0 + $1.byteCount })
    }
}
