// Owns a session's beginning and end, and reading it.

import RivuletEngine
package import RivuletJSON
import RivuletObservation

extension Session {
    package func read(_ path: JSONPointer) -> Result<StateAnswer, SessionError> {
        lastUsed = environment.uptime()
        guard let value = visible.json(at: path) else {
            let isNumbered = State.jsonSchema.hasNumberForID(along: path.tokens[...])
            return .failure(isNumbered ? .noElement(path.description) : .noValue(path.description))
        }
        return .success(StateAnswer(cursor: visibleCursor, value: value))
    }

    package func info() -> SessionInfo {
        SessionInfo(
            key: key,
            epoch: visibleEpoch,
            version: visiblePosition.version,
            created: created,
            updated: updated,
            streams: streamCount,
            retainedFrom: retained.from
        )
    }

    package func create(state: JSONReader?, isStrict: Bool, reply: @escaping SessionReply<CreateAnswer>) {
        lastUsed = environment.uptime()
        do throws(SessionError) {
            try refuseWhenLeaving()
            guard !isStored, pending.isEmpty, !isStorageBusy else { return answerExisting(reply) }
            let coerced = if let state { try begin(with: state, isStrict: isStrict) } else { [Coercion]() }
            creations.append { reply($0.map { .created($0, coerced: coerced) }) }
            advance()
        } catch {
            reply(.failure(error))
        }
    }

    /// Exists already, or will with the first event that is under way.
    private func answerExisting(_ reply: @escaping SessionReply<CreateAnswer>) {
        guard isStored else {
            return creations.append { reply($0.map { .existed($0) }) }
        }
        reply(.success(.existed(info())))
    }

    /// Lays a partial document over the default; it becomes visible when storage has it.
    ///
    /// - Returns: what wrappers changed in it.
    private func begin(with document: JSONReader, isStrict: Bool) throws(SessionError) -> [Coercion] {
        var state = visible
        let coercions = try merge(document, into: &state)
        if isStrict, !coercions.isEmpty { throw .coerced(coercions.map { $0.placed(in: document) }) }
        let changes = ChangeRecorder.differences(from: visible, to: state)
        guard !changes.isEmpty else { return coercions }
        let size = try size(after: changes, from: visible, to: state)
        initialDocument = persistentJSON(of: state)
        // Cursors of the default state are at version 0 too, and must not pass for cursors of this one.
        creationEpoch = RandomToken.epoch()
        published = HeldState(visible)
        head = state
        headSize = size
        // The document of version 0 has what transient events did.
        unlogged = []
        headPosition = Cursor.Position(version: headPosition.version, transients: headPosition.transients + 1)
        keepPending(
            Pending(
                state: state,
                position: headPosition,
                size: size,
                changes: changes,
                coercions: [],
                effects: nil,
                entry: nil,
                persists: true,
                unloggedAfter: [],
                reply: { _ in }
            )
        )
        return coercions
    }

    private func merge(_ document: JSONReader, into state: inout State) throws(SessionError) -> [Coercion] {
        var failure: JSONError?
        let recording = ChangeRecorder.record(&state) { state in
            do throws(JSONError) {
                var reader = document
                reader.unknownKeys = .reject
                try state._$merge(json: &reader)
                try reader.finish()
            } catch {
                failure = error
            }
        }
        if let failure { throw .body(failure) }
        return recording.coercions
    }

    package func delete(reply: @escaping SessionReply<Void>) {
        lastUsed = environment.uptime()
        do throws(SessionError) {
            try refuseWhenLeaving()
            guard isStored || !pending.isEmpty || isStorageBusy else { throw .notFound(key) }
        } catch {
            return reply(.failure(error))
        }
        deletion = reply
        advance()
    }

    /// Answers a deletion whose session turned out never to have been stored.
    func finishDeletionOfNothing() {
        guard let reply = deletion else { return }
        deletion = nil
        reply(.failure(.notFound(key)))
    }

    /// Deletes once nothing is under way; what is still queued is refused.
    func finishDeletionIfDrained() {
        guard deletion != nil, pending.isEmpty, !isStorageBusy else { return }
        isStorageBusy = true
        let confined = Confined(self, to: environment.executor)
        environment.storage.log.delete(key) { outcome in
            confined.post { $0.deletionDidFinish(outcome) }
        }
    }

    private func deletionDidFinish(_ outcome: Result<Bool, StorageError>) {
        isStorageBusy = false
        let reply = deletion
        deletion = nil
        switch outcome {
        case .success:
            retire(failing: .notFound(key), deletedEpoch: visibleEpoch)
            reply?(.success(()))
        case .failure(let error):
            if case .indeterminate = error { retire(failing: .storage(error)) }
            reply?(.failure(.storage(error)))
            runQueue()
        }
    }
}

extension Coercion {
    /// The same value, at its place in the body that has the state where the reader is.
    fileprivate func placed(in state: JSONReader) -> Coercion {
        var reader = state
        do throws(JSONError) {
            let place = try JSONValue(json: &reader).place(of: try JSONPointer(parsing: path))
            return Coercion(path: state.pointer + place.description, from: from, to: to)
        } catch {
            // Not to be expected, since the state was read: the key path is the next best.
            return Coercion(path: state.pointer + path, from: from, to: to)
        }
    }
}

extension JSONSchema {
    /// Whether a path has a number where the id of an element of a keyed collection belongs.
    fileprivate func hasNumberForID(along path: ArraySlice<String>) -> Bool {
        guard let token = path.first else { return false }
        let rest = path.dropFirst()
        switch self {
        case .keyed(let element, _):
            return JSONPointer.index(token) != nil || element.hasNumberForID(along: rest)
        case .array(let element), .dictionary(let element): return element.hasNumberForID(along: rest)
        case .optional(let schema), .annotated(let schema, _): return schema.hasNumberForID(along: path)
        case .named(_, _, let shape): return shape().hasNumberForID(along: path)
        case .oneOf(let schemas), .anyOf(let schemas): return schemas.contains { $0.hasNumberForID(along: path) }
        case .object(_, _, let fields):
            return fields().contains { $0.name == token && $0.schema.hasNumberForID(along: rest) }
        case .any, .null, .boolean, .integer, .number, .string: return false
        }
    }
}
