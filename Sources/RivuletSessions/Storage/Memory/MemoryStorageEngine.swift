internal import Dispatch
public import RivuletBase
public import RivuletStores
internal import Synchronization

/// Keeps sessions and the items of stores in memory, for tests and for servers that may lose their data.
///
/// Requests are answered one after the other, in the order in which they came. If no other request is under way, a
/// request is answered on the caller's thread, and otherwise on a thread of the engine. A list of sessions is always
/// made on a thread of the engine. Nothing survives the process: "durable" means "in this engine".
public final class MemoryStorageEngine: StorageRoles {
    /// The properties and limits of this engine.
    public let capabilities: StorageCapabilities

    private let limits: MemoryStorageLimits
    private let itemStorage: MemoryItemStorage
    private let queue = DispatchQueue(label: "rivulet.storage.memory")
    /// The requests that are not answered yet, for which `close()` waits.
    private let underWay = DispatchGroup()
    private let state = Mutex(State())

    private struct State {
        var sessions: [SessionKey: MemorySession] = [:]
        var bytes = 0
        var lastToken: UInt64 = 0
        var requestsUnderWay = 0
        var phase = Phase.new
        var counters = MemoryCounters()
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
    /// `clock` gives the times of items, in milliseconds since 1970-01-01T00:00:00Z. Without it, the engine uses the
    /// system's clock.
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

    /// Reads the newest snapshot and every later entry; nil if there is no such session.
    public func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        perform(reply) { state in state.sessions[key]?.stored }
    }

    /// Creates a session at version 0.
    public func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        perform(reply) { [self] state throws(StorageError) in
            if let existing = state.sessions[key] { return .exists(existing.head) }
            let session = try newSession(epoch: epoch, time: time, snapshot: snapshot, owner: owner, in: &state)
            try state.counters.check(sessions: 1, bytes: session.contentBytes, of: key.app, owner)
            try reserve(session.byteCount, in: &state.bytes)
            state.counters.count(sessions: 1, bytes: session.contentBytes, of: key.app, owner)
            state.sessions[key] = session
            return .created(session.head)
        }
    }

    /// Appends entries and keeps idempotency records, all or nothing.
    public func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        perform(reply) { [self] state throws(StorageError) in
            try check(entries)
            try check(answers)
            switch (point, state.sessions.index(forKey: key)) {
            case (.after(let head), let index?):
                let isCounted = state.counters.counts(key.app)
                let owner = isCounted ? state.sessions.values[index].owner : nil
                let growth = isCounted ? entries.reduce(0) { $0 + $1.byteCount } : 0
                try state.counters.check(sessions: 0, bytes: growth, of: key.app, owner)
                // The session is changed in place. If a copy of it existed, even an unused one, `append` would copy the
                // log.
                let outcome = try append(
                    entries,
                    keeping: answers,
                    to: &state.sessions.values[index],
                    after: head,
                    &state.bytes
                )
                if case .committed = outcome {
                    state.counters.count(sessions: 0, bytes: growth, of: key.app, owner)
                }
                return outcome
            case (.creating(let epoch, let time, let snapshot, let owner), nil):
                guard entries.all(followFrom: 0) else { return .conflict }
                var session = try newSession(
                    epoch: epoch,
                    time: time,
                    snapshot: snapshot,
                    owner: owner,
                    in: &state
                )
                session.append(entries)
                session.keep(answers)
                try state.counters.check(sessions: 1, bytes: session.contentBytes, of: key.app, owner)
                try reserve(session.byteCount, in: &state.bytes)
                state.counters.count(sessions: 1, bytes: session.contentBytes, of: key.app, owner)
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

    /// Reads the data that rebuilds the state at `version`.
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

    /// Finds the idempotency record that was kept under this id.
    public func idempotencyRecord(
        _ key: SessionKey,
        epoch: String,
        id: String,
        reply: @escaping StorageReply<IdempotencyRecord?>
    ) {
        perform(reply) { state in
            guard let session = state.sessions[key], session.epoch == epoch else { return nil }
            return session.answers[id]
        }
    }

    /// Counts the session's idempotency records of `time` or later.
    public func idempotencyRecords(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<IdempotencyUsage>
    ) {
        perform(reply) { state in
            let session = state.sessions[key].flatMap { $0.epoch == epoch ? $0 : nil }
            return (session?.answers ?? IdempotencyTable()).usage(since: time)
        }
    }

    /// Stores a snapshot of the state at `head.version` and drops the part of the log that is not needed any more.
    public func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keeping: LogKeeping,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        perform(reply) { [self] state throws(StorageError) in
            guard var session = state.sessions[key], session.epoch == head.epoch, session.token == head.token,
                head.version <= session.version, snapshot.version == head.version
            else { return .conflict }
            try check(snapshot)
            let isCounted = state.counters.counts(key.app)
            let (bytesBefore, contentBefore) = (session.byteCount, isCounted ? session.contentBytes : 0)
            session.compact(to: snapshot, keeping: keeping)
            try reserve(session.byteCount - bytesBefore, in: &state.bytes)
            if isCounted {
                let growth = session.contentBytes - contentBefore
                state.counters.count(sessions: 0, bytes: growth, of: key.app, session.owner)
            }
            state.sessions[key] = session
            let bytes = keeping.bytes.map { _ in session.entries.reduce(0) { $0 + $1.byteCount } }
            let (from, since) = (session.retained.from, session.retained.since)
            return .compacted(session.head, retained: RetainedLog(from: from, since: since, bytes: bytes))
        }
    }

    /// Deletes a session with its log, its snapshots and its idempotency records; answers true if there was one.
    public func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        perform(reply) { state in
            guard let session = state.sessions.removeValue(forKey: key) else { return false }
            state.bytes -= session.byteCount
            if state.counters.counts(key.app) {
                state.counters.count(sessions: -1, bytes: -session.contentBytes, of: key.app, session.owner)
            }
            return true
        }
    }

    /// Lists the sessions of an app with an id greater than `id`, ordered by the bytes of their ids.
    public func sessions(
        app: String,
        owner: String?,
        after id: String?,
        limit: Int,
        reply: @escaping StorageReply<[SessionSummary]>
    ) {
        perform(isLong: true, reply) { state in
            state.sessions
                .filter { key, session in
                    key.app == app && (owner == nil || session.owner == owner)
                        && (id ?? "").utf8.lexicographicallyPrecedes(key.id.utf8)
                }
                .sorted { $0.key.id.utf8.lexicographicallyPrecedes($1.key.id.utf8) }
                .prefix(max(0, limit))
                .map { $0.value.summary(id: $0.key.id) }
        }
    }

    /// Answers without a test write: memory can always commit.
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
        owner: String?,
        in state: inout State
    ) throws(StorageError) -> MemorySession {
        if let snapshot { try check(snapshot) }
        state.lastToken += 1
        return MemorySession(
            epoch: epoch,
            token: state.lastToken,
            created: time,
            owner: owner,
            snapshot: snapshot
        )
    }

    private func check(_ entries: [LogEntry]) throws(StorageError) {
        guard entries.allSatisfy({ $0.byteCount <= limits.entryBytesMax }) else {
            throw .tooLarge(limitBytes: limits.entryBytesMax)
        }
    }

    private func check(_ answers: IdempotencyRecords) throws(StorageError) {
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
        keeping answers: IdempotencyRecords,
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
        // `keep` may have dropped or replaced older records; their bytes are released.
        try reserve(session.byteCount - bytesBefore - bytes, in: &bytesHeld)
        return .committed(session.head)
    }

    /// Reserves bytes for data that is about to be stored; a negative number releases bytes.
    private func reserve(_ bytes: Int, in bytesHeld: inout Int) throws(StorageError) {
        guard bytes <= 0 || bytesHeld + bytes <= limits.bytesMax else {
            throw .memoryFull(limitBytes: limits.bytesMax)
        }
        bytesHeld += bytes
    }

    /// Answers a request on the caller's thread if no other request is under way.
    ///
    /// A change of threads costs several times as much as nearly every request.
    ///
    /// A request with `isLong` would delay the caller, and is always answered on a thread of the engine.
    private func perform<Value>(
        isLong: Bool = false,
        _ reply: @escaping StorageReply<Value>,
        _ body: @escaping @Sendable (inout State) throws(StorageError) -> Value
    ) {
        let job: @Sendable () -> Void = { [self] in
            reply(answer(body))
            // The request is under way until its reply has returned. So a request that is made meanwhile, also by the
            // reply itself, is answered after this one.
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
            // The job is queued under the lock, so that requests are answered in their order.
            queue.async(execute: job)
            return .queued
        }
        switch entry {
        case .alone: queue.sync(execute: job)
        case .queued: break
        case .refused(let refusal): reply(.failure(refusal))
        }
    }

    /// The way in which a request is answered.
    private enum Entry {
        /// The request is answered at once, because no other request is under way.
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

extension MemoryStorageEngine: QuotaStorageEngine {
    /// Sets the quotas; `start()` has not been called.
    public func setQuotas(_ quotas: [String: StorageQuota]) throws(StorageError) {
        state.withLock { $0.counters = MemoryCounters(quotas: quotas) }
    }
}

extension MemoryStorageEngine: MemoryHoldingStorage {
    /// The approximate memory of sessions, their logs and their idempotency records, in bytes.
    public var memoryBytes: Int { state.withLock { $0.bytes } }
}

extension MemoryStorageEngine: ItemStorage {
    /// Reads a whole collection; `start()` need not have been called.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        if isClosed { return reply(.failure(.closed)) }
        itemStorage.items(of: collection, reply: reply)
    }

    /// Makes changes in their order, all or none; `start()` need not have been called.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        if isClosed { return reply(.failure(.closed)) }
        for case .put(_, let document) in changes where document.count > limits.documentBytesMax {
            return reply(.failure(.tooLarge(limitBytes: limits.documentBytesMax)))
        }
        itemStorage.commit(changes, to: collection, reply: reply)
    }

    private var isClosed: Bool { state.withLock { $0.phase == .closed } }
}
