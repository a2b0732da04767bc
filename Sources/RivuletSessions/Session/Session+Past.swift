import RivuletEngine
package import RivuletJSON

extension Session {
    /// The value at the path as it was at a version; transient fields have their defaults, as after a restart.
    ///
    /// The answer's cursor is the short one, of that version.
    package func read(_ path: JSONPointer, at version: UInt64, reply: @escaping SessionReply<StateAnswer>) {
        noteUse()
        let position = Cursor.Position(version: version, transients: 0)
        let cursor = Cursor(epoch: standing.visibleEpoch, position: position, residence: nil)
        past(at: version) { session, past in
            reply(
                past.flatMap { past in
                    guard let value = session.state.json(at: path, of: past) else {
                        return .failure(.noValue(path.description))
                    }
                    return .success(StateAnswer(cursor: cursor, value: value))
                }
            )
        }
    }

    /// The stored fields as they were at a version, as a document to begin another session with; nil: the newest durable version.
    package func document(at version: UInt64?, reply: @escaping SessionReply<[UInt8]>) {
        noteUse()
        guard isStored else { return reply(.failure(.notFound(key))) }
        past(at: version ?? standing.version) { session, past in reply(past.map(session.persistentJSON)) }
    }

    /// The log after a version, or from its beginning: at most so many entries, and fewer when they are large.
    package func readLog(after version: UInt64?, limit: Int, reply: @escaping SessionReply<LogPage>) {
        noteUse()
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

    /// The first of the entries that are visible and fit one answer, at least one; the entries come after version `version`.
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

    /// The error that says why a version is not there.
    private func missing(_ version: UInt64) -> SessionError {
        version <= standing.version
            ? .versionGone(version, oldest: log.retained.from - 1) : .noVersion(version, current: standing.version)
    }

    // MARK: - States of the past

    /// Makes the state at a version again: the app's default with what is stored of that version.
    private func past(
        at version: UInt64,
        _ body: @escaping (_ session: Session, _ state: Result<OpaqueBox, SessionError>) -> Void
    ) {
        guard version <= standing.version else { return body(self, .failure(missing(version))) }
        // Of a session that storage does not know there is the default only.
        guard isStored else { return body(self, .success(state.defaultState)) }
        askForPast { [key, epoch = standing.epoch] in
            $0.past.past(key, epoch: epoch, at: version, reply: $1)
        } then: { session, past in
            do throws(SessionError) {
                guard let past = try past.get() else { throw session.missing(version) }
                try session.make(past, body)
            } catch {
                body(session, .failure(error))
            }
        }
    }

    /// Makes a state of the past; a path that a migration step needs is looked for in other sessions, as when a session is loaded.
    private func make(
        _ past: StoredPast,
        _ body: @escaping (_ session: Session, _ state: Result<OpaqueBox, SessionError>) -> Void
    ) throws(SessionError) {
        let (box, findings) = try state.restore(past, of: key)
        let lacking = try migrations.judge(findings, of: key, isStored: false)
        guard !lacking.isEmpty else { return body(self, .success(box)) }
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
                body(session, .success(box))
            } catch {
                body(session, .failure(error))
            }
        }
    }

    /// Asks storage, unless too many read logs already.
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

    // MARK: - Going back

    /// Queues an event of the engine behind everything that is queued; a restore first reads its version, which never changes.
    func replace(
        _ event: EngineEvent,
        _ request: DispatchRequest,
        keeper: AnswerKeeper?,
        _ reply: @escaping SessionReply<DispatchAnswer>
    ) {
        noteUse()
        switch event {
        case .reset: enqueue(Replacement(event: event, document: []), request, keeper, reply)
        case .restored(let version):
            document(at: version) { [self] document in
                switch document {
                case .success(let document):
                    enqueue(Replacement(event: event, document: document), request, keeper, reply)
                case .failure(let error): reply(.failure(error))
                }
            }
        }
    }

    private func enqueue(
        _ replacement: Replacement,
        _ request: DispatchRequest,
        _ keeper: AnswerKeeper?,
        _ reply: @escaping SessionReply<DispatchAnswer>
    ) {
        let bytes = request.body.count + replacement.document.count
        do throws(SessionError) {
            try machine.admit(bytes: bytes)
        } catch {
            return reply(.failure(error))
        }
        machine.enqueue(
            QueuedDispatch(
                .replacement(replacement),
                expected: request.expected,
                isStrict: request.isStrict,
                keeper: keeper,
                bodyBytes: bytes,
                reply: reply
            )
        )
        drive()
    }
}
