import DequeModule
import Logging
import RivuletAuth
import RivuletBase
import RivuletJSON
import RivuletSessions
import RivuletStores
import Synchronization

/// The revocations of a running server, which its storage keeps.
///
/// A revocation is durable first, and then in force on all loops at once. Any thread may call the list. Each loop looks
/// at the number of the generation before it uses a caller that it has found before.
final class RevocationList: Sendable {
    /// The collection of the storage in which the records are.
    static let collection = "rivulet.revocations"
    /// The time between two searches for expired records, in milliseconds.
    static let expiryInterval: Int64 = 600_000
    /// The most changes that a loop makes up for one by one; after more it forgets all callers that it has found.
    static let changesMax = 32

    /// The error of a change that is not in force.
    enum ChangeError: Error {
        /// The list has ``Revocations/countMax`` records.
        case full
        case storage(ItemStorageError)
    }

    /// A change of the list.
    enum Change {
        case added(Revocation)
        case takenBack
    }

    struct Content {
        var revocations = Revocations()
        /// The number of records that the storage is writing.
        var underWay = 0
        /// The latest changes, the newest last.
        var changes: Deque<Change> = []
        /// The time of the latest id, in milliseconds since 1970.
        var latestID: Int64 = 0
        /// The number of the latest reading of a list that other nodes change too.
        var latestReading: UInt64 = 0
    }

    let storage: any ItemStorage
    /// True if the storage keeps records over a restart.
    private let isKept: Bool
    let logger: Logger
    let content = Mutex(Content())
    private let generationNumber = Atomic<UInt64>(0)
    let readings = Atomic<UInt64>(0)

    /// Makes an empty list; without a storage of collections its records are in memory only.
    init(in items: (any ItemStorage)?, logger: Logger) {
        storage = items ?? MemoryItemStorage(clock: { WallClock.milliseconds() })
        isKept = items != nil
        self.logger = logger
    }

    /// The number of changes so far.
    var generation: UInt64 { generationNumber.load(ordering: .acquiring) }

    /// The number of revocations in force.
    var count: Int { content.withLock { $0.revocations.count } }

    /// Returns true if the principal's credential is revoked.
    func covers(_ principal: Principal) -> Bool { content.withLock { $0.revocations.covers(principal) } }

    /// Returns the record with this id; nil if there is none.
    func record(id: String) -> Revocations.Record? { content.withLock { $0.revocations.record(id: id) } }

    /// Returns the first records with a greater id, at most `limit`, and true if more follow.
    func page(after id: String?, limit: Int) -> (records: [Revocations.Record], hasMore: Bool) {
        content.withLock { $0.revocations.page(after: id, limit: limit) }
    }

    /// Returns the changes since a generation, and the present generation; nil for more than ``changesMax`` changes.
    func changes(since earlier: UInt64) -> (changes: [Change]?, generation: UInt64) {
        content.withLock { content in
            let generation = generation
            let count = generation - earlier
            guard count <= UInt64(content.changes.count) else { return (nil, generation) }
            return (Array(content.changes.suffix(Int(count))), generation)
        }
    }

    // MARK: - Changes

    /// Stores a revocation, and puts it in force; `now` is in seconds since 1970.
    ///
    /// The reply comes on any thread. After a failure the revocation is not in force.
    func add(
        _ revocation: Revocation,
        lifetimeSecondsMax: Int,
        at now: Int,
        reply: @escaping @Sendable (Result<Revocations.Record, ChangeError>) -> Void
    ) {
        let record = Revocations.record(
            revocation,
            id: makeID(),
            at: now,
            lifetimeSecondsMax: lifetimeSecondsMax
        )
        let hasRoom = content.withLock { content in
            guard content.revocations.count + content.underWay < Revocations.countMax else { return false }
            content.underWay += 1
            return true
        }
        guard hasRoom else { return reply(.failure(.full)) }
        storage.commit([.put(key: record.id, document: record.json.json)], to: Self.collection) { [self] result in
            content.withLock { content in
                content.underWay -= 1
                guard case .success = result, content.revocations.insert(record) else { return }
                didChange(.added(revocation), &content)
            }
            reply(result.map { record }.mapError(ChangeError.storage))
        }
    }

    /// Takes a revocation back; answers false if there is none with this id.
    ///
    /// The reply comes on any thread.
    func remove(id: String, reply: @escaping @Sendable (Result<Bool, ChangeError>) -> Void) {
        guard record(id: id) != nil else { return reply(.success(false)) }
        storage.commit([.remove(key: id)], to: Self.collection) { [self] result in
            content.withLock { content in
                guard case .success = result, content.revocations.remove(id: id) else { return }
                didChange(.takenBack, &content)
            }
            reply(result.map { true }.mapError(ChangeError.storage))
        }
    }

    func didChange(_ change: Change, _ content: inout Content) {
        if content.changes.count == Self.changesMax { content.changes.removeFirst() }
        content.changes.append(change)
        generationNumber.add(1, ordering: .releasing)
    }

    /// Removes the records of tokens that have all expired; `now` is in seconds since 1970.
    func removeExpired(at now: Int) {
        let ids = content.withLock { $0.revocations.removeExpired(at: now) }
        guard !ids.isEmpty else { return }
        storage.commit(ids.map { .remove(key: $0) }, to: Self.collection) { [logger] result in
            guard case .failure(let error) = result else { return }
            // The next start reads these records again, and drops them.
            logger.warning("expired revocations were not removed: \(error)", metadata: ["count": "\(ids.count)"])
        }
    }

    /// An id that is greater than the earlier ones, and is not guessed by chance.
    private func makeID() -> String {
        let now = WallClock.milliseconds()
        let milliseconds = content.withLock { content in
            content.latestID = max(content.latestID + 1, now)
            return content.latestID
        }
        let time = String(milliseconds, radix: 36)
        return String(repeating: "0", count: max(9 - time.count, 0)) + time + RandomToken.make(count: 5)
    }

    // MARK: - The start

    /// Reads the stored records; call it once when the storage has started, before the first request.
    ///
    /// The log names each record that cannot be read; the others are in force.
    ///
    /// - Throws: a `ServerError` if the collection cannot be read.
    func load(at now: Int) throws(ServerError) {
        guard isKept else {
            return logger.warning(
                "The storage engine has no collections, so revocations are in memory, and end with this process."
            )
        }
        let stored = try read()
        let ordered = stored.items.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var unread = stored.damaged.map(\.detail)
        content.withLock { content in
            for item in ordered {
                guard let record = Self.record(item), content.revocations.insert(record) else {
                    unread.append("the record \(item.key) cannot be read")
                    continue
                }
            }
        }
        for detail in unread {
            logger.error(
                "A stored revocation is not in force: \(detail). If its credentials may be in use, revoke them again."
            )
        }
        removeExpired(at: now)
    }

    func read() throws(ServerError) -> StoredCollection {
        do throws(ItemStorageError) {
            return try storage.readAtStart(Self.collection)
        } catch {
            throw ServerError("the revocations cannot be read, so revoked credentials would be accepted: \(error)")
        }
    }

    static func record(_ item: StoredItem) -> Revocations.Record? {
        guard let json = try? JSONValue(parsing: item.document), let record = Revocations.Record(json: json),
            record.id.hasSameBytes(as: item.key)
        else { return nil }
        return record
    }
}
