// The contract of engines that keep quotas as checks that every such engine must pass.

import RivuletBase
package import RivuletSessions
import Testing

/// One rule about quotas, with its check on an empty engine that is not started.
package struct QuotaConformance: Sendable, CustomTestStringConvertible {
    /// The rule as a sentence.
    package let testDescription: String
    private let quota: StorageQuota
    private let body: @Sendable (any StorageEngine) async throws -> Void

    private init(
        _ sentence: String,
        _ quota: StorageQuota,
        _ body: @escaping @Sendable (any StorageEngine) async throws -> Void
    ) {
        testDescription = sentence
        self.quota = quota
        self.body = body
    }

    /// Sets the rule's quota for the app "counter", starts the engine, and checks the rule.
    package func check(_ engine: any QuotaStorageEngine) async throws {
        try engine.setQuotas(["counter": quota])
        try engine.lifecycle.start()
        try await body(engine)
    }

    /// Every rule.
    package static let all = [
        QuotaConformance(
            "the sessions of an app are limited, and a deletion makes room",
            StorageQuota(sessionsMax: 2)
        ) { engine async throws in
            let excess = StorageError.quota(QuotaExcess(app: "counter", scope: .app, measure: .sessions, limit: 2))
            _ = try await engine.create(key("a"), epoch: Sample.epoch, time: 1)
            _ = try await engine.append(key("b"), at: point(nil), [Sample.entry(1)]).head()
            await #expect(throws: excess) { _ = try await engine.create(key("c"), epoch: Sample.epoch, time: 1) }
            await #expect(throws: excess) {
                _ = try await engine.append(key("c"), at: point("ann"), [Sample.entry(1)])
            }
            // A creation of a session that is there is no write.
            #expect(try await engine.load(key("c")) == nil)
            let created = try await engine.create(key("b"), epoch: Sample.epoch, time: 1)
            guard case .exists = created else {
                Issue.record("\(created)")
                return
            }
            #expect(try await engine.delete(key("a")))
            #expect(try await engine.delete(key("a")) == false)
            _ = try await engine.create(key("c"), epoch: Sample.epoch, time: 1)
            await #expect(throws: excess) { _ = try await engine.create(key("d"), epoch: Sample.epoch, time: 1) }
            // Other apps have no limit.
            for id in ["a", "b", "c"] {
                _ = try await engine.create(SessionKey(app: "other", id: id), epoch: Sample.epoch, time: 1)
            }
        },
        QuotaConformance(
            "the sessions of each owner are limited, and sessions without an owner are not",
            StorageQuota(ownerSessionsMax: 1)
        ) { engine async throws in
            let excess = StorageError.quota(QuotaExcess(app: "counter", scope: .owner, measure: .sessions, limit: 1))
            for (id, owner) in [("a", "ann"), ("b", "bob"), ("c", nil), ("d", nil)] {
                _ = try await engine.create(key(id), epoch: Sample.epoch, time: 1, owner: owner)
            }
            await #expect(throws: excess) {
                _ = try await engine.create(key("e"), epoch: Sample.epoch, time: 1, owner: "ann")
            }
            #expect(try await engine.delete(key("b")))
            await #expect(throws: excess) {
                _ = try await engine.create(key("e"), epoch: Sample.epoch, time: 1, owner: "ann")
            }
            _ = try await engine.create(key("e"), epoch: Sample.epoch, time: 1, owner: "bob")
        },
        QuotaConformance(
            "an append beyond the bytes changes nothing, and each byte below them is accepted",
            StorageQuota(bytesMax: 100)
        ) { engine async throws in
            let excess = StorageError.quota(QuotaExcess(app: "counter", scope: .app, measure: .bytes, limit: 100))
            let snapshot = StateSnapshot(version: 0, schema: 1, state: Array(repeating: 65, count: 30))
            let creating = AppendPoint.creating(epoch: Sample.epoch, time: 1, snapshot: snapshot)
            await #expect(throws: excess) { _ = try await engine.append(key("a"), at: creating, [entry(1, 71)]) }
            #expect(try await engine.load(key("a")) == nil)
            let head = try await engine.append(key("a"), at: creating, [entry(1, 50)]).head()
            await #expect(throws: excess) { _ = try await engine.append(key("a"), at: .after(head), [entry(2, 21)]) }
            let answer = Sample.kept(Sample.answer("r"))
            await #expect(throws: excess) {
                _ = try await engine.append(key("a"), at: .after(head), [entry(2, 10), entry(3, 11)], keeping: answer)
            }
            #expect(try await engine.load(key("a"))?.head == head)
            #expect(try await engine.idempotencyRecord(key("a"), epoch: Sample.epoch, id: "r") == nil)
            // Idempotency records are not counted.
            let full = try await engine.append(key("a"), at: .after(head), [entry(2, 20)], keeping: answer).head()
            _ = try await engine.append(key("a"), at: .after(full), [], keeping: answer).head()
            await #expect(throws: excess) { _ = try await engine.append(key("a"), at: .after(full), [entry(3, 1)]) }
            #expect(try await engine.load(key("a"))?.tail == [entry(1, 50), entry(2, 20)])
        },
        QuotaConformance(
            "a compaction is accepted beyond the bytes, and its entries make room",
            StorageQuota(ownerBytesMax: 100)
        ) { engine async throws in
            let excess = StorageError.quota(QuotaExcess(app: "counter", scope: .owner, measure: .bytes, limit: 100))
            let head = try await engine.append(key("a"), at: point("ann"), [entry(1, 60), entry(2, 40)]).head()
            await #expect(throws: excess) { _ = try await engine.append(key("b"), at: point("ann"), [entry(1, 1)]) }
            let large = StateSnapshot(version: 2, schema: 1, state: Array(repeating: 65, count: 200))
            _ = try await engine.compact(key("a"), at: head, snapshot: large, keepingFrom: 3)
            await #expect(throws: excess) { _ = try await engine.append(key("a"), at: .after(head), [entry(3, 1)]) }
            let small = StateSnapshot(version: 2, schema: 1, state: Array(repeating: 65, count: 10))
            _ = try await engine.compact(key("a"), at: head, snapshot: small, keepingFrom: 3)
            let next = try await engine.append(key("a"), at: .after(head), [entry(3, 90)]).head()
            await #expect(throws: excess) { _ = try await engine.append(key("a"), at: .after(next), [entry(4, 1)]) }
            _ = try await engine.append(key("b"), at: point("bob"), [entry(1, 100)]).head()
            #expect(try await engine.delete(key("a")))
            _ = try await engine.append(key("c"), at: point("ann"), [entry(1, 100)]).head()
        },
        QuotaConformance(
            "a refused append leaves the appends that were made at the same time",
            StorageQuota(ownerBytesMax: 10)
        ) { engine async throws in
            await withTaskGroup(of: Bool.self) { group in
                for index in 0..<40 {
                    group.addTask {
                        let owner = index % 2 == 0 ? "ann" : "owner\(index)"
                        let outcome = try? await engine.append(key("s\(index)"), at: point(owner), [entry(1, 10)])
                        return outcome != nil
                    }
                }
                var accepted = 0
                for await isAccepted in group where isAccepted { accepted += 1 }
                #expect(accepted == 21)
            }
            #expect(try await engine.sessions(app: "counter", limit: 99).count == 21)
            #expect(try await engine.sessions(app: "counter", owner: "ann", limit: 99).count == 1)
        },
    ]

    private static func key(_ id: String) -> SessionKey { SessionKey(app: "counter", id: id) }

    private static func point(_ owner: String?) -> AppendPoint {
        .creating(epoch: Sample.epoch, time: 1, owner: owner)
    }

    /// An entry of this number of bytes.
    private static func entry(_ version: UInt64, _ byteCount: Int) -> LogEntry {
        LogEntry(
            version: version,
            time: 1,
            commandID: nil,
            event: [UInt8(ascii: "1")],
            changes: Array(repeating: 65, count: byteCount - 1)
        )
    }
}
