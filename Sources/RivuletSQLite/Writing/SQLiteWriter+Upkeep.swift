// What the writing thread does between commits: the log's index, checkpoints, erasing, free pages.

internal import RivuletBase
internal import RivuletSessions

extension SQLiteWriter {
    /// The transaction has ended: the memory of its changes is right for the next one.
    func didCommit() {
        if statements.didCommit(), removedTextSince == nil { removedTextSince = .now }
        erasure.setPending(statements.erasing.pendingCount)
    }

    /// How long the thread sleeps without a request; nil: until there is one.
    func idleMilliseconds(isTidy: Bool) -> Int? {
        guard fault == nil, statements.erasing.hasWork else { return isTidy ? nil : limits.idleMilliseconds }
        return Int((nextErasing - .now).millisecondsRoundedUp)
    }

    // MARK: - Index

    /// Brings the log's index up to date once enough entries have come.
    func indexLogIfDue() {
        if statements.unindexedRowCount - unindexedAtFailure >= limits.unindexedEntriesMax { indexLog() }
    }

    /// No request waits for this: an entry is found without the index as well.
    private func indexLog() {
        guard fault == nil else { return }
        // Where it cannot be done, as without space, it is tried again after as many entries.
        unindexedAtFailure = statements.unindexedRowCount
        do throws(SQLiteError) {
            try beginTransaction()
        } catch {
            _ = rollBack([])
            return
        }
        do throws(SQLiteError) {
            try statements.indexLog()
        } catch {
            if error.isWriteFault { return stop(error) }
            if rollBack([]), error.isFull, makeRoom() { indexLog() }
            return
        }
        do throws(SQLiteError) {
            try endTransaction()
        } catch {
            return commitDidFail([], error)
        }
        didCommit()
        unindexedAtFailure = 0
    }

    // MARK: - Checkpoints

    /// Moves the write-ahead log into the database once it has grown by enough pages, or has had removed text for long enough.
    func checkpointIfDue() {
        guard fault == nil else { return }
        if let since = removedTextSince, isOver(since) { return truncateLog() }
        let pages = connection.walPages
        // The log has started again.
        if pages < walPagesAtCheckpoint { walPagesAtCheckpoint = 0 }
        let isLarge = pages >= limits.walPagesMax
        // A reader keeps a large log from its start: it is tried oftener, as no try waits for the reader.
        let step = isLarge ? max(1, limits.walPagesPerCheckpoint / 8) : limits.walPagesPerCheckpoint
        guard pages - walPagesAtCheckpoint >= step else { return }
        checkpoint(isLarge ? .restart : .passive)
    }

    private func isOver(_ since: ContinuousClock.Instant) -> Bool {
        ContinuousClock.now - since >= .milliseconds(limits.removedTextMillisecondsMax)
    }

    private func checkpoint(_ kind: SQLiteConnection.Checkpoint) {
        walPagesAtCheckpoint = connection.walPages
        do throws(SQLiteError) {
            try connection.checkpoint(kind)
        } catch {
            // The commits are safe in the write-ahead log. Without space there the next checkpoint goes on.
            if error.isWriteFault { stop(error) }
        }
    }

    /// Empties the write-ahead log, and with it what it has of removed text; a reader puts it off.
    private func truncateLog(waitingMilliseconds: Int = 0) {
        walPagesAtCheckpoint = connection.walPages
        do throws(SQLiteError) {
            let isDone = try connection.checkpoint(.truncate, waitingMilliseconds: waitingMilliseconds)
            isTruncationHeldUp = !isDone
            // Held up: the next try comes as late as the first one, or in the next quiet moment.
            removedTextSince = isDone ? nil : removedTextSince.map { _ in .now }
        } catch {
            isTruncationHeldUp = true
            if error.isWriteFault { stop(error) }
        }
    }

    // MARK: - Erasing

    /// Goes on with the erasing of deleted sessions, when the pause after the last step is over.
    func eraseIfDue() {
        guard fault == nil, statements.erasing.hasWork, ContinuousClock.now >= nextErasing else { return }
        // While a reader keeps the log from its end, what is erased would only make the log longer.
        if isTruncationHeldUp { truncateLog() }
        let stepFailed = !isTruncationHeldUp && !eraseStep()
        let pause =
            stepFailed ? max(limits.erasePauseMilliseconds, limits.idleMilliseconds) : limits.erasePauseMilliseconds
        nextErasing = .now + .milliseconds(pause)
    }

    /// Erases all that is left before the thread ends; what a reader of another process puts off is the next start's.
    func finishErasing() {
        while fault == nil, statements.erasing.hasWork {
            if isTruncationHeldUp { truncateLog(waitingMilliseconds: limits.lockWaitMilliseconds) }
            if isTruncationHeldUp || !eraseStep() { return }
        }
        if fault == nil, removedTextSince != nil { truncateLog(waitingMilliseconds: limits.lockWaitMilliseconds) }
    }

    /// Erases all deleted sessions at once because there is no space; true: there may be some now.
    func makeRoom() -> Bool {
        guard fault == nil, statements.erasing.hasWork else { return false }
        var hasErased = false
        while fault == nil, statements.erasing.hasWork, eraseStep() { hasErased = true }
        return fault == nil && hasErased
    }

    /// Commits one step of erasing, and truncates the log; false: it could not be done, and nothing has changed.
    private func eraseStep() -> Bool {
        do throws(SQLiteError) {
            try beginTransaction()
            try statements.erase()
        } catch {
            if error.isWriteFault {
                stop(error)
            } else if rollBack([]) {
                skipErasing(error)
            }
            return false
        }
        do throws(SQLiteError) {
            try endTransaction()
        } catch {
            if error.isFull { _ = rollBack([]) } else { stop(error) }
            return false
        }
        didCommit()
        truncateLog()
        return true
    }

    /// Reports what failed: one session, and the others are erased; the marks, and nothing is erased until the next start; or neither, as
    /// when the log could not be read, and the step is tried again.
    ///
    /// The error has SQL without values, a path, and SQLite's words; the number is that of a row. No line has text of a session.
    private func skipErasing(_ error: SQLiteError) {
        guard let failure = statements.skipErasing(isTemporary: error.isTemporary) else { return }
        let next =
            failure == .retried ? "it is tried again, and" : "the next start tries again. If that fails, too,"
        let sessions =
            if case .skipped(.session(let number)) = failure {
                "the deleted session with the number \(number)"
            } else {
                "deleted sessions"
            }
        erasure.report(
            "cannot erase \(sessions), whose text is still in \(connection.path): \(error); \(next) "
                + "restore a backup from before the damage"
        )
    }

    // MARK: - Quiet moments

    /// The free pages that are kept for reuse, and the pages that are given back to the disk in one go.
    private static var freePagesKept: Int64 { 1_024 }
    private static var freePagesPerTurn: Int { 256 }

    /// Uses a quiet moment; true: there is nothing left to do.
    func tidyUp() -> Bool {
        guard fault == nil else { return true }
        do throws(SQLiteError) {
            guard try connection.integer("PRAGMA freelist_count") ?? 0 > Self.freePagesKept else {
                if removedTextSince != nil {
                    truncateLog()
                    return removedTextSince == nil
                }
                if connection.walPages > walPagesAtCheckpoint { checkpoint(.passive) }
                return true
            }
            // A transaction like the others: the writer knows by it that the commit was its own.
            try beginTransaction()
            try connection.execute("PRAGMA incremental_vacuum(\(Self.freePagesPerTurn))")
            try endTransaction()
            checkpointIfDue()
            return false
        } catch {
            if error.isWriteFault { stop(error) } else { _ = rollBack([]) }
            return true
        }
    }
}
