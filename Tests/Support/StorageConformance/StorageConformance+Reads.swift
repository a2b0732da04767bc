// The rules about reads of the log: the history and earlier states.

import RivuletSessions
import Testing

extension StorageConformance {
    static let reads: [StorageConformance] = [
        StorageConformance("history is read after a version, in pages, until a page is empty") {
            engine async throws in
            let head = try await engine.fill(upTo: 10)
            func history(_ after: UInt64, _ limit: Int) async throws -> [LogEntry]? {
                try await engine.history(Sample.key, epoch: head.epoch, after: after, limit: limit)
            }
            #expect(try await history(0, 100) == Sample.entries(1...10))
            #expect(try await history(0, 4) == Sample.entries(1...4))
            #expect(try await history(4, 4) == Sample.entries(5...8))
            #expect(try await history(8, .max) == Sample.entries(9...10))
            #expect(try await history(10, 4) == [])
            #expect(try await history(11, 4) == nil)
            #expect(try await history(.max, 4) == nil)
            #expect(try await history(3, 0) == [Sample.entry(4)])
        },
        StorageConformance("history of another epoch is nil") { engine async throws in
            _ = try await engine.fill(upTo: 2)
            #expect(try await engine.history(Sample.key, epoch: "zzzzzzzz", after: 0, limit: 5) == nil)
        },
        StorageConformance("history of large entries has every entry when it is read to its end") {
            engine async throws in
            let bytes = Sample.noise(engine.capabilities.entryBytesMax / 2)
            let entries = (1...12).map { LogEntry(version: $0, time: 0, commandID: nil, event: [], changes: bytes) }
            var head = try await engine.fill(upTo: 0)
            for entry in entries { head = try await engine.append(Sample.key, at: .after(head), [entry]).head() }
            var read: [LogEntry] = []
            while true {
                let after = read.last?.version ?? 0
                let page = try await engine.history(Sample.key, epoch: head.epoch, after: after, limit: 1_000)
                guard let page, !page.isEmpty else { break }
                read += page
            }
            #expect(read == entries)
        },
        StorageConformance("every version can be rebuilt while no entry has been dropped") { engine async throws in
            let head = try await engine.fill(upTo: 4)
            for version: UInt64 in 0...4 {
                let past = try await engine.past(Sample.key, epoch: head.epoch, at: version)
                let entries = version == 0 ? [] : Sample.entries(1...version)
                #expect(past == StoredPast(snapshot: nil, entries: entries))
            }
            #expect(try await engine.past(Sample.key, epoch: head.epoch, at: 5) == nil)
            #expect(try await engine.past(Sample.key, epoch: head.epoch, at: .max) == nil)
            #expect(try await engine.past(Sample.key, epoch: "zzzzzzzz", at: 1) == nil)
        },
        StorageConformance("a version is rebuilt from the newest snapshot before it") { engine async throws in
            let head = try await engine.fill(upTo: 9)
            for version: UInt64 in [3, 6] {
                let at = SessionHead(epoch: head.epoch, version: version, token: head.token)
                let snapshot = Sample.snapshot(version)
                _ = try await engine.compact(Sample.key, at: at, snapshot: snapshot, keepingFrom: 1)
            }
            func past(_ version: UInt64) async throws -> StoredPast? {
                try await engine.past(Sample.key, epoch: head.epoch, at: version)
            }
            #expect(try await past(2) == StoredPast(snapshot: nil, entries: Sample.entries(1...2)))
            #expect(try await past(3) == StoredPast(snapshot: Sample.snapshot(3), entries: []))
            #expect(try await past(5) == StoredPast(snapshot: Sample.snapshot(3), entries: Sample.entries(4...5)))
            #expect(try await past(9) == StoredPast(snapshot: Sample.snapshot(6), entries: Sample.entries(7...9)))
        },
        StorageConformance("a read sees every write that has been answered") { engine async throws in
            var head = try await engine.fill(upTo: 1)
            for version: UInt64 in 2...20 {
                head = try await engine.append(Sample.key, at: .after(head), [Sample.entry(version)]).head()
                #expect(try await engine.load(Sample.key)?.head == head)
            }
        },
    ]
}
