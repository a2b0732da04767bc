import RivuletEngine
import RivuletJSON
import RivuletObservation

/// A piece of the log on its way to a stream.
private struct MissedPage {
    let subscriber: Subscriber
    /// Where the reader stood before it.
    let cursor: Cursor
    var entries: [(entry: LogEntry, changes: [StateChange])] = []

    /// The last version that the reader has with it.
    var version: UInt64 { entries.last?.entry.version ?? cursor.position.version }
}

extension Session {
    /// Gives each missed change as an event of its own: from memory what its streams got, otherwise from the log.
    func resumeAll(_ subscriber: Subscriber, from cursor: Cursor) {
        let key = subscriber.key
        let isSameResidence = cursor.residence == residence
        let tail = key.view.map { views[$0]?.tail } ?? self.tail
        if isSameResidence, let missed = tail?.changes(after: cursor.position),
            !missed.contains(where: { key.paths.looksInto($0.changes) })
        {
            return join(subscriber, first: events(of: missed, for: key))
        }
        // No log has a view's changes.
        guard key.view == nil else { return reset(subscriber, .historyGone) }
        // What its reader knows that no log has, the next version's changes may not fit.
        guard !cursor.hasUnlogged, cursor.position.version < visiblePosition.version else {
            return resumeMerged(subscriber, from: cursor)
        }
        // Who reads the log does not know what else was in memory, and its cursors must say so.
        let logCursor = Cursor(
            epoch: cursor.epoch,
            position: cursor.position,
            residence: Cursor.logResidence,
            paths: key.pathsName
        )
        readPage(MissedPage(subscriber: subscriber, cursor: logCursor))
    }

    /// The events that the group's members got; no watched path is within a changed one.
    private func events(of missed: [VisibleChange], for key: StreamGroupKey) -> [StreamEvent] {
        let nothing = ReadableDocument { _, _ in false }
        return missed.compactMap { change in
            let seen = key.paths.visible(of: change.changes, from: nothing, to: nothing)
            guard !seen.isEmpty else { return nil }
            let cursor = Cursor(
                epoch: visibleEpoch,
                position: change.position,
                residence: residence,
                hasUnlogged: change.hasUnlogged,
                paths: key.pathsName
            )
            return .change(seen, cursor: cursor)
        }
    }

    // MARK: - From the log

    private func readPage(_ page: MissedPage) {
        let version = page.cursor.position.version
        guard visiblePosition.version - version <= UInt64(environment.limits.resumeVersionsMax),
            version + 1 >= retained.from
        else {
            return reset(page.subscriber, .historyGone)
        }
        let past = environment.storage.past
        let limit = environment.limits.resumePageVersionsMax
        askLog(for: page.subscriber) { [key, epoch] in
            past.history(key, epoch: epoch, after: version, limit: limit, reply: $0)
        } then: { [self] entries in
            var page = page
            page.entries = try visible(of: entries ?? [])
            guard !page.entries.isEmpty else { return reset(page.subscriber, .historyGone) }
            try look(into: page)
        }
    }

    /// As much of the log as one piece may have.
    private func visible(of entries: [LogEntry]) throws(JSONError) -> [(entry: LogEntry, changes: [StateChange])] {
        var bytes = 0
        var page: [(entry: LogEntry, changes: [StateChange])] = []
        for entry in entries where entry.version <= visiblePosition.version {
            bytes += entry.changes.count
            guard page.isEmpty || bytes <= environment.limits.resumePageBytesMax else { break }
            page.append((entry, try [StateChange](logJSON: entry.changes)))
        }
        return page
    }

    /// Makes the states of the piece again where the changes alone do not tell what its reader saw.
    private func look(into page: MissedPage) throws {
        let paths = page.subscriber.key.paths
        let isNeeded = page.entries.contains { _, changes in
            paths.looksInto(changes) || (engine.hasTransientElements && changes.contains(where: \.hasContainer))
        }
        guard isNeeded else {
            let nothing = ReadableDocument { _, _ in false }
            let seen = page.entries.map { paths.visible(of: $0.changes, from: nothing, to: nothing) }
            return give(page, seen)
        }
        let past = environment.storage.past
        askLog(for: page.subscriber) { [key, epoch] in
            past.past(key, epoch: epoch, at: page.cursor.position.version, reply: $0)
        } then: { [self] past in
            guard let past else { return reset(page.subscriber, .historyGone) }
            give(page, try replay(page, from: past))
        }
    }

    private func replay(_ page: MissedPage, from past: StoredPast) throws -> [[StateChange]] {
        let restored = try RestoredState(
            snapshot: past.snapshot,
            entries: past.entries,
            isNew: false,
            engine.definition,
            key
        )
        var state = restored.state
        return try page.entries.map { entry, changes in
            let before = state
            try RestoredState<Definition>.replay(entry, onto: &state)
            // The log has values as they are on disk: transient fields of elements are not in them.
            let whole = changes.map { $0.hasContainer ? $0.withValue(of: state) : $0 }
            return page.subscriber.key.paths.visible(
                of: whole,
                from: ReadableDocument(before),
                to: ReadableDocument(state)
            )
        }
    }

    /// Sends the piece; the last one with what no log has.
    private func give(_ page: MissedPage, _ seen: [[StateChange]]) {
        let subscriber = page.subscriber
        var events: [StreamEvent] = []
        for (changes, entry) in zip(seen, page.entries) where !changes.isEmpty {
            events.append(.change(changes, cursor: page.cursor.at(version: entry.entry.version)))
        }
        let cursor = page.cursor.at(version: page.version)
        guard page.version < visiblePosition.version else {
            let missed = notLogged(before: cursor) + visibleUnlogged.map(MissedChange.init)
            guard let changes = subscriber.key.paths.changes(missing: missed, in: document(of: nil)) else {
                return reset(subscriber, .placesUnknown)
            }
            if !changes.isEmpty { events.append(.change(changes, cursor: visibleCursor(of: subscriber.key))) }
            return join(subscriber, first: events)
        }
        guard !events.isEmpty else { return readPage(MissedPage(subscriber: subscriber, cursor: cursor)) }
        environment.sink.join(
            subscriber.request.stream,
            at: .more,
            session: key,
            topic: subscriber.key.topic,
            first: events,
            cursor: cursor
        )
    }
}

extension PathSet {
    /// Whether some of the changes are of what contains a watched path, so that values before and after have to be compared.
    fileprivate func looksInto(_ changes: [StateChange]) -> Bool {
        var trie = PathTrie<Int>()
        trie.insert(0, at: self)
        return changes.contains { change in
            guard change.operation != .move, let path = try? JSONPointer(parsing: change.path) else { return false }
            let match = trie.match(path.tokens)
            return match.whole.isEmpty && !match.parts.isEmpty
        }
    }
}

extension StateChange {
    /// Whether its value is an object or an array.
    fileprivate var hasContainer: Bool { value?.first == UInt8(ascii: "{") || value?.first == UInt8(ascii: "[") }

    /// The same with the value that a state has there.
    fileprivate func withValue(of state: some ObservableState) -> StateChange {
        guard let path = try? JSONPointer(parsing: path), let value = state.json(at: path) else { return self }
        var change = self
        change.value = value
        return change
    }
}

extension Cursor {
    /// The place of a version in the log, for the same reader.
    fileprivate func at(version: UInt64) -> Cursor {
        let position = Position(version: version, transients: 0)
        return Cursor(
            epoch: epoch,
            position: position,
            residence: residence,
            paths: paths
        )
    }
}
