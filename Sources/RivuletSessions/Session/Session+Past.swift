import RivuletEngine
package import RivuletJSON

extension Session {
    /// Reads the value at the path as it was at a version; transient fields have their defaults, as after a restart.
    ///
    /// The answer's cursor is the short form for that version.
    package func read(_ path: JSONPointer, at version: UInt64, reply: @escaping SessionReply<StateAnswer>) {
        recordUse()
        let position = Cursor.Position(version: version, transients: 0)
        let cursor = Cursor(epoch: standing.visibleEpoch, position: position, incarnation: nil)
        readPast(at: version, reply) { state in
            guard let value = state.document().json(path) else { return .failure(.noValue(path.description)) }
            return .success(StateAnswer(cursor: cursor, value: value))
        }
    }

    /// Reads the stored fields as they were at a version, as a document with which another session can begin.
    ///
    /// If `version` is nil, the newest durable version is read.
    package func document(at version: UInt64?, reply: @escaping SessionReply<[UInt8]>) {
        recordUse()
        guard isStored else { return reply(.failure(.notFound(key))) }
        let capacity = documentCapacity
        readPast(at: version ?? standing.version, reply) { .success($0.persistentJSON(capacity)) }
    }

    /// Reads the log after a version, or from its beginning if `version` is nil.
    ///
    /// The answer has at most `limit` entries, and fewer if they are large.
    package func readLog(after version: UInt64?, limit: Int, reply: @escaping SessionReply<LogPage>) {
        recordUse()
        let version = version ?? log.retained.from - 1
        guard isStored else { return reply(.failure(.notFound(key))) }
        guard version < standing.version else {
            guard version == standing.version else { return reply(.failure(missing(version))) }
            return reply(.success(LogPage(cursor: standing.cursor, entries: [], hasMore: false)))
        }
        guard version + 1 >= log.retained.from else { return reply(.failure(missing(version + 1))) }
        askForPast { [key, epoch = standing.epoch] in
            $0.past.history(key, epoch: epoch, after: version, limit: limit, reply: $1)
        } then: { session, history in
            reply(
                history.flatMap { entries in
                    guard let entries else { return .failure(session.missing(version + 1)) }
                    return .success(session.page(of: entries, after: version))
                }
            )
        }
    }

    /// Returns the first visible entries that fit one answer, but at least one entry; `entries` begin after `version`.
    private func page(of entries: [LogEntry], after version: UInt64) -> LogPage {
        var bytes = 0
        let shown = entries.prefix { $0.version <= standing.version }
        let fitting = shown.prefix { entry in
            bytes += entry.byteCount
            return bytes <= environment.limits.logAnswerBytesMax
        }
        let page = shown.prefix(max(fitting.count, 1))
        let last = page.last?.version ?? version
        return LogPage(cursor: standing.cursor, entries: Array(page), hasMore: last < standing.version)
    }

    /// Returns the error for a version that the log no longer has, or does not have yet.
    private func missing(_ version: UInt64) -> SessionError {
        version <= standing.version
            ? .versionGone(version, oldest: log.retained.from - 1) : .noVersion(version, current: standing.version)
    }

    // MARK: - States of the past

    /// Restores the state at a version, and answers with the value that a job reads from it.
    ///
    /// The restored state is the app's default with the stored fields of that version.
    private func readPast<Answer: Sendable>(
        at version: UInt64,
        _ reply: @escaping SessionReply<Answer>,
        _ job: @escaping @Sendable (StateEncoder) -> Result<Answer, SessionError>
    ) {
        guard version <= standing.version else { return reply(.failure(missing(version))) }
        // An unstored session has only the default state.
        guard isStored else { return reply(job(state.held(state.defaultState))) }
        askForPast { [key, epoch = standing.epoch] in
            $0.past.past(key, epoch: epoch, at: version, reply: $1)
        } then: { session, past in
            do throws(SessionError) {
                guard let past = try past.get() else { throw session.missing(version) }
                session.restore(past, reply, job)
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Restores a state of the past and reads it, in one job that then drops the state.
    private func restore<Answer: Sendable>(
        _ past: StoredPast,
        _ reply: @escaping SessionReply<Answer>,
        _ job: @escaping @Sendable (StateEncoder) -> Result<Answer, SessionError>
    ) {
        let restoring = state.restoring(past, of: key)
        work(bytes: past.byteCount, goingOn: pastReads) {
            restoring().map { (findings: $0.findings, answer: job($0.state)) }
        } then: { session, restored in
            do throws(SessionError) {
                try session.machine.admit()
                let restored = try restored.get()
                try session.judge(restored.findings) { reply($0.flatMap { restored.answer }) }
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// Checks that a migration has found the paths that it needs; missing paths are searched for in other sessions, as
    /// in a load.
    private func judge(
        _ findings: MigrationFindings,
        _ body: @escaping (Result<Void, SessionError>) -> Void
    ) throws(SessionError) {
        let lacking = try migrations.judge(findings, of: key, isStored: false)
        guard !lacking.isEmpty else { return body(.success(())) }
        askForPast { [migrations, limits = environment.limits, logger = environment.logger] in
            migrations.search(
                for: lacking,
                in: $0,
                sessionsMax: limits.migrationSearchSessionsMax,
                logger: logger,
                reply: $1
            )
        } then: { session, result in
            do throws(SessionError) {
                try result.get()
                _ = try session.migrations.judge(findings, of: session.key, isStored: false)
                body(.success(()))
            } catch {
                body(.failure(error))
            }
        }
    }

    /// Asks storage, unless too many requests read logs already.
    private func askForPast<Answer: Sendable>(
        _ question: (_ storage: SessionStorage, _ reply: @escaping StorageReply<Answer>) -> Void,
        then body: @escaping (_ session: Session, _ answer: Result<Answer, SessionError>) -> Void
    ) {
        let isAsked = askLog(pastReads, question) { session, result in
            do throws(SessionError) {
                try session.machine.admit()
                body(session, result.mapError(SessionError.storage))
            } catch {
                body(session, .failure(error))
            }
        }
        if !isAsked { body(self, .failure(.overloaded("requests that read logs (resumesMax)"))) }
    }
}
