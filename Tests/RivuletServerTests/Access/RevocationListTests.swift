// Checks that a revocation is stored before it is in force, and that a start reads what was stored.

import Logging
import RivuletAuth
import RivuletJSON
import RivuletStores
import Synchronization
import Testing

@testable import RivuletServer

/// A storage of collections that waits with its commits until the test lets them go.
private final class HeldStorage: ItemStorage {
    private struct Held {
        let changes: [ItemChange]
        let collection: String
        let reply: ItemStorageReply<Void>
    }

    private let storage = MemoryItemStorage(clock: { 0 })
    private let held = Mutex<[Held]>([])

    func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        storage.items(of: collection, reply: reply)
    }

    func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        held.withLock { $0.append(Held(changes: changes, collection: collection, reply: reply)) }
    }

    /// Makes the waiting commits; with an error they fail instead.
    func letGo(_ error: ItemStorageError? = nil) {
        for commit in held.withLock({ exchange(&$0, with: []) }) {
            guard let error else {
                storage.commit(commit.changes, to: commit.collection, reply: commit.reply)
                continue
            }
            commit.reply(.failure(error))
        }
    }
}

@Suite struct RevocationListTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let storage = HeldStorage()

    private func list() -> RevocationList { RevocationList(in: storage, logger: Self.logger) }

    private static func principal(_ id: String) -> Principal {
        Principal(
            subject: "alice",
            issuer: nil,
            credential: .token(id: id, keyID: nil),
            issuedAt: 100,
            expires: 200,
            grants: [],
            claims: .object([])
        )
    }

    /// Adds a revocation, lets the storage go on, and returns the id of the record.
    @discardableResult
    private func add(_ token: String, to list: RevocationList, at now: Int = 100) throws -> String {
        let id = Mutex<String?>(nil)
        list.add(.token(id: token), lifetimeSecondsMax: 60, at: now) { result in
            id.withLock { $0 = try? result.get().id }
        }
        storage.letGo()
        return try #require(id.withLock { $0 })
    }

    @Test func `a revocation is in force when it is stored, and not before`() throws {
        let list = list()
        let answers = Mutex<[String]>([])
        list.add(.token(id: "t"), lifetimeSecondsMax: 60, at: 100) { result in
            let isInForce = list.covers(Self.principal("t"))
            answers.withLock { $0.append("\((try? result.get().until) ?? 0) \(isInForce)") }
        }
        #expect(!list.covers(Self.principal("t")) && list.generation == 0)
        storage.letGo()
        #expect(answers.withLock { $0 } == ["170 true"])
        #expect(list.generation == 1 && !list.covers(Self.principal("u")))
    }

    @Test func `a failed write changes nothing, and the next one is made`() throws {
        let list = list()
        let failures = Mutex<Int>(0)
        list.add(.token(id: "t"), lifetimeSecondsMax: 60, at: 100) { result in
            if case .failure(.storage(.full)) = result { failures.withLock { $0 += 1 } }
        }
        storage.letGo(.full(detail: "disk"))
        #expect(failures.withLock { $0 } == 1)
        #expect(!list.covers(Self.principal("t")) && list.generation == 0)
        #expect(list.page(after: nil, limit: 9).records.isEmpty)
        let id = try add("t", to: list)
        list.remove(id: id) { result in
            if case .failure(.storage(.closed)) = result { failures.withLock { $0 += 1 } }
        }
        storage.letGo(.closed)
        #expect(failures.withLock { $0 } == 2 && list.covers(Self.principal("t")))
    }

    @Test func `a loop makes up for the changes that it lacks, and for too many at once`() throws {
        let list = list()
        for number in 0..<RevocationList.changesMax { try add("\(number)", to: list) }
        func missing(_ generation: UInt64) -> Int? { list.changes(since: generation).changes?.count }
        let most = UInt64(RevocationList.changesMax)
        #expect(missing(0) == RevocationList.changesMax && missing(most - 1) == 1 && missing(most) == 0)
        try add("x", to: list)
        #expect(missing(0) == nil && missing(1) == RevocationList.changesMax)
        #expect(list.changes(since: 0).generation == most + 1)
        guard case .added(.token(let id))? = list.changes(since: most).changes?.first else {
            Issue.record("no revocation is missing")
            return
        }
        #expect(id == "x")
    }

    @Test func `a start reads the records, drops the expired ones, and names those that it cannot read`() throws {
        let first = list()
        let ids = try [("old", 0), ("a", 1_000), ("b", 1_000)].map { try add($0, to: first, at: $1) }
        storage.commit([.put(key: "x", document: Array("{}".utf8))], to: RevocationList.collection) { _ in }
        first.remove(id: ids[2]) { _ in }
        storage.letGo()
        let lines = LogLines()
        let second = RevocationList(in: storage, logger: lines.logger())
        try second.load(at: 1_000)
        storage.letGo()
        #expect(second.page(after: nil, limit: 9).records.map(\.id) == [ids[1]])
        #expect(second.covers(Self.principal("a")) && !second.covers(Self.principal("b")))
        #expect(lines.all.count == 1 && lines.all[0].contains("the record x cannot be read"))
        let third = list()
        try third.load(at: 0)
        #expect(!third.covers(Self.principal("old")), "the record of expired tokens is still stored")
    }

    @Test func `a full list takes no more, and counts the records that are being written`() {
        let list = list()
        let answers = Mutex<(done: Int, full: Int)>((0, 0))
        for number in 0..<Revocations.countMax + 2 {
            list.add(.token(id: "\(number)"), lifetimeSecondsMax: 60, at: 100) { result in
                switch result {
                case .success: answers.withLock { $0.done += 1 }
                case .failure(.full): answers.withLock { $0.full += 1 }
                case .failure(.storage): break
                }
            }
        }
        #expect(answers.withLock { $0.full } == 2)
        storage.letGo()
        #expect(answers.withLock { $0.done } == Revocations.countMax)
    }
}
