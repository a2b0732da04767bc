import RivuletBase
import RivuletEngine
import RivuletJSON
import RivuletObservation

/// A page of the log on its way to a stream.
private struct MissedPage {
    let subscriber: Subscriber
    /// The reader's cursor before the page.
    let cursor: Cursor
    var entries: [(entry: LogEntry, changes: [StateChange])] = []

    /// The last version that the reader has after the page.
    var version: UInt64 { entries.last?.entry.version ?? cursor.position.version }
}

extension Session {
    /// Sends each missed change as an event of its own, from memory if it is kept there, and otherwise from the log.
    func resumeAll(_ subscriber: Subscriber, from cursor: Cursor) {
        let key = subscriber.key
        let isSameIncarnation = cursor.incarnation == standing.incarnation
        let tail = streams.history(of: key.view)?.tail
        if isSameIncarnation, let missed = tail?.changes(after: cursor.position),
            !missed.contains(where: { key.paths.looksInto($0.changes) })
        {
            return join(subscriber, first: events(of: missed, for: key))
        }
        // The log has no changes of views. An open stream that lost its source has no part in that, so it gets the
        // present values instead of a reset.
        guard key.view == nil else {
            guard subscriber.request.isOpen else { return reset(subscriber, .historyGone) }
            return resumeMerged(subscriber, from: cursor)
        }
        // If the reader has changes that are in no log, the log's next changes may not fit its values.
        guard !cursor.hasUnlogged, cursor.position.version < standing.position.version else {
            return resumeMerged(subscriber, from: cursor)
        }
        // A reader of the log does not get the values that were in memory only, and its cursors must say so.
        let logCursor = Cursor(
            epoch: cursor.epoch,
            position: cursor.position,
            incarnation: Cursor.logIncarnation,
            paths: key.pathsName
        )
        readPage(MissedPage(subscriber: subscriber, cursor: logCursor))
    }

    /// The events that the group's members got; none of the changes may be at a path above a watched path.
    private func events(of missed: [VisibleChange], for key: StreamGroupKey) -> [StreamEvent] {
        let nothing = ReadableDocument { _, _ in false }
        return missed.compactMap { change in
            let seen = key.paths.visible(of: change.changes, from: nothing, to: nothing)
            guard !seen.isEmpty else { return nil }
            let cursor = Cursor(
                epoch: standing.visibleEpoch,
                position: change.position,
                incarnation: standing.incarnation,
                hasUnlogged: change.hasUnlogged,
                paths: key.pathsName
            )
            return .change(seen, cursor: cursor)
        }
    }

    // MARK: - From the log

    private func readPage(_ page: MissedPage) {
        let version = page.cursor.position.version
        guard standing.position.version - version <= UInt64(environment.limits.resumeVersionsMax),
            version + 1 >= log.retained.from
        else {
            return reset(page.subscriber, .historyGone)
        }
        let limit = environment.limits.resumePageVersionsMax
        askLog(for: page.subscriber) {
            $0.past.history(key, epoch: standing.epoch, after: version, limit: limit, reply: $1)
        } then: { session, entries in
            var page = page
            page.entries = try session.visible(of: entries ?? [])
            guard !page.entries.isEmpty else { return session.reset(page.subscriber, .historyGone) }
            try session.look(into: page)
        }
    }

    /// The first visible entries and their changes, as many as one page may have.
    private func visible(of entries: [LogEntry]) throws(JSONError) -> [(entry: LogEntry, changes: [StateChange])] {
        var bytes = 0
        var page: [(entry: LogEntry, changes: [StateChange])] = []
        for entry in entries where entry.version <= standing.position.version {
            bytes += entry.changes.count
            guard page.isEmpty || bytes <= environment.limits.resumePageBytesMax else { break }
            page.append((entry, try [StateChange](logJSON: entry.changes)))
        }
        return page
    }

    /// Sends the page.
    ///
    /// If the log's changes alone do not show the changes of the watched paths, it first rebuilds the state at each
    /// version of the page.
    private func look(into page: MissedPage) throws {
        let paths = page.subscriber.key.paths
        let isNeeded = page.entries.contains { _, changes in
            paths.looksInto(changes) || (state.hasTransientElements && changes.contains(where: \.hasContainer))
        }
        guard isNeeded else {
            let nothing = ReadableDocument { _, _ in false }
            let seen = page.entries.map { paths.visible(of: $0.changes, from: nothing, to: nothing) }
            return give(page, seen)
        }
        askLog(for: page.subscriber) {
            $0.past.past(key, epoch: standing.epoch, at: page.cursor.position.version, reply: $1)
        } then: { session, past in
            guard let past else { return session.reset(page.subscriber, .historyGone) }
            session.replay(page, from: past)
        }
    }

    private func replay(_ page: MissedPage, from past: StoredPast) {
        let states = state.replaying(past, page.entries.map(\.entry), of: key)
        let (paths, changes) = (page.subscriber.key.paths, page.entries.map(\.changes))
        // The job may have to write each of these states as a whole.
        work(bytes: past.byteCount * (changes.count + 1), goingOn: streams.reads) {
            Result { paths.visible(of: changes, leadingThrough: try states()) }
        } then: { session, seen in
            session.take(seen, for: page.subscriber) { session.give(page, $0) }
        }
    }

    /// Sends the page; the last page also has the changes that are in no log.
    private func give(_ page: MissedPage, _ seen: [[StateChange]]) {
        let subscriber = page.subscriber
        var events: [StreamEvent] = []
        for (changes, entry) in zip(seen, page.entries) where !changes.isEmpty {
            events.append(.change(changes, cursor: page.cursor.at(version: entry.entry.version)))
        }
        let cursor = page.cursor.at(version: page.version)
        guard page.version < standing.position.version else {
            let missed = notLogged(before: cursor) + standing.unlogged.map(MissedChange.init)
            let document = streams.document(of: nil, standing)
            guard let changes = subscriber.key.paths.changes(missing: missed, in: document) else {
                return reset(subscriber, .placesUnknown)
            }
            if !changes.isEmpty { events.append(.change(changes, cursor: standing.cursor(of: subscriber.key))) }
            return join(subscriber, first: events)
        }
        guard !events.isEmpty else { return readPage(MissedPage(subscriber: subscriber, cursor: cursor)) }
        streams.give(subscriber, events, at: .more, cursor: cursor)
    }
}

extension PathSet {
    /// The changes of each version as the watchers of the paths see them.
    ///
    /// `states` has the state before the first version, and the state after each version.
    fileprivate func visible(of changes: [[StateChange]], leadingThrough states: [StateEncoder]) -> [[StateChange]] {
        zip(changes, zip(states, states.dropFirst())).map { changes, states in
            let (before, now) = (states.0.document(), states.1.document())
            // The log has values as they are on disk, without the transient fields of elements.
            let whole = changes.map { $0.hasContainer ? $0.withValue(of: now.json) : $0 }
            return visible(of: whole, from: before, to: now)
        }
    }

    /// True if a change is at a path above a watched path, so that the values before and after have to be compared.
    fileprivate func looksInto(_ changes: [StateChange]) -> Bool {
        var trie = PathTrie<Int>()
        trie.insert(0, at: self)
        return changes.contains { change in
            guard change.operation != .move, let path = try? JSONPointer(parsing: change.path) else { return false }
            return !trie.match(path.tokens).parts.isEmpty
        }
    }
}

extension StateChange {
    /// True if the value is an object or an array.
    fileprivate var hasContainer: Bool { value?.first == UInt8(ascii: "{") || value?.first == UInt8(ascii: "[") }

    /// The same change with the value that a state has at its path.
    fileprivate func withValue(of state: (_ path: JSONPointer) -> [UInt8]?) -> StateChange {
        guard let path = try? JSONPointer(parsing: path), let value = state(path) else { return self }
        var change = self
        change.value = value
        return change
    }
}

extension Cursor {
    /// The cursor of a version in the log, for the same reader.
    fileprivate func at(version: UInt64) -> Cursor {
        let position = Position(version: version, transients: 0)
        return Cursor(
            epoch: epoch,
            position: position,
            incarnation: incarnation,
            paths: paths
        )
    }
}
