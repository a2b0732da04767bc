import RivuletEngine
package import RivuletJSON
import RivuletObservation

extension Session {
    /// Stores the session at version 0 if it is not stored yet.
    ///
    /// `state` is a reader, positioned at a partial document that is merged into the default. It reads a request body,
    /// or the document of a fork. If it is nil, the session begins with the default. A strict creation is refused if a
    /// wrapper would change a value of the document. `owner` is the caller's name, if it has one.
    package func create(
        state document: JSONReader?,
        isStrict: Bool,
        owner: String? = nil,
        reply: @escaping SessionReply<CreateAnswer>
    ) {
        recordUse()
        do throws(SessionError) {
            try machine.admit()
            if isStored { return reply(.success(.existed(info()))) }
            try machine.admit(bytes: document?.byteCount ?? 0)
            guard !machine.isPaused else { return awaitPause(document, isStrict, owner, reply) }
            // The work under way creates the session.
            guard !machine.isBegun else { return machine.awaitCreation { reply($0.map { .existed($0) }) } }
            guard let document else { return create(coerced: [], owner, reply) }
            begin(with: document, isStrict: isStrict, owner, reply)
        } catch {
            reply(.failure(error))
        }
    }

    /// Keeps the creation until the pause ends, then begins it again.
    ///
    /// The work that pauses the session may be another creation. If that creation is refused, the session is still not
    /// stored.
    private func awaitPause(
        _ document: JSONReader?,
        _ isStrict: Bool,
        _ owner: String?,
        _ reply: @escaping SessionReply<CreateAnswer>
    ) {
        guard creationsToCome.count < environment.limits.engine.queuedDispatchesMax else {
            return reply(.failure(.overloaded("creations of session \(key.id) (queuedDispatchesMax)")))
        }
        let body = machine.hold(bytes: document?.byteCount ?? 0)
        creationsToCome.append {
            $0.machine.release(body)
            $0.create(state: document, isStrict: isStrict, owner: owner, reply: reply)
        }
        account()
    }

    /// Merges a partial document into the default, on a work thread if the document or the state is large.
    ///
    /// The result becomes visible once it is stored.
    private func begin(
        with document: JSONReader,
        isStrict: Bool,
        _ owner: String?,
        _ reply: @escaping SessionReply<CreateAnswer>
    ) {
        let job = state.merging(document, over: standing.state)
        let body = machine.hold(bytes: document.byteCount)
        account()
        workOnHead(bytes: max(machine.headSize.bytes, document.byteCount), job) { session, merged in
            session.machine.release(body)
            do throws(SessionError) {
                let merged = try merged.get()
                if isStrict, !merged.coercions.isEmpty {
                    throw .coerced(merged.coercions.map { $0.placed(in: document) })
                }
                try session.begin(with: merged)
                session.create(coerced: merged.coercions, owner, reply)
            } catch {
                reply(.failure(error))
            }
        }
    }

    private func begin(with merged: MergedState) throws(SessionError) {
        guard !machine.isRetired else { throw SessionMachine.retiredError }
        guard !merged.changes.isEmpty else { return }
        let size = try size(measured: merged.size)
        let epoch = RandomToken.epoch()
        let initial = SessionCreation.Initial(
            document: merged.document,
            epoch: epoch,
            visibleEpoch: epochs.name(of: epoch)
        )
        machine.create(with: initial, state: merged.state(), size: size, changes: merged.changes)
    }

    private func create(coerced: [Coercion], _ owner: String?, _ reply: @escaping SessionReply<CreateAnswer>) {
        machine.beginCreation(by: owner)
        machine.awaitCreation { reply($0.map { .created($0, coerced: coerced) }) }
        drive()
    }
}

extension Coercion {
    /// Returns the coercion with its path from the root of the reader's text, with indices in place of element ids.
    ///
    /// The text is a request body, or the document of a fork. `state` is its reader, positioned at the state.
    fileprivate func placed(in state: JSONReader) -> Coercion {
        var reader = state
        do throws(JSONError) {
            let pointer = try JSONValue(json: &reader).pointer(of: try JSONPointer(parsing: path))
            return Coercion(path: state.pointer + pointer.description, from: from, to: to)
        } catch {
            // Not expected, because this state was parsed before. The path then names elements by their ids instead of
            // their indices.
            return Coercion(path: state.pointer + path, from: from, to: to)
        }
    }
}
