import RivuletBase
package import RivuletCluster
package import RivuletSessions
import RivuletStores

/// The content of a partition in memory, as a value: the plainest form of what operations mean.
package struct ModelContent: Sendable {
    private(set) var sessions: [SessionKey: ModelSession] = [:]
    private(set) var collections: [ByteText: [StoredItem]] = [:]
    private var lastToken: UInt64

    /// Creates an empty content; the tokens of its sessions come after `lastToken`.
    package init(lastToken: UInt64 = 0) { self.lastToken = lastToken }

    /// The keys of the sessions, in the order of their bytes.
    package var keys: [SessionKey] {
        sessions.keys.sorted { one, other in
            one.app == other.app
                ? one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
                : one.app.utf8.lexicographicallyPrecedes(other.app.utf8)
        }
    }

    package func head(of key: SessionKey) -> SessionHead? { sessions[key]?.head }

    /// Applies an operation of a log.
    package mutating func apply(_ operation: Operation) -> OperationOutcome {
        switch operation {
        case .create(let key, let epoch, let time, let snapshot, let owner, let quota):
            if let session = sessions[key] { return .created(.exists(session.head)) }
            let session = newSession(epoch: epoch, time: time, snapshot: snapshot, owner: owner)
            if let excess = excess(quota, key.app, owner, sessions: 1, session.contentBytes) { return .refused(excess) }
            sessions[key] = session
            return .created(.created(session.head))
        case .append(let key, let point, let entries, let answers, let quota):
            return append(entries, answers, to: key, at: point, quota)
        case .compact(let key, let epoch, let version, let snapshot, let keeping):
            guard var session = sessions[key], session.epoch == epoch, version <= session.version,
                snapshot.version == version
            else { return .compacted(.conflict) }
            session.compact(to: snapshot, keeping: keeping)
            sessions[key] = session
            return .compacted(.compacted(session.head, retained: session.retained(countingBytes: keeping.bytes != nil)))
        case .delete(let key): return .deleted(sessions.removeValue(forKey: key) != nil)
        case .items(let collection, let changes, let time, let itemsMax):
            var items = collections[ByteText(collection)] ?? []
            for change in changes { Self.make(change, in: &items, at: time) }
            if items.count > itemsMax { return .items(.tooMany(limit: itemsMax)) }
            collections[ByteText(collection)] = items.isEmpty ? nil : items
            return .items(nil)
        case .claim, .release, .checkpoint, .base: return .none
        }
    }

    private mutating func append(
        _ entries: [LogEntry],
        _ answers: IdempotencyRecords,
        to key: SessionKey,
        at point: OperationPoint,
        _ quota: StorageQuota
    ) -> OperationOutcome {
        var session: ModelSession
        let growth: Int
        switch (point, sessions[key]) {
        case (.after(let epoch, let version), let found?):
            guard found.epoch == epoch, found.version == version, entries.all(followFrom: version) else {
                return .appended(.conflict)
            }
            (session, growth) = (found, entries.reduce(0) { $0 + $1.byteCount })
            if let excess = excess(quota, key.app, found.owner, sessions: 0, growth) { return .refused(excess) }
            session.append(entries)
        case (.creating(let epoch, let time, let snapshot, let owner), nil):
            guard entries.all(followFrom: 0) else { return .appended(.conflict) }
            session = newSession(epoch: epoch, time: time, snapshot: snapshot, owner: owner)
            session.append(entries)
            if let excess = excess(quota, key.app, owner, sessions: 1, session.contentBytes) { return .refused(excess) }
        case (.after, nil), (.creating, .some): return .appended(.conflict)
        }
        session.keep(answers)
        sessions[key] = session
        return .appended(.committed(session.head))
    }

    private mutating func newSession(
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        owner: String?
    ) -> ModelSession {
        lastToken += 1
        var session = ModelSession(epoch: epoch, token: lastToken, created: time, owner: owner)
        if let snapshot { session.append(snapshot, time: time) }
        return session
    }

    /// The first limit that a write would exceed: the owner's before the app's, sessions before bytes.
    private func excess(
        _ quota: StorageQuota,
        _ app: String,
        _ owner: String?,
        sessions added: Int,
        _ growth: Int
    ) -> QuotaExcess? {
        guard quota != .none else { return nil }
        let ofApp = sessions.filter { $0.key.app == app }.map(\.value)
        let ofOwner = ofApp.filter { $0.owner == owner }
        let limits: [(QuotaExcess.Scope, [ModelSession], Int?, Int?)] = [
            (.owner, ofOwner, owner == nil ? nil : quota.ownerSessionsMax, owner == nil ? nil : quota.ownerBytesMax),
            (.app, ofApp, quota.sessionsMax, quota.bytesMax),
        ]
        for (scope, counted, sessionsMax, bytesMax) in limits {
            if let limit = sessionsMax, added > 0, counted.count + added > limit {
                return QuotaExcess(app: app, scope: scope, measure: .sessions, limit: limit)
            }
            if let limit = bytesMax, growth > 0, counted.reduce(growth, { $0 + $1.contentBytes }) > limit {
                return QuotaExcess(app: app, scope: scope, measure: .bytes, limit: limit)
            }
        }
        return nil
    }

    private static func make(_ change: ItemChange, in items: inout [StoredItem], at time: Int64) {
        switch change {
        case .put(let key, let document):
            let index = items.firstIndex { $0.key.hasSameBytes(as: key) }
            let created = index.map { items[$0].created } ?? time
            let item = StoredItem(key: key, document: document, created: created, updated: time)
            if let index { items[index] = item } else { items.append(item) }
        case .remove(let key): items.removeAll { $0.key.hasSameBytes(as: key) }
        case .removeAll: items = []
        }
    }
}

// MARK: - Bases

extension ModelContent {
    /// The operations that make this content, always in the same order.
    package var baseOperations: [BaseOperation] {
        var operations: [BaseOperation] = []
        for key in keys {
            guard let session = sessions[key] else { continue }
            operations.append(
                .session(key, epoch: session.epoch, created: session.created, owner: session.owner)
            )
            operations += session.snapshots.map { .snapshot(key, $0.snapshot, time: $0.time) }
            for start in stride(from: 0, to: session.entries.count, by: 8) {
                operations.append(.entries(key, Array(session.entries[start...].prefix(8))))
            }
            operations += session.answers.map { .answer(key, $0) }
        }
        for (name, items) in collections.sorted(by: { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }) {
            for start in stride(from: 0, to: items.count, by: 8) {
                operations.append(.items(collection: name.text, Array(items[start...].prefix(8))))
            }
        }
        return operations
    }

    /// Adds a part of a base; returns false if it is not in the order of a base.
    package mutating func load(_ operation: BaseOperation) -> Bool {
        switch operation {
        case .session(let key, let epoch, let created, let owner):
            guard sessions[key] == nil else { return false }
            sessions[key] = newSession(epoch: epoch, time: created, snapshot: nil, owner: owner)
        case .snapshot(let key, let snapshot, let time):
            guard sessions[key]?.append(snapshot, time: time) != nil else { return false }
        case .entries(let key, let entries):
            guard sessions[key]?.append(entries) != nil else { return false }
        case .answer(let key, let answer):
            guard sessions[key]?.append(answer) != nil else { return false }
        case .items(let collection, let items): collections[ByteText(collection), default: []] += items
        }
        return true
    }
}
