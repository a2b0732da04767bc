// Owns a session's past: reading it, and going back to it.

import RivuletEngine
package import RivuletJSON
import RivuletObservation

extension Session {
    package func read(_ path: JSONPointer, at version: UInt64, reply: @escaping SessionReply<StateAnswer>) {
        lastUsed = environment.uptime()
        let cursor = Cursor(
            epoch: visibleEpoch,
            position: Cursor.Position(version: version, transients: 0),
            residence: nil
        )
        past(at: version) { state in
            reply(
                state.flatMap { state in
                    guard let value = state.json(at: path) else { return .failure(.noValue(path.description)) }
                    return .success(StateAnswer(cursor: cursor, value: value))
                }
            )
        }
    }

    package func document(at version: UInt64?, reply: @escaping SessionReply<[UInt8]>) {
        lastUsed = environment.uptime()
        guard isStored else { return reply(.failure(.notFound(key))) }
        past(at: version ?? visiblePosition.version) { [self] state in reply(state.map(persistentJSON)) }
    }

    package func readLog(after version: UInt64?, limit: Int, reply: @escaping SessionReply<LogPage>) {
        lastUsed = environment.uptime()
        let version = version ?? retained.from - 1
        guard isStored else { return reply(.failure(.notFound(key))) }
        guard version < visiblePosition.version else {
            guard version == visiblePosition.version else { return reply(.failure(unavailable(version))) }
            return reply(.success(LogPage(cursor: visibleCursor, entries: [], hasMore: false)))
        }
        guard version + 1 >= retained.from else { return reply(.failure(unavailable(version + 1))) }
        let past = environment.storage.past
        ask { [key, epoch] in
            past.history(key, epoch: epoch, after: version, limit: limit, reply: $0)
        } then: { [self] history in
            reply(history.flatMap { page(of: $0, after: version) })
        }
    }

    /// What of the entries is visible and fits one answer.
    private func page(of entries: [LogEntry]?, after version: UInt64) -> Result<LogPage, SessionError> {
        guard let entries else { return .failure(unavailable(version + 1)) }
        var bytes = 0
        let shown = entries.prefix { $0.version <= visiblePosition.version }
        let fitting = shown.prefix { entry in
            bytes += entry.byteCount
            return bytes <= environment.limits.logAnswerBytesMax
        }
        let page = shown.prefix(max(fitting.count, 1))
        let last = page.last?.version ?? version
        return .success(
            LogPage(cursor: visibleCursor, entries: Array(page), hasMore: last < visiblePosition.version)
        )
    }

    // MARK: - The past

    /// Makes the state at a version again: the app's default with what is stored of that version.
    private func past(at version: UInt64, _ body: @escaping (Result<State, SessionError>) -> Void) {
        guard version <= visiblePosition.version else { return body(.failure(unavailable(version))) }
        // Of a session that storage does not know there is the default only.
        guard isStored else { return body(.success(engine.definition.defaultState)) }
        let past = environment.storage.past
        ask { [key, epoch] in
            past.past(key, epoch: epoch, at: version, reply: $0)
        } then: { [self] past in
            do throws(SessionError) {
                guard let past = try past.get() else { throw unavailable(version) }
                try make(past, body)
            } catch {
                body(.failure(error))
            }
        }
    }

    /// Makes a state of the past; a path that a migration step needs is looked for in other sessions, as when a session is loaded.
    private func make(
        _ past: StoredPast,
        _ body: @escaping (Result<State, SessionError>) -> Void
    ) throws(SessionError) {
        let restored = try RestoredState(
            snapshot: past.snapshot,
            entries: past.entries,
            isNew: false,
            engine.definition,
            key
        )
        let lacking = try migrations.judge(restored.findings, of: key, isStored: false)
        guard !lacking.isEmpty else { return body(.success(restored.state)) }
        ask { [migrations, environment] in
            migrations.search(
                for: lacking,
                in: environment.storage,
                sessionsMax: environment.limits.migrationSearchSessionsMax,
                logger: environment.logger,
                reply: $0
            )
        } then: { [self] result in
            do throws(SessionError) {
                try result.get()
                _ = try migrations.judge(restored.findings, of: key, isStored: false)
                body(.success(restored.state))
            } catch {
                body(.failure(error))
            }
        }
    }

    private func unavailable(_ version: UInt64) -> SessionError {
        guard version <= visiblePosition.version else {
            return .noVersion(version, current: visiblePosition.version)
        }
        return .versionGone(version, oldest: retained.from - 1)
    }

    /// Asks storage, unless too many do at once; the session stays in memory until the answer is there.
    private func ask<Value: Sendable>(
        _ question: (@escaping StorageReply<Value>) -> Void,
        then body: @escaping (Result<Value, SessionError>) -> Void
    ) {
        guard environment.resumes.begin() else {
            return body(.failure(.overloaded("requests that read logs (resumesMax)")))
        }
        readsUnderWay += 1
        let confined = Confined((session: self, body: body), to: environment.executor)
        question { result in
            confined.post { (session, body) in
                session.readsUnderWay -= 1
                session.environment.resumes.end()
                do throws(SessionError) {
                    try session.refuseWhenLeaving()
                    body(result.mapError(SessionError.storage))
                } catch {
                    body(.failure(error))
                }
            }
        }
    }

    // MARK: - Going back

    /// Queues an event of the engine behind everything that is queued; a restore first reads its version, which never changes.
    func replace(
        _ event: EngineEvent,
        _ request: DispatchRequest,
        keeper: AnswerKeeper?,
        _ reply: @escaping SessionReply<DispatchAnswer>
    ) {
        lastUsed = environment.uptime()
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

    /// Replaces the state as a queued event of the engine asks; nil: the dispatch has none.
    func replace(_ replacement: Replacement?) throws(SessionError) -> EventEngine<Definition>.Step? {
        guard let replacement else { return nil }
        do throws(JSONError) {
            return try engine.apply(replacement.event, document: replacement.document, to: &head)
        } catch {
            throw .unreadable(key, detail: "the version that is to be restored does not decode: \(error)")
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
            try refuseWhenLeaving()
            try refuseWhenFull(bytes: bytes)
        } catch {
            return reply(.failure(error))
        }
        waitingBytes += bytes
        queue.append(
            QueuedDispatch(
                events: [],
                notes: nil,
                expected: request.expected,
                isStrict: request.isStrict,
                keeper: keeper,
                replacement: replacement,
                bodyBytes: bytes,
                reply: reply
            )
        )
        runQueue()
    }
}
