// The rules about snapshots of an older schema, and about the migration's snapshot after them.

import RivuletSessions
import Testing

extension StorageConformance {
    static let schemas: [StorageConformance] = [
        StorageConformance("a snapshot of an older schema stays beside the migration's snapshot of the same version") {
            engine async throws in
            let head = try await engine.fill(upTo: 2)
            try await engine.compact(2, of: head, schema: 1)
            try await engine.compact(2, of: head, schema: 2)
            #expect(try await engine.load(Sample.key)?.snapshot == Sample.snapshot(2, schema: 2))
            let next = try await engine.append(Sample.key, at: .after(head), [Sample.entry(3)]).head()
            let own = StoredPast(snapshot: Sample.snapshot(2, schema: 1), entries: [])
            #expect(try await engine.past(2, of: next) == own)
            let later = StoredPast(snapshot: Sample.snapshot(2, schema: 2), entries: [Sample.entry(3)])
            #expect(try await engine.past(3, of: next) == later)
        },
        StorageConformance("a version from before a migration is read from the older schema's snapshot") {
            engine async throws in
            let early = try await engine.fill(upTo: 1)
            try await engine.compact(1, of: early, schema: 1)
            let head = try await engine.append(Sample.key, at: .after(early), Sample.entries(2...3)).head()
            try await engine.compact(3, of: head, schema: 2)
            let next = try await engine.append(Sample.key, at: .after(head), [Sample.entry(4)]).head()
            let older = Sample.snapshot(1, schema: 1)
            #expect(try await engine.past(2, of: next) == StoredPast(snapshot: older, entries: [Sample.entry(2)]))
            #expect(try await engine.past(3, of: next) == StoredPast(snapshot: older, entries: Sample.entries(2...3)))
            let newer = Sample.snapshot(3, schema: 2)
            #expect(try await engine.past(4, of: next) == StoredPast(snapshot: newer, entries: [Sample.entry(4)]))
            try await engine.compact(4, of: next, schema: 2)
            let own = StoredPast(snapshot: Sample.snapshot(4, schema: 2), entries: [])
            #expect(try await engine.past(4, of: next) == own, "no migration made it, so it is the version's past")
        },
        StorageConformance("of several older snapshots of one version, the snapshot with the oldest schema stays") {
            engine async throws in
            let head = try await engine.fill(upTo: 2)
            for schema: UInt32 in [1, 2, 3, 3] { try await engine.compact(2, of: head, schema: schema) }
            #expect(try await engine.load(Sample.key)?.snapshot == Sample.snapshot(2, schema: 3))
            #expect(try await engine.past(2, of: head)?.snapshot == Sample.snapshot(2, schema: 1))
            try await engine.compact(2, of: head, schema: 1)
            #expect(try await engine.load(Sample.key)?.snapshot == Sample.snapshot(2, schema: 1))
            #expect(try await engine.past(2, of: head)?.snapshot == Sample.snapshot(2, schema: 1))
        },
        StorageConformance("an older snapshot is dropped with the last version that needs it") {
            engine async throws in
            let early = try await engine.fill(upTo: 1)
            try await engine.compact(1, of: early, schema: 1)
            var head = try await engine.append(Sample.key, at: .after(early), Sample.entries(2...3)).head()
            try await engine.compact(3, of: head, schema: 2, keepingFrom: 3)
            head = try await engine.append(Sample.key, at: .after(head), Sample.entries(4...6)).head()
            try await engine.compact(6, of: head, schema: 2, keepingFrom: 4)
            #expect(try await engine.load(Sample.key)?.retained.from == 2, "version 3 is read from the snapshot of 1")
            #expect(try await engine.past(3, of: head)?.snapshot == Sample.snapshot(1, schema: 1))
            try await engine.compact(6, of: head, schema: 2, keepingFrom: 7)
            #expect(try await engine.load(Sample.key)?.retained.from == 7)
            for version: UInt64 in 1...5 { #expect(try await engine.past(version, of: head) == nil) }
            #expect(try await engine.past(6, of: head)?.snapshot == Sample.snapshot(6, schema: 2))
        },
        StorageConformance("both snapshots of a version stay while it is the oldest readable version") {
            engine async throws in
            let early = try await engine.fill(upTo: 2)
            try await engine.compact(2, of: early, schema: 1)
            try await engine.compact(2, of: early, schema: 2)
            let head = try await engine.append(Sample.key, at: .after(early), Sample.entries(3...4)).head()
            try await engine.compact(4, of: head, schema: 2, keepingFrom: 3)
            #expect(try await engine.load(Sample.key)?.retained.from == 3)
            #expect(try await engine.past(2, of: head)?.snapshot == Sample.snapshot(2, schema: 1))
            #expect(try await engine.past(3, of: head)?.snapshot == Sample.snapshot(2, schema: 2))
            #expect(try await engine.past(1, of: head) == nil)
        },
        StorageConformance("a new session has no older snapshot of the deleted session") {
            engine async throws in
            let head = try await engine.fill(upTo: 2)
            try await engine.compact(2, of: head, schema: 1)
            try await engine.compact(2, of: head, schema: 2)
            #expect(try await engine.delete(Sample.key))
            #expect(try await engine.past(2, of: head) == nil)
            let other = try await engine.fill(upTo: 2)
            #expect(try await engine.past(2, of: other) == StoredPast(snapshot: nil, entries: Sample.entries(1...2)))
        },
    ]
}

extension StorageEngine {
    fileprivate func compact(
        _ version: UInt64,
        of head: SessionHead,
        schema: UInt32,
        keepingFrom: UInt64 = 1
    ) async throws {
        let at = SessionHead(epoch: head.epoch, version: version, token: head.token)
        let snapshot = Sample.snapshot(version, schema: schema)
        let outcome = try await compact(Sample.key, at: at, snapshot: snapshot, keepingFrom: keepingFrom)
        guard case .compacted = outcome else { throw UnexpectedConflict() }
    }

    fileprivate func past(_ version: UInt64, of head: SessionHead) async throws -> StoredPast? {
        try await past(Sample.key, epoch: head.epoch, at: version)
    }
}
