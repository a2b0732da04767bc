import RivuletEngine
package import RivuletJSON
import RivuletObservation

extension Session {
    /// Stores the session at version 0 if it is not stored yet; `state` is a partial document over the default, at its place in a body.
    ///
    /// A strict creation is refused when a wrapper would change a value of it.
    package func create(state document: JSONReader?, isStrict: Bool, reply: @escaping SessionReply<CreateAnswer>) {
        noteUse()
        do throws(SessionError) {
            try machine.admit()
            if isStored { return reply(.success(.existed(info()))) }
            // It exists with the first event that is under way.
            guard !machine.isBegun else { return machine.awaitCreation { reply($0.map { .existed($0) }) } }
            let coerced = if let document { try begin(with: document, isStrict: isStrict) } else { [Coercion]() }
            machine.awaitCreation { reply($0.map { .created($0, coerced: coerced) }) }
            drive()
        } catch {
            reply(.failure(error))
        }
    }

    /// Lays a partial document over the default; it becomes visible when storage has it.
    ///
    /// - Returns: what wrappers changed in it.
    private func begin(with document: JSONReader, isStrict: Bool) throws(SessionError) -> [Coercion] {
        let merged = try state.merge(document, over: standing.state)
        if isStrict, !merged.coercions.isEmpty { throw .coerced(merged.coercions.map { $0.placed(in: document) }) }
        guard !merged.changes.isEmpty else { return merged.coercions }
        let size = try size(of: merged.state, after: merged.changes, from: standing.state)
        let epoch = RandomToken.epoch()
        let initial = SessionCreation.Initial(
            document: persistentJSON(of: merged.state),
            epoch: epoch,
            visibleEpoch: epochs.name(of: epoch)
        )
        machine.create(with: initial, state: merged.state, size: size, changes: merged.changes)
        return merged.coercions
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
