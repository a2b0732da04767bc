// The rules about appends: all or nothing, and only directly after the head.

import RivuletSessions
import Testing

extension StorageConformance {
    static let appends: [StorageConformance] = [
        StorageConformance("entries are read exactly as they were appended") { engine async throws in
            let entries = [
                LogEntry(version: 1, time: .min, commandID: nil, event: [], changes: []),
                LogEntry(version: 2, time: .max, commandID: "", event: [0, 255, 0], changes: [10]),
                LogEntry(
                    version: 3,
                    time: 0,
                    commandID: "é\u{0}𝄞",
                    event: Sample.noise(70_000),
                    changes: Sample.noise(3)
                ),
                LogEntry(version: 4, time: 0, commandID: nil, by: "é\u{0}𝄞", event: [1], changes: [2]),
                LogEntry(version: 5, time: 0, commandID: "", by: "", event: [1], changes: [2]),
                LogEntry(version: 6, time: 0, commandID: nil, event: [1], changes: [2]),
            ]
            let point = AppendPoint.creating(epoch: Sample.epoch, time: Sample.created)
            let head = try await engine.append(Sample.key, at: point, entries).head()
            let stored = try #require(try await engine.load(Sample.key))
            #expect(stored.head == head)
            #expect(head.version == 6)
            #expect(stored.tail == entries)
            #expect(stored.tail.map(\.byteCount) == entries.map(\.byteCount))
            #expect(stored.updated == 0)
            #expect(stored.retained.from == 1)
        },
        StorageConformance("the first append creates the session together with its state") { engine async throws in
            let point = AppendPoint.creating(epoch: Sample.epoch, time: Sample.created, snapshot: Sample.snapshot(0))
            let head = try await engine.append(Sample.key, at: point, Sample.entries(1...2)).head()
            let stored = try #require(try await engine.load(Sample.key))
            #expect(stored.head == head)
            #expect(stored.created == Sample.created)
            #expect(stored.snapshot == Sample.snapshot(0))
            #expect(stored.tail == Sample.entries(1...2))
        },
        StorageConformance("creating an existing session by an append is a conflict and changes nothing") {
            engine async throws in
            _ = try await engine.fill(upTo: 1)
            let before = try await engine.load(Sample.key)
            let point = AppendPoint.creating(epoch: "zzzzzzzz", time: 1, snapshot: Sample.snapshot(0))
            #expect(try await engine.append(Sample.key, at: point, [Sample.entry(1)]) == .conflict)
            #expect(try await engine.load(Sample.key) == before)
        },
        StorageConformance("an append after a stale, a future or a foreign head is a conflict and changes nothing") {
            engine async throws in
            let first = try await engine.fill(upTo: 1)
            let second = try await engine.append(Sample.key, at: .after(first), [Sample.entry(2)]).head()
            let other = SessionKey(app: "counter", id: "two")
            let foreign = try await engine.fill(other, upTo: 2)
            let future = SessionHead(epoch: second.epoch, version: 3, token: second.token)
            let reborn = SessionHead(epoch: "zzzzzzzz", version: 2, token: second.token)
            #expect(try await engine.append(Sample.key, at: .after(first), [Sample.entry(2)]) == .conflict)
            #expect(try await engine.append(Sample.key, at: .after(future), [Sample.entry(4)]) == .conflict)
            #expect(try await engine.append(Sample.key, at: .after(foreign), [Sample.entry(3)]) == .conflict)
            #expect(try await engine.append(Sample.key, at: .after(reborn), [Sample.entry(3)]) == .conflict)
            let nobody = SessionKey(app: "counter", id: "nobody")
            #expect(try await engine.append(nobody, at: .after(second), [Sample.entry(3)]) == .conflict)
            #expect(try await engine.load(Sample.key)?.tail == Sample.entries(1...2))
            #expect(try await engine.load(other)?.tail == Sample.entries(1...2))
            #expect(try await engine.load(nobody) == nil)
        },
        StorageConformance("entries with a gap, a repetition or a wrong order are a conflict and change nothing") {
            engine async throws in
            let head = try await engine.fill(upTo: 2)
            for versions: [UInt64] in [[2], [4], [3, 5], [3, 3], [4, 3], [0], [.max]] {
                let entries = versions.map { Sample.entry(min($0, 99)) }
                #expect(try await engine.append(Sample.key, at: .after(head), entries) == .conflict, "\(versions)")
            }
            let other = SessionKey(app: "counter", id: "two")
            let creating = AppendPoint.creating(epoch: Sample.epoch, time: 1)
            #expect(try await engine.append(other, at: creating, [Sample.entry(2)]) == .conflict)
            #expect(try await engine.load(other) == nil)
            #expect(try await engine.load(Sample.key)?.head == head)
        },
        StorageConformance("an empty append changes nothing but is checked like any other") { engine async throws in
            let head = try await engine.fill(upTo: 0)
            #expect(head.version == 0)
            #expect(try await engine.append(Sample.key, at: .after(head), []) == .committed(head))
            let next = try await engine.append(Sample.key, at: .after(head), [Sample.entry(1)]).head()
            #expect(try await engine.append(Sample.key, at: .after(head), []) == .conflict)
            #expect(try await engine.append(Sample.key, at: .after(next), []) == .committed(next))
        },
        StorageConformance("of many appends after one head exactly one is committed") { engine async throws in
            let head = try await engine.fill(upTo: 5)
            let outcomes = try await withThrowingTaskGroup(of: AppendOutcome.self) { group in
                for _ in 0..<50 {
                    group.addTask { try await engine.append(Sample.key, at: .after(head), Sample.entries(6...7)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == .conflict } == 49)
            #expect(try await engine.load(Sample.key)?.tail == Sample.entries(1...7))
        },
        StorageConformance("many sessions are appended to at once, each in its own order") { engine async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for session in 0..<10 {
                    group.addTask {
                        let key = SessionKey(app: "counter", id: "\(session)")
                        var head = try await engine.fill(key, upTo: 1)
                        for version: UInt64 in 2...12 {
                            head = try await engine.append(key, at: .after(head), [Sample.entry(version)]).head()
                        }
                    }
                }
                try await group.waitForAll()
            }
            for session in 0..<10 {
                let stored = try await engine.load(SessionKey(app: "counter", id: "\(session)"))
                #expect(stored?.tail == Sample.entries(1...12))
            }
        },
        StorageConformance("a too large entry is refused with the limit, and nothing of its append is stored") {
            engine async throws in
            let head = try await engine.fill(upTo: 1)
            let limit = engine.capabilities.entryBytesMax
            let large = LogEntry(
                version: 3,
                time: 0,
                commandID: "id",
                event: [1],
                changes: Array(repeating: 0, count: limit)
            )
            await #expect(throws: StorageError.tooLarge(limitBytes: limit)) {
                _ = try await engine.append(Sample.key, at: .after(head), [Sample.entry(2), large])
            }
            let largest = LogEntry(
                version: 2,
                time: 0,
                commandID: "id",
                event: [1],
                changes: Array(repeating: 0, count: limit - 3)
            )
            _ = try await engine.append(Sample.key, at: .after(head), [largest]).head()
            #expect(try await engine.load(Sample.key)?.tail == [Sample.entry(1), largest])
        },
    ]
}
