// The upkeep by the writer thread between commits: the log's index, checkpoints, erasing, free pages.

internal import RivuletBase
internal import RivuletSessions

extension SQLiteWriter {
    /// Updates the in-memory state after a committed transaction.
    func didCommit() {
        if statements.didCommit(), removedTextSince == nil { removedTextSince = .now }
        erasure.setPending(statements.erasing.pendingCount)
    }

    /// Returns the longest sleep without a request, in milliseconds; nil to sleep until the next request.
    func idleMilliseconds(isTidy: Bool) -> Int? {
        guard fault == nil, statements.erasing.hasWork else { return isTidy ? nil : limits.idleMilliseconds }
        return Int((nextErasing - .now).millisecondsRoundedUp)
    }

    // MARK: - Index

    /// Updates the log's index if there are enough unindexed entries.
    func indexLogIfDue() {
        if statements.unindexedRowCount - unindexedAtFailure >= limits.unindexedEntriesMax { indexLog() }
    }

    /// Updates the log's index.
    ///
    /// No request waits for this, because entries are also found without the index.
    private func indexLog() {
        guard fault == nil else { return }
        // If the update fails, for example on a full disk, it is tried again after the same number of further entries.
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

    /// Runs a checkpoint if the write-ahead log has grown by enough pages, or has held removed text for too long.
    func checkpointIfDue() {
        guard fault == nil else { return }
        if let since = removedTextSince, isOver(since) { return truncateLog() }
        let pages = connection.walPages
        // The log was restarted.
        if pages < walPagesAtCheckpoint { walPagesAtCheckpoint = 0 }
        let isLarge = pages >= limits.walPagesMax
        // A reader can keep a large log from being restarted. The restart is tried more often, because no attempt waits
        // for the reader.
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
            // The commits are safe in the write-ahead log. If the disk is full, the next checkpoint continues.
            if error.isWriteFault { stop(error) }
        }
    }

    /// Truncates the write-ahead log, which also erases removed text from it; a reader can delay this.
    private func truncateLog(waitingMilliseconds: Int = 0) {
        walPagesAtCheckpoint = connection.walPages
        do throws(SQLiteError) {
            let isDone = try connection.checkpoint(.truncate, waitingMilliseconds: waitingMilliseconds)
            isTruncationHeldUp = !isDone
            // If a reader prevented the truncation, the next attempt comes after the same delay, or when the thread is
            // idle.
            removedTextSince = isDone ? nil : removedTextSince.map { _ in .now }
        } catch {
            isTruncationHeldUp = true
            if error.isWriteFault { stop(error) }
        }
    }

    // MARK: - Erasing

    /// Continues to erase deleted sessions, if the pause after the last step is over.
    func eraseIfDue() {
        guard fault == nil, statements.erasing.hasWork, ContinuousClock.now >= nextErasing else { return }
        // While a reader prevents the truncation of the log, erasing would only make the log longer.
        if isTruncationHeldUp { truncateLog() }
        let stepFailed = !isTruncationHeldUp && !eraseStep()
        let pause =
            stepFailed ? max(limits.erasePauseMilliseconds, limits.idleMilliseconds) : limits.erasePauseMilliseconds
        nextErasing = .now + .milliseconds(pause)
    }

    /// Erases all remaining deleted sessions before the thread ends.
    ///
    /// If a reader of another process prevents this, the next start continues.
    func finishErasing() {
        while fault == nil, statements.erasing.hasWork {
            if isTruncationHeldUp { truncateLog(waitingMilliseconds: limits.lockWaitMilliseconds) }
            if isTruncationHeldUp || !eraseStep() { return }
        }
        if fault == nil, removedTextSince != nil { truncateLog(waitingMilliseconds: limits.lockWaitMilliseconds) }
    }

    /// Erases all deleted sessions at once because the disk is full; returns true if there may be space now.
    func makeRoom() -> Bool {
        guard fault == nil, statements.erasing.hasWork else { return false }
        _ = reserve.release()
        defer { _ = reserve.take() }
        var hasErased = false
        while fault == nil, statements.erasing.hasWork, eraseStep() { hasErased = true }
        return fault == nil && hasErased
    }

    /// Erases the rows of a removal on a full disk, gives free pages back to the disk, and takes the reserve again.
    func reclaim() {
        _ = makeRoom()
        for _ in 0..<Self.vacuumTurnsMax where fault == nil {
            if tidyUp() { break }
        }
        _ = reserve.take()
    }

    /// The maximum number of vacuum turns that a removal on a full disk waits for; the rest is done when the thread is
    /// idle.
    private static var vacuumTurnsMax: Int { 64 }

    /// Commits one step of erasing, and truncates the log; returns false if the step failed and nothing has changed.
    private func eraseStep() -> Bool {
        do throws(SQLiteError) {
            try beginTransaction()
            try statements.erase()
        } catch {
            if error.isWriteFault {
                stop(error)
            } else if rollBack([]), !salvageLog() {
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

    /// Reports a failed step of erasing.
    ///
    /// If one session failed, the others are still erased. If the marks failed, nothing is erased until the next start.
    /// Otherwise, for example if the log could not be read, the step is tried again.
    ///
    /// The line has SQL without values, a path, SQLite's message, and a session's row number. It has no text of a
    /// session.
    private func skipErasing(_ error: SQLiteError) {
        guard let failure = statements.skipErasing(isTemporary: error.isTemporary) else { return }
        let next = failure == .retried ? "it is tried again" : "the next start tries again"
        let sessions =
            if case .skipped(.session(let number)) = failure {
                "the deleted session with the number \(number)"
            } else {
                "deleted sessions"
            }
        erasure.report(
            "cannot erase \(sessions), whose text is still in \(connection.path): \(error); \(next). If that fails, too, "
                + "restore a backup from before the damage"
        )
    }

    // MARK: - Quiet moments

    /// The number of free pages that are kept for reuse, and the number of pages that one turn gives back to the disk.
    private static var freePagesKept: Int64 { 1_024 }
    private static var freePagesPerTurn: Int { 256 }

    /// Does upkeep while the thread is idle; returns true if nothing is left to do.
    func tidyUp() -> Bool {
        guard fault == nil else { return true }
        // After a full disk, the reserve may not be held.
        _ = reserve.take()
        do throws(SQLiteError) {
            guard try connection.integer("PRAGMA freelist_count") ?? 0 > Self.freePagesKept else {
                if removedTextSince != nil {
                    truncateLog()
                    return removedTextSince == nil
                }
                if connection.walPages > walPagesAtCheckpoint { checkpoint(.passive) }
                return true
            }
            // The vacuum runs in an ordinary transaction, so that the writer recognizes the commit as its own.
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
