// The storage contract with `await` instead of replies, for tests.

package import RivuletSessions

extension StorageEngine {
    package func load(_ key: SessionKey) async throws(StorageError) -> StoredSession? {
        try await answer { log.load(key, reply: $0) }
    }

    package func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot? = nil,
        owner: String? = nil
    ) async throws(StorageError) -> CreateOutcome {
        try await answer {
            log.create(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner, reply: $0)
        }
    }

    package func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords = .none
    ) async throws(StorageError) -> AppendOutcome {
        try await answer { log.append(key, at: point, entries, keeping: answers, reply: $0) }
    }

    package func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int
    ) async throws(StorageError) -> [LogEntry]? {
        try await answer { past.history(key, epoch: epoch, after: version, limit: limit, reply: $0) }
    }

    package func past(_ key: SessionKey, epoch: String, at version: UInt64) async throws(StorageError) -> StoredPast? {
        try await answer { past.past(key, epoch: epoch, at: version, reply: $0) }
    }

    package func idempotencyRecord(
        _ key: SessionKey,
        epoch: String,
        id: String
    ) async throws(StorageError) -> IdempotencyRecord? {
        try await answer { answers.idempotencyRecord(key, epoch: epoch, id: id, reply: $0) }
    }

    package func idempotencyRecords(
        _ key: SessionKey,
        epoch: String,
        since time: Int64
    ) async throws(StorageError) -> IdempotencyUsage {
        try await answer { answers.idempotencyRecords(key, epoch: epoch, since: time, reply: $0) }
    }

    package func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keepingFrom: UInt64,
        keepingSince: Int64 = .min,
        keepingBytes: Int? = nil
    ) async throws(StorageError) -> CompactionOutcome {
        try await answer {
            log.compact(
                key,
                at: head,
                snapshot: snapshot,
                keeping: LogKeeping(from: keepingFrom, since: keepingSince, bytes: keepingBytes),
                reply: $0
            )
        }
    }

    package func delete(_ key: SessionKey) async throws(StorageError) -> Bool {
        try await answer { log.delete(key, reply: $0) }
    }

    package func sessions(
        app: String,
        owner: String? = nil,
        after id: String? = nil,
        limit: Int
    ) async throws(StorageError) -> [SessionSummary] {
        try await answer { directory.sessions(app: app, owner: owner, after: id, limit: limit, reply: $0) }
    }

    package func probe() async throws(StorageError) {
        try await answer { lifecycle.probe(reply: $0) }
    }

    private func answer<Value: Sendable>(
        _ request: (@escaping StorageReply<Value>) -> Void
    ) async throws(StorageError) -> Value {
        let result = await withCheckedContinuation { continuation in
            request { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
