package import RivuletAccess
package import RivuletJSON

extension Session {
    /// Reads the visible value at the path; readers of a large state share the value.
    package func read(_ path: JSONPointer, reply: @escaping SessionReply<StateAnswer>) {
        recordUse()
        let cursor = standing.cursor
        if !reads.isEmpty, let shared = reads.value(at: PathText(path.description), cursor, now: environment.uptime()) {
            return reply(.success(StateAnswer(cursor: cursor, value: shared.json, shared: shared)))
        }
        guard machine.headSize.bytes > environment.limits.turnJSONBytesMax else {
            return reply(answer(state.json(at: path, of: standing.state), at: path, cursor))
        }
        let text = PathText(path.description)
        guard !readsUnderWay.isSmall(text) else {
            let value = state.json(at: path, of: standing.state)
            readsUnderWay.record(text, bytes: value?.count ?? 0)
            return reply(answer(value, at: path, cursor))
        }
        switch readsUnderWay.add(text, at: cursor, reply) {
        case .first: write(path, text, cursor)
        case .waiting: break
        case .full: reply(.failure(.overloaded("key paths of one large state that are read at once (256)")))
        }
    }

    /// Writes the value at a path on a work thread, for all reads that wait for it.
    private func write(_ path: JSONPointer, _ text: PathText, _ cursor: Cursor) {
        let held = state.held(standing.state)
        work {
            held.document().json(path)
        } then: { session, value in
            session.readsUnderWay.record(text, bytes: value?.count ?? 0)
            let (replies, next) = session.readsUnderWay.take(text)
            let answer = session.answer(value, at: path, cursor, readers: replies.count)
            session.send(answer, to: replies[...])
            for reply in next { session.read(path, reply: reply) }
        }
    }

    /// The most readers of one value that are answered in one turn.
    private static var repliesPerTurnMax: Int { 256 }

    private func send(
        _ answer: Result<StateAnswer, SessionError>,
        to replies: ArraySlice<SessionReply<StateAnswer>>
    ) {
        for reply in replies.prefix(Self.repliesPerTurnMax) { reply(answer) }
        let rest = replies.dropFirst(Self.repliesPerTurnMax)
        if !rest.isEmpty { environment.schedule(.milliseconds(1)) { [self] in send(answer, to: rest) } }
    }

    private func answer(
        _ value: [UInt8]?,
        at path: JSONPointer,
        _ cursor: Cursor,
        readers: Int = 1
    ) -> Result<StateAnswer, SessionError> {
        guard let value else {
            let isNumbered = state.hasNumberForID(along: path)
            return .failure(isNumbered ? .noElement(path.description) : .noValue(path.description))
        }
        let shared = share(value, at: path, cursor, readers: readers)
        return .success(StateAnswer(cursor: cursor, value: value, shared: shared))
    }

    /// Keeps a large value for later reads; the reads that waited for this value share it even if it cannot be kept.
    private func share(_ value: [UInt8], at path: JSONPointer, _ cursor: Cursor, readers: Int) -> ReadValue? {
        guard value.count >= SharedReads.bytesMin else { return nil }
        let unkept = readers > 1 ? ReadValue(value, isKept: false) : nil
        guard !machine.isRetired, !environment.memory.isCrowded else { return unkept }
        let isFirst = reads.isEmpty
        let path = PathText(path.description)
        guard let shared = reads.keep(value, at: path, cursor, now: environment.uptime()) else { return unkept }
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

    /// Returns the metadata of the session.
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

    /// Returns the view object `name`, or all `granted` view objects by their names if `name` is nil.
    package func readView(_ name: String?, among granted: NameSet = .all) -> Result<StateAnswer, SessionError> {
        recordUse()
        guard let name else { return .success(StateAnswer(cursor: standing.cursor, value: allViews(granted))) }
        guard let view = view(name) else { return .failure(.noView(name)) }
        let value = state.document(ofView: view).json(.root) ?? []
        return .success(StateAnswer(cursor: standing.cursor, value: value))
    }

    private func allViews(_ granted: NameSet) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        for name in state.viewNames where granted.contains(name) {
            guard let json = view(name).flatMap({ state.document(ofView: $0).json(.root) }) else { continue }
            writer.key(name)
            writer.raw(json)
        }
        writer.endObject()
        return writer.bytes
    }

    /// Returns the view that streams watch, or a view that is made for this reader.
    private func view(_ name: String) -> OpaqueBox? { streams.view(name) ?? state.makeView(name, of: standing.state) }
}
