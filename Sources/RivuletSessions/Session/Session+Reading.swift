package import RivuletJSON

extension Session {
    /// The visible value at the path.
    package func read(_ path: JSONPointer) -> Result<StateAnswer, SessionError> {
        noteUse()
        let cursor = standing.cursor
        if !reads.isEmpty, let shared = reads.value(at: PathText(path.description), cursor) {
            return .success(StateAnswer(cursor: cursor, value: shared.json, shared: shared))
        }
        guard let value = state.json(at: path, of: standing.state) else {
            let isNumbered = state.hasNumberForID(along: path)
            return .failure(isNumbered ? .noElement(path.description) : .noValue(path.description))
        }
        return .success(StateAnswer(cursor: cursor, value: value, shared: share(value, at: path, cursor)))
    }

    /// Keeps a large value for the next reads.
    private func share(_ value: [UInt8], at path: JSONPointer, _ cursor: Cursor) -> ReadValue? {
        guard value.count >= SharedReads.bytesMin, !environment.memory.isCrowded else { return nil }
        let isFirst = reads.isEmpty
        let path = PathText(path.description)
        guard let shared = reads.keep(value, at: path, cursor, now: environment.uptime()) else { return nil }
        account()
        if isFirst { forgetReads(in: SharedReads.ageMax) }
        return shared
    }

    private func forgetReads(in delay: Duration) {
        environment.schedule(delay) { [weak self] in
            guard let self else { return }
            if let next = reads.expire(now: environment.uptime()) { forgetReads(in: next) }
            account()
        }
    }

    /// What there is to say of the session as such.
    package func info() -> SessionInfo {
        SessionInfo(
            key: key,
            epoch: standing.visibleEpoch,
            version: standing.version,
            created: log.created,
            updated: log.updated,
            streams: streams.count,
            retainedFrom: log.retained.from
        )
    }

    /// A view object, or, for nil, all of them by their names.
    package func readView(_ name: String?) -> Result<StateAnswer, SessionError> {
        noteUse()
        guard let name else { return .success(StateAnswer(cursor: standing.cursor, value: allViews())) }
        guard let view = view(name) else { return .failure(.noView(name)) }
        let value = state.document(ofView: view).json(.root) ?? []
        return .success(StateAnswer(cursor: standing.cursor, value: value))
    }

    private func allViews() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        for name in state.viewNames {
            guard let json = view(name).flatMap({ state.document(ofView: $0).json(.root) }) else { continue }
            writer.key(name)
            writer.raw(json)
        }
        writer.endObject()
        return writer.bytes
    }

    /// The view that streams watch, or one that is made for this reader.
    private func view(_ name: String) -> OpaqueBox? { streams.view(name) ?? state.makeView(name, of: standing.state) }
}
