// The rules about snapshots, and about the log entries that may be dropped after them.

import RivuletSessions
import Testing

extension StorageConformance {
    static let compactions: [StorageConformance] = [
        StorageConformance("a session is loaded from its snapshot and the entries after it") { engine async throws in
            let head = try await engine.fill(upTo: 4)
            let outcome = try await engine.compact(Sample.key, at: head, snapshot: Sample.snapshot(4), keepingFrom: 5)
            #expect(outcome == .compacted(head, retained: RetainedLog(from: 5, since: nil)))
            let next = try await engine.append(Sample.key, at: .after(head), Sample.entries(5...6)).head()
            let stored = try #require(try await engine.load(Sample.key))
            #expect(stored.head == next)
            #expect(stored.snapshot == Sample.snapshot(4))
            #expect(stored.tail == Sample.entries(5...6))
            #expect(stored.retained.from == 5)
            #expect(stored.updated == Sample.entry(6).time)
        },
        StorageConformance("entries before the snapshot are kept if the caller requests them") {
            engine async throws in
            let early = try await engine.fill(upTo: 3)
            _ = try await engine.compact(Sample.key, at: early, snapshot: Sample.snapshot(3), keepingFrom: 1)
            let head = try await engine.append(Sample.key, at: .after(early), Sample.entries(4...10)).head()
            let outcome = try await engine.compact(
                Sample.key,
                at: head,
                snapshot: Sample.snapshot(10),
                keepingFrom: 4
            )
            #expect(outcome == .compacted(head, retained: RetainedLog(from: 4, since: Sample.entry(4).time)))
            let stored = try #require(try await engine.load(Sample.key))
            #expect(stored.snapshot == Sample.snapshot(10))
            #expect(stored.tail == [])
            #expect(stored.retained.from == 4)
            func history(_ after: UInt64) async throws -> [LogEntry]? {
                try await engine.history(Sample.key, epoch: head.epoch, after: after, limit: 100)
            }
            #expect(try await history(3) == Sample.entries(4...10))
            #expect(try await history(2) == nil)
            #expect(try await history(0) == nil)
        },
        StorageConformance("the entries that a compaction keeps have their callers") { engine async throws in
            let entries = (1...4).map { version in
                LogEntry(version: version, time: 0, commandID: nil, by: "caller\(version)", event: [1], changes: [2])
            }
            let point = AppendPoint.creating(epoch: Sample.epoch, time: 0, snapshot: Sample.snapshot(0))
            let head = try await engine.append(Sample.key, at: point, Array(entries[..<2])).head()
            _ = try await engine.compact(Sample.key, at: head, snapshot: Sample.snapshot(2), keepingFrom: 1)
            let end = try await engine.append(Sample.key, at: .after(head), Array(entries[2...])).head()
            _ = try await engine.compact(Sample.key, at: end, snapshot: Sample.snapshot(4), keepingFrom: 3)
            let kept = try await engine.history(Sample.key, epoch: end.epoch, after: 2, limit: 9)
            #expect(kept?.map(\.by) == ["caller3", "caller4"])
            // The size that limits the log includes the callers.
            let bytes = entries[2...].reduce(0) { $0 + $1.byteCount }
            let outcome = try await engine.compact(
                Sample.key,
                at: end,
                snapshot: Sample.snapshot(4),
                keepingFrom: 3,
                keepingBytes: bytes
            )
            #expect(outcome == .compacted(end, retained: RetainedLog(from: 3, since: 0, bytes: bytes)))
        },
        StorageConformance("a log without entries has its head and its times, and appends continue after the head") {
            engine async throws in
            let head = try await engine.fill(upTo: 3)
            _ = try await engine.compact(Sample.key, at: head, snapshot: Sample.snapshot(3), keepingFrom: 4)
            let stored = try #require(try await engine.load(Sample.key))
            #expect(stored.head == head)
            #expect(stored.tail == [])
            #expect(stored.retained.from == 4)
            #expect(stored.created == Sample.created)
            #expect(stored.updated == Sample.entry(3).time)
            let summary = try #require(try await engine.sessions(app: "counter", limit: 1).first)
            #expect(summary.version == 3)
            #expect(summary.updated == Sample.entry(3).time)
            #expect(try await engine.history(Sample.key, epoch: head.epoch, after: 3, limit: 9) == [])
            #expect(try await engine.history(Sample.key, epoch: head.epoch, after: 2, limit: 9) == nil)
            #expect(try await engine.append(Sample.key, at: .after(head), [Sample.entry(4)]).head().version == 4)
        },
        StorageConformance("a snapshot of an earlier version drops no later entry") { engine async throws in
            let early = try await engine.fill(upTo: 3)
            let head = try await engine.append(Sample.key, at: .after(early), Sample.entries(4...6)).head()
            let outcome = try await engine.compact(
                Sample.key,
                at: early,
                snapshot: Sample.snapshot(3),
                keepingFrom: 100
            )
            #expect(outcome == .compacted(head, retained: RetainedLog(from: 4, since: Sample.entry(4).time)))
            let stored = try #require(try await engine.load(Sample.key))
            #expect(stored.head == head)
            #expect(stored.snapshot == Sample.snapshot(3))
            #expect(stored.tail == Sample.entries(4...6))
            #expect(stored.retained.from == 4)
        },
        StorageConformance("an older snapshot does not replace a newer snapshot") { engine async throws in
            let early = try await engine.fill(upTo: 2)
            let head = try await engine.append(Sample.key, at: .after(early), Sample.entries(3...4)).head()
            _ = try await engine.compact(Sample.key, at: head, snapshot: Sample.snapshot(4), keepingFrom: 1)
            _ = try await engine.compact(Sample.key, at: early, snapshot: Sample.snapshot(2), keepingFrom: 1)
            let stored = try #require(try await engine.load(Sample.key))
            #expect(stored.snapshot == Sample.snapshot(4))
            #expect(stored.retained.from == 1)
        },
        StorageConformance("a second snapshot of one version and schema replaces the first") { engine async throws in
            let head = try await engine.fill(upTo: 2)
            _ = try await engine.compact(Sample.key, at: head, snapshot: Sample.snapshot(2), keepingFrom: 1)
            let second = StateSnapshot(version: 2, schema: 7, state: Array("{}".utf8))
            _ = try await engine.compact(Sample.key, at: head, snapshot: second, keepingFrom: 1)
            #expect(try await engine.load(Sample.key)?.snapshot == second)
            #expect(try await engine.past(Sample.key, epoch: head.epoch, at: 2)?.snapshot == second)
        },
        StorageConformance("a snapshot of a head that the log does not have is a conflict and changes nothing") {
            engine async throws in
            let head = try await engine.fill(upTo: 2)
            let before = try await engine.load(Sample.key)
            let heads = [
                SessionHead(epoch: head.epoch, version: 3, token: head.token),
                SessionHead(epoch: "zzzzzzzz", version: 2, token: head.token),
            ]
            for wrong in heads {
                let snapshot = Sample.snapshot(wrong.version)
                #expect(
                    try await engine.compact(Sample.key, at: wrong, snapshot: snapshot, keepingFrom: 3) == .conflict
                )
            }
            let snapshot = Sample.snapshot(1)
            #expect(try await engine.compact(Sample.key, at: head, snapshot: snapshot, keepingFrom: 1) == .conflict)
            let nobody = SessionKey(app: "counter", id: "nobody")
            #expect(
                try await engine.compact(nobody, at: head, snapshot: Sample.snapshot(2), keepingFrom: 1) == .conflict
            )
            #expect(try await engine.load(Sample.key) == before)
        },
        StorageConformance("every entry that is needed to read a kept version is kept") { engine async throws in
            let head = try await engine.fill(upTo: 9)
            func retained(after version: UInt64, keepingFrom: UInt64) async throws -> UInt64? {
                let at = SessionHead(epoch: head.epoch, version: version, token: head.token)
                let snapshot = Sample.snapshot(version)
                let outcome = try await engine.compact(Sample.key, at: at, snapshot: snapshot, keepingFrom: keepingFrom)
                guard case .compacted(_, let retained) = outcome else { return nil }
                for version in (retained.from - 1)...9 {
                    #expect(try await engine.past(Sample.key, epoch: head.epoch, at: version) != nil)
                }
                if retained.from > 1 {
                    let gone = try await engine.past(Sample.key, epoch: head.epoch, at: retained.from - 2)
                    #expect(gone == nil)
                }
                return retained.from
            }
            #expect(try await retained(after: 3, keepingFrom: 3) == 1)
            #expect(try await retained(after: 6, keepingFrom: 6) == 4)
            #expect(try await retained(after: 8, keepingFrom: 6) == 4)
            #expect(try await retained(after: 9, keepingFrom: 7) == 7)
            #expect(try await retained(after: 9, keepingFrom: 100) == 10)
        },
        StorageConformance("the newest entries within keepingBytes are kept, and their bytes are reported") {
            engine async throws in
            let head = try await engine.fill(upTo: 9)
            func compact(_ version: UInt64, bytes: Int) async throws -> CompactionOutcome {
                let at = SessionHead(epoch: head.epoch, version: version, token: head.token)
                let snapshot = Sample.snapshot(version)
                return try await engine.compact(
                    Sample.key,
                    at: at,
                    snapshot: snapshot,
                    keepingFrom: 1,
                    keepingBytes: bytes
                )
            }
            func from(_ version: UInt64) -> RetainedLog {
                RetainedLog(
                    from: version,
                    since: version > 9 ? nil : Sample.entry(version).time,
                    bytes: version > 9 ? 0 : (version...9).reduce(0) { $0 + Sample.entry($1).byteCount }
                )
            }
            let newest = (6...9).reduce(0) { $0 + Sample.entry($1).byteCount }
            #expect(try await compact(4, bytes: .max) == .compacted(head, retained: from(1)))
            #expect(try await compact(5, bytes: newest) == .compacted(head, retained: from(6)))
            #expect(try await compact(7, bytes: newest - 1) == .compacted(head, retained: from(6)))
            #expect(try await compact(8, bytes: newest - 1) == .compacted(head, retained: from(6)))
            #expect(try await compact(9, bytes: newest - 1) == .compacted(head, retained: from(6)))
            #expect(try await compact(9, bytes: 0) == .compacted(head, retained: from(10)))
        },
        StorageConformance("entries before keepingSince are dropped, even if keepingFrom includes them") {
            engine async throws in
            let head = try await engine.fill(upTo: 9)
            func compact(_ version: UInt64, since: Int64) async throws -> CompactionOutcome {
                let at = SessionHead(epoch: head.epoch, version: version, token: head.token)
                let snapshot = Sample.snapshot(version)
                return try await engine.compact(
                    Sample.key,
                    at: at,
                    snapshot: snapshot,
                    keepingFrom: 1,
                    keepingSince: since
                )
            }
            func from(_ version: UInt64) -> RetainedLog {
                RetainedLog(from: version, since: version > 9 ? nil : Sample.entry(version).time)
            }
            #expect(try await compact(4, since: Sample.entry(4).time) == .compacted(head, retained: from(1)))
            #expect(try await compact(7, since: Sample.entry(5).time) == .compacted(head, retained: from(5)))
            #expect(try await compact(7, since: .max) == .compacted(head, retained: from(8)))
            #expect(try await compact(9, since: Sample.entry(9).time + 1) == .compacted(head, retained: from(10)))
            let stored = try #require(try await engine.load(Sample.key))
            #expect(stored.retained == from(10))
            #expect(stored.snapshot == Sample.snapshot(9))
        },
        StorageConformance("the oldest readable version has a snapshot, and all later entries are kept") {
            engine async throws in
            let head = try await engine.fill(upTo: 9)
            func compact(_ version: UInt64, keepingFrom: UInt64) async throws {
                let at = SessionHead(epoch: head.epoch, version: version, token: head.token)
                let snapshot = Sample.snapshot(version)
                _ = try await engine.compact(Sample.key, at: at, snapshot: snapshot, keepingFrom: keepingFrom)
            }
            func past(_ version: UInt64) async throws -> StoredPast? {
                try await engine.past(Sample.key, epoch: head.epoch, at: version)
            }
            try await compact(2, keepingFrom: 1)
            try await compact(5, keepingFrom: 1)
            try await compact(8, keepingFrom: 6)
            #expect(try await past(0) == nil)
            #expect(try await past(2) == nil)
            #expect(try await past(4) == nil)
            #expect(try await past(5) == StoredPast(snapshot: Sample.snapshot(5), entries: []))
            #expect(try await past(7) == StoredPast(snapshot: Sample.snapshot(5), entries: Sample.entries(6...7)))
            #expect(try await past(9) == StoredPast(snapshot: Sample.snapshot(8), entries: [Sample.entry(9)]))
            try await compact(9, keepingFrom: 9)
            #expect(try await past(7) == nil)
            #expect(try await past(8) == StoredPast(snapshot: Sample.snapshot(8), entries: []))
        },
        StorageConformance("version 0 can be read only while the log has all entries after it") { engine async throws in
            let head = try await engine.fill(upTo: 3)
            _ = try await engine.compact(Sample.key, at: head, snapshot: Sample.snapshot(3), keepingFrom: 4)
            #expect(try await engine.past(Sample.key, epoch: head.epoch, at: 0) == nil)
            #expect(try await engine.past(Sample.key, epoch: head.epoch, at: 2) == nil)
            #expect(try await engine.past(Sample.key, epoch: head.epoch, at: 3)?.snapshot == Sample.snapshot(3))
        },
        StorageConformance("states of every size are read exactly as stored") { engine async throws in
            var head = try await engine.fill(upTo: 0)
            let text = Array(#"{"title":"a text that repeats itself"},"#.utf8)
            for count in [0, 1, 4_096, 4_097, 100_000] {
                let repetitive = (0..<count).map { text[$0 % text.count] }
                for state in [repetitive, Sample.noise(count)] {
                    head = try await engine.append(Sample.key, at: .after(head), [Sample.entry(head.version + 1)])
                        .head()
                    let snapshot = StateSnapshot(version: head.version, schema: .max, state: state)
                    _ = try await engine.compact(
                        Sample.key,
                        at: head,
                        snapshot: snapshot,
                        keepingFrom: head.version + 1
                    )
                    #expect(try await engine.load(Sample.key)?.snapshot == snapshot)
                }
            }
        },
        StorageConformance("a too large state is refused with the limit and changes nothing") {
            engine async throws in
            let head = try await engine.fill(upTo: 1)
            let before = try await engine.load(Sample.key)
            let limit = engine.capabilities.snapshotBytesMax
            let large = StateSnapshot(version: 1, schema: 1, state: Array(repeating: 32, count: limit + 1))
            await #expect(throws: StorageError.tooLarge(limitBytes: limit)) {
                _ = try await engine.compact(Sample.key, at: head, snapshot: large, keepingFrom: 2)
            }
            #expect(try await engine.load(Sample.key) == before)
            let initial = StateSnapshot(version: 0, schema: 1, state: large.state)
            let other = SessionKey(app: "counter", id: "two")
            await #expect(throws: StorageError.tooLarge(limitBytes: limit)) {
                _ = try await engine.create(other, epoch: Sample.epoch, time: 0, snapshot: initial)
            }
            #expect(try await engine.load(other) == nil)
        },
    ]
}
