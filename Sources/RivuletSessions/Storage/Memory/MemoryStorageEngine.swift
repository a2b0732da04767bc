internal import Dispatch
public import RivuletStores
internal import Synchronization

/// Keeps sessions and the items of stores in memory, for tests and for servers that may forget.
///
/// Requests are answered one after the other, in the order in which they came: on the caller's thread when no other is under way, and else on one of
/// the engine's. Nothing survives the process: "durable" means "in this engine".
public final class MemoryStorageEngine: StorageRoles {
    /// What this engine promises.
    public let capabilities: StorageCapabilities

    private let limits: MemoryStorageLimits
    private let itemStorage: MemoryItemStorage
    private let queue = DispatchQueue(label: "rivulet.storage.memory")
    /// The requests that are not answered yet, for `close()` to wait for.
    private let underWay = DispatchGroup()
    private let state = Mutex(State())

    private struct State {
        var sessions: [SessionKey: MemorySession] = [:]
        var bytes = 0
        var lastToken: UInt64 = 0
        var requestsUnderWay = 0
        var phase = Phase.new
    }

    private enum Phase {
        /// The phase until `start()`.
        case new
        /// The phase in which requests are accepted.
        case open
        /// The phase after `close()`.
        case closed
    }

    /// Makes an empty engine.
    ///
    /// `clock` gives the times of items, in milliseconds since 1970-01-01T00:00:00Z, nil: the system's clock.
    public init(limits: MemoryStorageLimits = MemoryStorageLimits(), clock: (@Sendable () -> Int64)? = nil) {
        self.limits = limits
        itemStorage = MemoryItemStorage(itemsMax: limits.itemsMax, clock: clock ?? WallClock.milliseconds)
        capabilities = StorageCapabilities(
            name: "memory",
            isShared: false,
            entryBytesMax: limits.entryBytesMax,
            snapshotBytesMax: limits.snapshotBytesMax,
            survivesPowerLoss: false
        )
    }

    /// Begins to accept requests.
    ///
    /// - Throws: `.closed` after `close()`.
    public func start() throws(StorageError) {
        let wasClosed = state.withLock { state in
            if state.phase == .new { state.phase = .open }
            return state.phase == .closed
        }
        if wasClosed { throw .closed }
    }

    /// Reads the newest snapshot and every later entry; nil when there is no such session.
    public func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        perform(reply) { state in state.sessions[key]?.stored }
    }

    /// Creates a session at version 0.
    public func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        perform(reply) { [self] state throws(StorageError) in
            if let existing = state.sessions[key] { return .exists(existing.head) }
            let session = try newSession(epoch: epoch, time: time, snapshot: snapshot, in: &state)
            try reserve(session.byteCount, in: &state.bytes)
            state.sessions[key] = session
            return .created(session.head)
        }
    }

    /// Appends entries and keeps answers, all or nothing.
    public func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: KeptAnswers,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        perform(reply) { [self] state throws(StorageError) in
            try check(entries)
            try check(answers)
            switch (point, state.sessions.index(forKey: key)) {
            case (.after(let head), let index?):
                // In place: a copy of the session, even one that is not used any more, would make `append` copy its log.
                return try append(
                    entries,
                    keeping: answers,
                    to: &state.sessions.values[index],
                    after: head,
                    &state.bytes
                )
            case (.creating(let epoch, let time, let snapshot), nil):
                guard entries.all(followFrom: 0) else { return .conflict }
                var session = try newSession(epoch: epoch, time: time, snapshot: snapshot, in: &state)
                session.append(entries)
                session.keep(answers)
                try reserve(session.byteCount, in: &state.bytes)
                state.sessions[key] = session
                return .committed(session.head)
            case (.after, nil), (.creating, _?):
                return .conflict
            }
        }
    }

    /// Reads entries with a version greater than `version`, oldest first.
    public func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    ) {
        perform(reply) { state in
            guard let session = state.sessions[key], session.epoch == epoch else { return nil }
            return session.entries(after: version, upTo: session.version).map { Array($0.prefix(max(1, limit))) }
        }
    }

    /// Reads what is needed to rebuild the state at `version`.
    public func past(
        _ key: SessionKey,
        epoch: String,
        at version: UInt64,
        reply: @escaping StorageReply<StoredPast?>
    ) {
        perform(reply) { state in
            guard let session = state.sessions[key], session.epoch == epoch else { return nil }
            return session.past(at: version)
        }
    }

    /// Finds the answer that was kept under this id.
    public func keptAnswer(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<KeptAnswer?>
    ) {
        perform(reply) { state in
            guard let session = state.sessions[key], session.epoch == epoch else { return nil }
            return session.answers[id]
        }
    }

    /// Counts the answers that the session keeps of a time not before `time`.
    public func keptAnswers(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<KeptAnswersUsage>
    ) {
        perform(reply) { state in
            let session = state.sessions[key].flatMap { $0.epoch == epoch ? $0 : nil }
            return (session?.answers ?? KeptAnswerTable()).usage(since: time)
        }
    }

    /// Stores a snapshot of the state at `head.version` and lets go of the part of the log that nobody needs any more.
    public func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keepingFrom: UInt64,
        keepingSince: Int64,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        perform(reply) { [self] state throws(StorageError) in
            guard var session = state.sessions[key], session.epoch == head.epoch, session.token == head.token,
                head.version <= session.version, snapshot.version == head.version
            else { return .conflict }
            try check(snapshot)
            let bytesBefore = session.byteCount
            session.compact(to: snapshot, keepingFrom: keepingFrom, keepingSince: keepingSince)
            try reserve(session.byteCount - bytesBefore, in: &state.bytes)
            state.sessions[key] = session
            return .compacted(session.head, retained: session.retained)
        }
    }

    /// Deletes a session, its log, its snapshots and its kept answers; answers whether there was one.
    public func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        perform(reply) { state in
            guard let session = state.sessions.removeValue(forKey: key) else { return false }
            state.bytes -= session.byteCount
            return true
        }
    }

    /// Lists the sessions of an app whose id is greater than `id`, ordered by the bytes of their ids.
    public func sessions(
        app: String,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    ) {
        perform(isLong: true, reply) { state in
            state.sessions.filter { $0.key.app == app && (id ?? "").utf8.lexicographicallyPrecedes($0.key.id.utf8) }
                .sorted { $0.key.id.utf8.lexicographicallyPrecedes($1.key.id.utf8) }
                .prefix(max(0, limit))
                .map { $0.value.summary(id: $0.key.id) }
        }
    }

    /// Answers at once: memory can always commit.
    public func probe(reply: @escaping StorageReply<Void>) {
        perform(reply) { _ in }
    }

    /// Closes the engine; blocks until every accepted request has been answered.
    public func close() {
        state.withLock { $0.phase = .closed }
        underWay.wait()
        state.withLock { state in
            state.sessions = [:]
            state.bytes = 0
        }
    }

    private func newSession(
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        in state: inout State
    ) throws(StorageError) -> MemorySession {
        if let snapshot { try check(snapshot) }
        state.lastToken += 1
        return MemorySession(epoch: epoch, token: state.lastToken, created: time, snapshot: snapshot)
    }

    private func check(_ entries: [LogEntry]) throws(StorageError) {
        guard entries.allSatisfy({ $0.byteCount <= limits.entryBytesMax }) else {
            throw .tooLarge(limitBytes: limits.entryBytesMax)
        }
    }

    private func check(_ answers: KeptAnswers) throws(StorageError) {
        guard answers.answers.allSatisfy({ $0.byteCount <= limits.entryBytesMax }) else {
            throw .tooLarge(limitBytes: limits.entryBytesMax)
        }
    }

    private func check(_ snapshot: StateSnapshot) throws(StorageError) {
        guard snapshot.state.count <= limits.snapshotBytesMax else {
            throw .tooLarge(limitBytes: limits.snapshotBytesMax)
        }
    }

    private func append(
        _ entries: [LogEntry],
        keeping answers: KeptAnswers,
        to session: inout MemorySession,
        after head: SessionHead,
        _ bytesHeld: inout Int
    ) throws(StorageError) -> AppendOutcome {
        guard session.head == head, entries.all(followFrom: head.version) else { return .conflict }
        let bytesBefore = session.byteCount
        let bytes = entries.reduce(0) { $0 + MemorySession.byteCount(of: $1) } + MemorySession.byteCount(of: answers)
        try reserve(bytes, in: &bytesHeld)
        session.append(entries)
        session.keep(answers)
        // What went to make room for the answers is given back.
        try reserve(session.byteCount - bytesBefore - bytes, in: &bytesHeld)
        return .committed(session.head)
    }

    /// Counts bytes that are about to be kept; less than 0 gives bytes back.
    private func reserve(_ bytes: Int, in bytesHeld: inout Int) throws(StorageError) {
        guard bytes <= 0 || bytesHeld + bytes <= limits.bytesMax else {
            throw .full(
                detail: "the memory engine holds \(bytesHeld) of \(limits.bytesMax) bytes: "
                    + "delete sessions, or raise MemoryStorageLimits.bytesMax"
            )
        }
        bytesHeld += bytes
    }

    /// Answers a request: on the caller's thread when no other is under way, as a hop to another costs several times what nearly all of them do.
    ///
    /// `isLong` is what would hold the caller up: it is answered on a thread of the engine always.
    private func perform<Value>(
        isLong: Bool = false,
        _ reply: @escaping StorageReply<Value>,
        _ body: @escaping @Sendable (inout State) throws(StorageError) -> Value
    ) {
        let job: @Sendable () -> Void = { [self] in
            reply(answer(body))
            // Not before: what is requested meanwhile, also by the reply itself, is answered after it.
            state.withLock { $0.requestsUnderWay -= 1 }
            underWay.leave()
        }
        let entry = state.withLock { state -> Entry in
            switch state.phase {
            case .new: return .refused(.unavailable(detail: "start() has not been called"))
            case .closed: return .refused(.closed)
            case .open: break
            }
            guard state.requestsUnderWay < limits.requestsWaitingMax else {
                let count = limits.requestsWaitingMax
                return .refused(.unavailable(detail: "\(count) requests are waiting already; try again"))
            }
            state.requestsUnderWay += 1
            underWay.enter()
            guard isLong || state.requestsUnderWay > 1 else { return .alone }
            // Under the lock, so that requests are answered in their order.
            queue.async(execute: job)
            return .queued
        }
        switch entry {
        case .alone: queue.sync(execute: job)
        case .queued: break
        case .refused(let refusal): reply(.failure(refusal))
        }
    }

    /// What becomes of a request.
    private enum Entry {
        /// It is answered at once: no other is under way.
        case alone
        case queued
        case refused(StorageError)
    }

    private func answer<Value>(_ body: (inout State) throws(StorageError) -> Value) -> Result<Value, StorageError> {
        state.withLock { state in
            do throws(StorageError) {
                return .success(try body(&state))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension MemoryStorageEngine: ItemStorage {
    /// Reads a whole collection; needs no start.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        if isClosed { return reply(.failure(.closed)) }
        itemStorage.items(of: collection, reply: reply)
    }

    /// Makes changes in their order, all or none; needs no start.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        if isClosed { return reply(.failure(.closed)) }
        for case .put(_, let document) in changes where document.count > limits.documentBytesMax {
            return reply(.failure(.tooLarge(limitBytes: limits.documentBytesMax)))
        }
        itemStorage.commit(changes, to: collection, reply: reply)
    }

    private var isClosed: Bool { state.withLock { $0.phase == .closed } }
}
