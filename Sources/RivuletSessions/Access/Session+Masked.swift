// Owns the answers to callers that may see a part of the state only.

package import RivuletAccess
import RivuletBase
package import RivuletJSON
import RivuletObservation

extension Session {
    /// Reads the granted part of the value at a path, now or at a version.
    ///
    /// The path is one that the mask intersects, without patterns. The result is ``SessionError/noValue(_:)`` if
    /// nothing of the value is granted.
    package func read(
        _ path: JSONPointer,
        at version: UInt64?,
        masked mask: PathMask,
        reply: @escaping SessionReply<StateAnswer>
    ) {
        let prune: SessionReply<StateAnswer> = { [self] result in
            switch result {
            case .failure: reply(result)
            case .success(let answer): self.prune(answer, at: path, mask, reply)
            }
        }
        if let version {
            read(path, at: version, reply: prune)
        } else {
            read(path, reply: prune)
        }
    }

    /// Reads what a dispatch's caller may see of the state; the value is empty if that is nothing.
    func readShown(to sender: DispatchSender?, reply: @escaping SessionReply<StateAnswer>) {
        guard let mask = sender?.mask else { return read(.root, reply: reply) }
        let cursor = standing.cursor
        read(.root, at: nil, masked: mask) { result in
            if case .failure(.noValue) = result { return reply(.success(StateAnswer(cursor: cursor, value: []))) }
            reply(result)
        }
    }

    private func prune(
        _ answer: StateAnswer,
        at path: JSONPointer,
        _ mask: PathMask,
        _ reply: @escaping SessionReply<StateAnswer>
    ) {
        work(bytes: answer.value.count) { [schema = state.jsonSchema] in
            mask.pruned(answer.value, at: path, of: schema)
        } then: { _, value in
            guard let value else { return reply(.failure(.noValue(path.description))) }
            reply(.success(StateAnswer(cursor: answer.cursor, value: value)))
        }
    }

    /// Reads a part of the log with its callers and the granted part of its changes, and without events, which may show
    /// anything.
    package func readLog(
        after version: UInt64?,
        limit: Int,
        masked mask: PathMask,
        reply: @escaping SessionReply<LogPage>
    ) {
        guard !mask.isAll else { return readLog(after: version, limit: limit, reply: reply) }
        readLog(after: version, limit: limit) { [self] result in
            reply(
                result.flatMap { page in
                    do throws(JSONError) {
                        return .success(try page.masked(by: mask, of: state.jsonSchema))
                    } catch {
                        return .failure(.unreadable(key, detail: "a logged change cannot be read: \(error)"))
                    }
                }
            )
        }
    }

    /// The changes of a step that its sender may see; nil if the sender may see all of them.
    func shown(_ step: SessionStep, to sender: DispatchSender?) -> [StateChange]? {
        guard let mask = sender?.mask else { return nil }
        guard !mask.isNone else { return [] }
        return PathSet(mask.paths).visible(
            of: step.recording.changes,
            from: state.document(of: machine.head),
            to: state.document(of: step.state)
        )
    }
}

extension LogPage {
    /// The page without events, with the callers and with the granted part of each change.
    fileprivate func masked(by mask: PathMask, of schema: JSONSchema) throws(JSONError) -> LogPage {
        var masked: [LogEntry] = []
        for entry in entries {
            let changes = try [StateChange](logJSON: entry.changes).compactMap { $0.masked(by: mask, of: schema) }
            masked.append(
                LogEntry(
                    version: entry.version,
                    time: entry.time,
                    commandID: nil,
                    by: entry.by,
                    event: [],
                    changes: changes.isEmpty ? [] : changes.logJSON
                )
            )
        }
        return LogPage(cursor: cursor, entries: masked, hasMore: hasMore)
    }
}

extension StateChange {
    /// The granted part of the change; nil if there is none.
    ///
    /// A change of a value that contains granted values has these alone. The position of an element is left out if
    /// elements before it may be hidden.
    fileprivate func masked(by mask: PathMask, of schema: JSONSchema) -> StateChange? {
        guard let pointer = try? JSONPointer(parsing: path), mask.intersects(pointer) else { return nil }
        var change = self
        if index != nil, !mask.showsEveryElement(of: JSONPointer(tokens: pointer.tokens.dropLast())) {
            guard operation != .move else { return nil }
            change.index = nil
        }
        guard !mask.grants(pointer), let value else { return change }
        func pruned(_ json: [UInt8]) -> [UInt8]? { mask.pruned(json, at: pointer, of: schema, keepsID: true) }
        guard let granted = pruned(value) else { return nil }
        (change.value, change.durableValue) = (granted, durableValue.flatMap(pruned))
        return change
    }
}

extension [Coercion] {
    /// The coercions of values that a caller may see.
    func shown(to sender: DispatchSender?) -> [Coercion] {
        guard let mask = sender?.mask else { return self }
        return filter { coercion in
            guard let path = try? JSONPointer(parsing: coercion.path) else { return false }
            return mask.grants(path)
        }
    }
}

extension PathMask {
    /// True if a part of each element of a collection is granted, so that their positions are no secret.
    fileprivate func showsEveryElement(of collection: JSONPointer) -> Bool {
        let depth = collection.tokens.count
        return paths.contains { path in
            guard path.tokens.count > depth else { return grants(collection) }
            return path.tokens[depth] == Self.wildcard
                && PathMask([JSONPointer(tokens: Array(path.tokens[..<depth]))]).grants(collection)
        }
    }

    /// The granted part of a value in JSON; nil if nothing of it is granted, or if the text is no JSON.
    ///
    /// The schema is that of the whole document. An element of a keyed collection keeps its `id` if `keepsID` is true.
    func pruned(
        _ json: [UInt8],
        at path: JSONPointer,
        of schema: JSONSchema,
        keepsID: Bool = false
    ) -> [UInt8]? {
        guard let value = try? JSONValue(parsing: json) else { return nil }
        return prune(value, at: path, of: schema, keepsID: keepsID).map { value in
            var writer = JSONWriter(capacity: 256)
            value.encodeJSON(into: &writer)
            return writer.bytes
        }
    }
}
