import RivuletBase
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
    private let askForKeys: @Sendable (ByteText) -> Bool
    private let onFault: @Sendable (StorageError) -> Void
    let erasure: SharedErasure
    private var files: DatabaseFiles
    var reserve: DiskReserve
    /// True if the disk was full for a write, and no probe has shown since then that there is room.
    private var wasFull = false

    private var waitingForKeys = WritesWaitingForKeys()
    var statements: WriteStatements {
        _read { yield unsafe storedStatements }
        _modify { yield unsafe &storedStatements }
    }
    /// The database's data version after the last commit of this connection.
    ///
    /// A different version at the next transaction shows that another connection has committed.
    private var lastDataVersion: UInt32 = 0
    var walPagesAtCheckpoint = 0
    /// The number of unindexed rows when an update of the log's index failed; 0 if the last update succeeded.
    var unindexedAtFailure = 0
    /// The time since which the files may contain removed text; it is set at the start, because the log may contain
    /// such text.
    var removedTextSince: ContinuousClock.Instant? = .now
    /// The time of the next step of erasing, if there is something to erase.
    var nextErasing = ContinuousClock.now
    /// True if a reader prevented the truncation of the log after a step.
    var isTruncationHeldUp = false
    /// The error after which no more frames are applied to the replica.
    private var applyFault: StorageError?
    /// The error that ended all writing.
    private(set) var fault: StorageError?
    // SAFETY: one thread has the writer, and a write gets the statements without the writer, so accesses never overlap.
    // A commit uses the statements about nine times.
    @exclusivity(unchecked) private var storedStatements: WriteStatements

    /// Opens the database, or creates it.
    ///
    /// With `renewsEpochs`, all sessions have new epochs when this returns. `askForKeys` makes another thread read the
    /// keys of a collection into `sharedKeys`, add the answer there, and wake the queue. It returns false if the thread
    /// does not accept the request. `onFault` is called when all writing ends, because the disk failed or a database
    /// file was replaced.
    init(
        path: String,
        limits: SQLiteStorageLimits,
        queue: WorkQueue<any WriteRequest>,
        sharedKeys: SharedKeys,
        erasure: SharedErasure,
        reserve: DiskReserve,
        use: DatabaseUse = .single,
        renewsEpochs: Bool = false,
        quotas: [String: StorageQuota] = [:],
        askForKeys: @escaping @Sendable (ByteText) -> Bool,
        onFault: @escaping @Sendable (StorageError) -> Void
    ) throws(SQLiteError) {
        self.queue = queue
        self.limits = limits
        self.sharedKeys = sharedKeys
        self.erasure = erasure
        self.reserve = reserve
        self.askForKeys = askForKeys
        self.onFault = onFault
        connection = try SQLiteConnection(
            path: path,
            access: .readWriteCreate,
            lockWaitMilliseconds: limits.lockWaitMilliseconds
        )
        try SQLiteSchema.prepareWriter(connection, limits: limits, for: use)
        if renewsEpochs { try EpochRenewal.renew(connection) }
        if use != .replica { try CountedApps.update(connection, apps: Set(quotas.keys)) }
        beginStatement = try SQLiteStatement("BEGIN IMMEDIATE", on: connection)
        commitStatement = try SQLiteStatement("COMMIT", on: connection)
        unsafe storedStatements = try WriteStatements(
            connection,
            limits: limits,
            sharedKeys: sharedKeys,
            quotas: quotas,
            isReplica: use == .replica
        )
        lastDataVersion = connection.dataVersion
        files = DatabaseFiles(of: path)
        let isSecured = try SQLiteSchema.isSecured(connection)
        erasure.didOpen(isSecured: isSecured, pendingCount: statements.erasing.pendingCount)
    }

    /// Commits queued requests in groups until the queue is closed.
    ///
    /// No timer delays a group: the requests that arrive during one commit are the next group.
    func run() {
        var isTidy = false
        _ = reserve.take()
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

    /// Returns the waiting writes for which the keys have now been read, followed by `requests`.
    ///
    /// If a read of keys failed, the writes that wait for these keys are refused.
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

    /// Returns the writes of a group that can run now.
    ///
    /// The other writes wait until another thread has read the keys of their collections, because this can take long.
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
                // The write will fail with the same error. `writeDidFail` then commits it without the damaged index, or
                // refuses it.
                connection.detours.end()
                return false
            }
        }
        waitingForKeys.add(write, of: name)
        return true
    }

    // MARK: - Commits

    /// Takes the first requests, as many as one commit may have; nil if none is left.
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
        if let applyFault, group.contains(where: { $0.purpose == .apply }) {
            refuse(group.filter { $0.purpose == .apply }[...], with: applyFault)
            return commit(group.filter { $0.purpose != .apply }[...])
        }
        if wasFull, refuseProbes(of: group) {
            return commit(group.filter { $0.purpose != .probe }[...])
        }
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
        // The files are checked between the commit and its answers, so that a commit to a replaced database is not
        // acknowledged.
        if let path = files.findReplaced() { return stop(group, Self.replaced(path)) }
        didCommit()
        if wasFull, group.contains(where: { $0.purpose == .probe }) { wasFull = false }
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

    /// Handles the failure of one write.
    ///
    /// The group is committed again if the cause can be removed. Otherwise each write is committed alone, so that only
    /// the failed one is refused. A write fault of the disk ends all writing.
    private func writeDidFail(_ request: any WriteRequest, of group: ArraySlice<any WriteRequest>, _ error: SQLiteError)
    {
        if error.isWriteFault { return stop(group, error) }
        guard rollBack(group) else { return }
        if salvageLog() { return commit(group) }
        if connection.detours.takeNew() {
            // A page of an index has failed. The group is committed again without that index.
            defer { connection.detours.end() }
            return commit(group)
        }
        if error.isFull, makeRoom() { return commit(group) }
        if error.isFull, commitWithReserve(group) { return }
        if group.count == 1 { return refuse(group, with: error.storageError(for: request.key)) }
        for index in group.indices { commit(group[index...index]) }
    }

    /// Reads the newest log entries outside of a damaged page; returns true if the failed work may be repeated.
    func salvageLog() -> Bool {
        guard statements.logFinder.needsSalvage else { return false }
        do throws(SQLiteError) {
            try statements.logFinder.salvage()
            return true
        } catch {
            // The error of the failed work already gives the cause.
            return false
        }
    }

    func commitDidFail(_ group: ArraySlice<any WriteRequest>, _ error: SQLiteError) {
        // A full disk is detected before the commit mark is written. After any other failure, the disk may have the
        // commit.
        guard error.isFull else { return stop(group, error) }
        guard rollBack(group) else { return }
        if makeRoom() { return commit(group) }
        if commitWithReserve(group) { return }
        guard group.count > 1, group.contains(where: { $0.purpose == .removal }) else {
            return refuse(group, with: error.storageError(for: nil))
        }
        // Only a removal may use the reserve, so each request is committed alone.
        for index in group.indices { commit(group[index...index]) }
    }

    /// Rolls the transaction back; returns false if that failed too and the group has been answered.
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

    /// Ends all writing, because the contents of the disk are known only after the database is opened again.
    private func stop(_ group: ArraySlice<any WriteRequest>, _ error: SQLiteError) {
        stop(error)
        let detail = "\(error); the server must be restarted, and the sessions loaded again"
        refuse(group, with: .indeterminate(detail: detail))
    }

    private static func replaced(_ path: String) -> SQLiteError {
        .refused(
            .unavailable(
                detail: "\(path) was removed or replaced while the server had it open, so nothing more is stored: "
                    + "put the file back or restore a backup, then restart the server"
            )
        )
    }

    func stop(_ error: SQLiteError) {
        let fault: StorageError =
            if case .refused(let refusal) = error {
                refusal
            } else {
                .unavailable(
                    detail: "the disk failed (\(error)): check the disk of \(connection.path), then restart the server"
                )
            }
        self.fault = fault
        do throws(SQLiteError) {
            // A checkpoint could copy pages that the disk has lost into the database.
            try connection.forbidCheckpointOnClose()
        } catch {
            // `fault` already has the more important error.
        }
        queue.refuse(with: fault)
        let waiting = waitingForKeys.takeAll()[...]
        refuse(waiting, with: fault)
        finish(waiting)
        onFault(fault)
    }

    // MARK: - A full disk

    /// Commits a single removal with the space of the reserve, then takes the reserve again.
    ///
    /// - Returns: False if the group is not a single removal, or if there is no reserve.
    private func commitWithReserve(_ group: ArraySlice<any WriteRequest>) -> Bool {
        guard group.count == 1, group.first?.purpose == .removal, reserve.release() else { return false }
        wasFull = true
        commit(group)
        reclaim()
        return true
    }

    /// Refuses the probes of a group if the disk has no room in addition to the reserve.
    ///
    /// - Returns: False if there is room, or if the group has no probes.
    private func refuseProbes(of group: ArraySlice<any WriteRequest>) -> Bool {
        let probes = group.filter { $0.purpose == .probe }
        guard !probes.isEmpty, !reserve.hasRoomBeside() else { return false }
        let detail =
            "the disk of \(connection.path) was full, and has less than \(limits.reserveBytes) free bytes (reserveBytes): free space there"
        refuse(probes[...], with: .full(detail: detail))
        return true
    }

    private func refuse(_ group: ArraySlice<any WriteRequest>, with error: StorageError) {
        if case .full = error { wasFull = true }
        if applyFault == nil, group.contains(where: { $0.purpose == .apply }) {
            // A later frame would skip the refused one.
            let detail = "earlier frames were refused (\(error)), so this copy takes no more: start the node again"
            applyFault = .unavailable(detail: detail)
        }
        for request in group { request.refuse(error) }
    }

    private func finish(_ group: ArraySlice<any WriteRequest>) {
        queue.finish(group.count, byteCount: group.reduce(0) { $0 + $1.byteCount })
    }
}
