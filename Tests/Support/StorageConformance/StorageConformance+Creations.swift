// The rules about the beginning and the end of a session.

import RivuletSessions
import Testing

extension StorageConformance {
    static let creations: [StorageConformance] = [
        StorageConformance("all reads of an unknown session return nothing") { engine async throws in
            #expect(try await engine.load(Sample.key) == nil)
            #expect(try await engine.history(Sample.key, epoch: Sample.epoch, after: 0, limit: 1) == nil)
            #expect(try await engine.past(Sample.key, epoch: Sample.epoch, at: 0) == nil)
            #expect(try await engine.idempotencyRecord(Sample.key, epoch: Sample.epoch, id: "a") == nil)
            #expect(try await engine.sessions(app: "counter", limit: 10) == [])
            #expect(try await engine.delete(Sample.key) == false)
        },
        StorageConformance("a created session has version 0 and the given time and state") {
            engine async throws in
            let outcome = try await engine.create(
                Sample.key,
                epoch: Sample.epoch,
                time: Sample.created,
                snapshot: Sample.snapshot(0)
            )
            let stored = try #require(try await engine.load(Sample.key))
            #expect(outcome == .created(stored.head))
            #expect(stored.head.version == 0)
            #expect(stored.head.epoch == Sample.epoch)
            #expect(stored.created == Sample.created)
            #expect(stored.updated == Sample.created)
            #expect(stored.snapshot == Sample.snapshot(0))
            #expect(stored.tail == [])
            #expect(stored.retained.from == 1)
        },
        StorageConformance("a second creation returns the head and changes nothing") { engine async throws in
            let head = try await engine.fill(upTo: 2)
            let before = try await engine.load(Sample.key)
            let outcome = try await engine.create(
                Sample.key,
                epoch: "zzzzzzzz",
                time: 1,
                snapshot: Sample.snapshot(0)
            )
            #expect(outcome == .exists(head))
            #expect(try await engine.load(Sample.key) == before)
        },
        StorageConformance("sessions with the same id in two apps are two sessions") { engine async throws in
            let other = SessionKey(app: "todos", id: Sample.key.id)
            _ = try await engine.fill(upTo: 1)
            _ = try await engine.fill(other, upTo: 2)
            #expect(try await engine.load(Sample.key)?.head.version == 1)
            #expect(try await engine.load(other)?.head.version == 2)
        },
        StorageConformance("a deleted session is gone, and its head is stale for a new session with the same id") {
            engine async throws in
            let old = try await engine.fill(upTo: 3)
            #expect(try await engine.delete(Sample.key))
            #expect(try await engine.load(Sample.key) == nil)
            #expect(try await engine.append(Sample.key, at: .after(old), [Sample.entry(4)]) == .conflict)
            let new = try await engine.append(
                Sample.key,
                at: .creating(epoch: "nextlife", time: Sample.created),
                Sample.entries(1...3)
            ).head()
            #expect(new.epoch == "nextlife")
            #expect(try await engine.append(Sample.key, at: .after(old), [Sample.entry(4)]) == .conflict)
            #expect(
                try await engine.compact(Sample.key, at: old, snapshot: Sample.snapshot(3), keepingFrom: 4) == .conflict
            )
            #expect(try await engine.history(Sample.key, epoch: old.epoch, after: 0, limit: 9) == nil)
            #expect(try await engine.past(Sample.key, epoch: old.epoch, at: 1) == nil)
            #expect(try await engine.load(Sample.key)?.tail == Sample.entries(1...3))
        },
        StorageConformance("a new session with the deleted session's epoch does not accept the old head either") {
            engine async throws in
            let old = try await engine.fill(upTo: 1)
            _ = try await engine.delete(Sample.key)
            _ = try await engine.fill(upTo: 1)
            #expect(try await engine.append(Sample.key, at: .after(old), [Sample.entry(2)]) == .conflict)
        },
        StorageConformance("a new session has no snapshot and no entry of the deleted session") { engine async throws in
            let point = AppendPoint.creating(epoch: Sample.epoch, time: Sample.created, snapshot: Sample.snapshot(0))
            _ = try await engine.append(Sample.key, at: point, [Sample.entry(1, commandID: "a")])
            _ = try await engine.delete(Sample.key)
            _ = try await engine.create(Sample.key, epoch: Sample.epoch, time: Sample.created)
            #expect(try await engine.load(Sample.key)?.snapshot == nil)
            #expect(try await engine.load(Sample.key)?.head.version == 0)
        },
        StorageConformance("sessions are listed in the order of their ids' bytes, in pages, with versions and times") {
            engine async throws in
            for (index, id) in ["b", "a-b", "Z", "a", "_", "aa"].enumerated() {
                _ = try await engine.fill(SessionKey(app: "counter", id: id), upTo: UInt64(index))
            }
            _ = try await engine.fill(SessionKey(app: "other", id: "x"), upTo: 1)
            let all = try await engine.sessions(app: "counter", limit: 100)
            #expect(all.map(\.id) == ["Z", "_", "a", "a-b", "aa", "b"])
            #expect(all.map(\.version) == [2, 4, 3, 1, 5, 0])
            #expect(all.map(\.updated) == all.map { Sample.created + Int64($0.version) * 1_000 })
            #expect(all.allSatisfy { $0.created == Sample.created && $0.epoch == Sample.epoch })
            #expect(try await engine.sessions(app: "counter", limit: 2) == Array(all[..<2]))
            #expect(try await engine.sessions(app: "counter", after: "_", limit: 3) == Array(all[2..<5]))
            #expect(try await engine.sessions(app: "counter", after: "b", limit: 3) == [])
            #expect(try await engine.sessions(app: "nobody", limit: 3) == [])
        },
        StorageConformance("a list of an owner has its sessions of the app, also after a deletion") {
            engine async throws in
            let owners = ["d": "ann", "b": "bob", "a": "ann", "c": nil, "é": "ann"]
            for (id, owner) in owners {
                let key = SessionKey(app: "counter", id: id)
                let point = AppendPoint.creating(epoch: Sample.epoch, time: 1, owner: owner)
                _ = try await engine.append(key, at: point, [Sample.entry(1)]).head()
            }
            let other = SessionKey(app: "other", id: "a")
            _ = try await engine.create(other, epoch: Sample.epoch, time: 1, owner: "ann")
            func ids(_ owner: String, after id: String? = nil, limit: Int = 9) async throws -> [String] {
                try await engine.sessions(app: "counter", owner: owner, after: id, limit: limit).map(\.id)
            }
            #expect(try await ids("ann") == ["a", "d", "é"])
            #expect(try await ids("ann", limit: 2) == ["a", "d"])
            #expect(try await ids("ann", after: "d") == ["é"])
            #expect(try await ids("bob") == ["b"])
            #expect(try await ids("Ann") == [])
            #expect(try await ids("") == [])
            #expect(try await engine.sessions(app: "other", owner: "ann", limit: 9).map(\.id) == ["a"])
            #expect(try await engine.sessions(app: "counter", limit: 9).count == 5)
            // The owner stays through a compaction, and a later session of the name may have another.
            let key = SessionKey(app: "counter", id: "a")
            let head = try #require(try await engine.load(key)).head
            _ = try await engine.compact(key, at: head, snapshot: Sample.snapshot(1), keepingFrom: 2)
            #expect(try await ids("ann") == ["a", "d", "é"])
            #expect(try await engine.delete(key))
            #expect(try await ids("ann") == ["d", "é"])
            _ = try await engine.create(key, epoch: Sample.epoch, time: 1, owner: "bob")
            #expect(try await ids("bob") == ["a", "b"])
        },
    ]
}
