// Checks that a damaged page of an index makes no session, answer or store unreadable. A damaged page of a table
// affects only the sessions with rows on it.

import Foundation
import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLitePageDamageTests {
    private static let ids = ["r0", "r1", "r2", "r3", "r4"]
    private static let print = Array("fingerprint".utf8)

    /// A closed database with five sessions, an answer each, and two stores.
    private func filled(unindexedEntriesMax: Int = 1) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.unindexedEntriesMax = unindexedEntriesMax }
        for (index, id) in Self.ids.enumerated() {
            let answer = IdempotencyRecord(
                id: "key-\(index)",
                time: 1,
                fingerprint: Self.print,
                body: Array("done".utf8)
            )
            _ = try await engine.append(
                TestData.key(id),
                at: TestData.creating,
                [TestData.entry(1)],
                keeping: IdempotencyRecords([answer], droppingBefore: 0)
            ).head()
        }
        try await engine.collection("notes").commit([.put(key: "a", document: [1])])
        try await engine.collection("drafts").commit([.put(key: "b", document: [2])])
        try await engine.probe()
        engine.close()
        return folder
    }

    /// Flips a bit of a text in the root page of an index.
    private func flip(_ text: String, inIndex name: String, of folder: TemporaryFolder) throws {
        let page = try #require(try RawDatabase(folder.databasePath).rootPage(of: name))
        var pages = try DatabasePages(folder.databasePath)
        let offset = try #require(pages.offset(of: text, inPage: page))
        try pages.flip(bit: 4, ofByte: offset + text.utf8.count - 3, inPage: page)
    }

    @Test func `a damaged index of sessions hides no session, and no second session gets its name`() async throws {
        let folder = try await filled()
        try flip("counterr2", inIndex: "sqlite_autoindex_session_1", of: folder)
        let engine = try folder.engine()
        defer { engine.close() }
        for id in Self.ids { #expect(try await engine.load(TestData.key(id))?.head.version == 1, "\(id)") }
        #expect(try await engine.sessions(app: "counter", limit: 9).map(\.id) == Self.ids)
        let outcome = try await engine.append(TestData.key("r2"), at: TestData.creating, [TestData.entry(1)])
        #expect(outcome == .conflict)
        let created = try await engine.create(TestData.key("r2"), epoch: "other", time: 1, snapshot: nil)
        guard case .exists = created else {
            Issue.record("\(created)")
            return
        }
        let head = try #require(try await engine.load(TestData.key("r2"))?.head)
        let next = try await engine.append(TestData.key("r2"), at: .after(head), [TestData.entry(2)]).head()
        #expect(next.version == 2)
        // A new name requires a write to the damaged page.
        let error = await #expect(throws: StorageError.self) { _ = try await engine.fill("r9", upTo: 1) }
        guard case .corrupt(TestData.key("r9"), let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("fails its checksum"))
        #expect(try await engine.load(TestData.key("r9")) == nil)
        try await engine.probe()
    }

    @Test func `a damaged index of answers hides no stored answer`() async throws {
        let folder = try await filled()
        try flip("key-2", inIndex: "sqlite_autoindex_answer_1", of: folder)
        let engine = try folder.engine()
        defer { engine.close() }
        for (index, id) in Self.ids.enumerated() {
            let key = TestData.key(id)
            let answer = try await engine.idempotencyRecord(key, epoch: TestData.epoch, id: "key-\(index)")
            #expect(answer?.body == Array("done".utf8), "\(id)")
            #expect(try await engine.idempotencyRecords(key, epoch: TestData.epoch, since: 0).count == 1)
        }
    }

    @Test func `no dispatch with a key is refused if the index of the answers' times is damaged`() async throws {
        let folder = try TemporaryFolder()
        var engine = try folder.engine()
        let old = (0..<900).map {
            IdempotencyRecord(id: "old-\($0)", time: Int64($0), fingerprint: Self.print, body: Array("done".utf8))
        }
        var head = try await engine.append(
            TestData.key(),
            at: TestData.creating,
            [TestData.entry(1)],
            keeping: IdempotencyRecords(old, droppingBefore: 0)
        ).head()
        engine.close()
        // The oldest records are on the first page, which each dispatch with a key reads.
        let page = try #require(try RawDatabase(folder.databasePath).firstLeaf(of: "answer_time"))
        var pages = try DatabasePages(folder.databasePath)
        try pages.flip(bit: 4, ofByte: 3_000, inPage: page)
        engine = try folder.engine()
        defer { engine.close() }
        for version in UInt64(2)...3 {
            let answer = IdempotencyRecord(id: "\(version)", time: 2_000, fingerprint: Self.print, body: [1])
            let keeping = IdempotencyRecords([answer], droppingBefore: 100)
            head = try await engine.append(
                TestData.key(),
                at: .after(head),
                [TestData.entry(version)],
                keeping: keeping
            )
            .head()
            let kept = try await engine.idempotencyRecord(TestData.key(), epoch: TestData.epoch, id: "\(version)")
            #expect(kept?.body == [1])
        }
        #expect(try await engine.idempotencyRecord(TestData.key(), epoch: TestData.epoch, id: "old-0") != nil)
    }

    @Test func `a damaged index of stores makes no store empty`() async throws {
        let folder = try await filled()
        try flip("drafts", inIndex: "sqlite_autoindex_collection_1", of: folder)
        let engine = try folder.engine()
        defer { engine.close() }
        for (name, document) in [("notes", [1]), ("drafts", [2])] as [(String, [UInt8])] {
            let store = engine.collection(name)
            #expect(try await store.contents().items.map(\.document) == [document], "\(name)")
            try await store.commit([.put(key: "c", document: [3])])
            #expect(try await store.contents().items.map(\.document) == [document, [3]], "\(name)")
        }
        await #expect(throws: ItemStorageError.self) {
            try await engine.collection("new").commit([.put(key: "a", document: [1])])
        }
    }

    @Test(arguments: ["snapshot", "log_index"])
    func `a damaged index of snapshots or of the log does not change the loaded state`(name: String) async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine { $0.unindexedEntriesMax = 1 }
        for id in ["one", "two"] {
            let head = try await first.fill(id, upTo: 5)
            let at = SessionHead(epoch: head.epoch, version: 2, token: head.token)
            _ = try await first.compact(TestData.key(id), at: at, snapshot: TestData.snapshot(2), keepingFrom: 3)
        }
        try await first.probe()
        let before = try await first.load(TestData.key())
        first.close()
        let index = name == "snapshot" ? "sqlite_autoindex_snapshot_1" : name
        let page = try #require(try RawDatabase(folder.databasePath).rootPage(of: index))
        var pages = try DatabasePages(folder.databasePath)
        try pages.flip(bit: 0, ofByte: 4, inPage: page)
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try await engine.load(TestData.key()) == before)
        #expect(before?.snapshot?.version == 2 && before?.tail.count == 3)
        #expect(try await engine.history(TestData.key(), epoch: TestData.epoch, after: 2, limit: 9)?.count == 3)
        #expect(try await engine.past(TestData.key(), epoch: TestData.epoch, at: 4)?.entries.count == 2)
        #expect(try await engine.sessions(app: "counter", limit: 9).map(\.version) == [5, 5])
    }

    @Test func `a damaged page of the log affects only the sessions on it`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine { $0.unindexedEntriesMax = 1 }
        for index in 0..<40 { _ = try await first.fill("s\(index)", upTo: 1, byteCount: 800) }
        try await first.probe()
        first.close()
        let page = try #require(try RawDatabase(folder.databasePath).firstLeaf(of: "log"))
        var pages = try DatabasePages(folder.databasePath)
        // The bit is in the cell count.
        try pages.flip(bit: 0, ofByte: 4, inPage: page)
        let engine = try folder.engine()
        defer { engine.close() }
        var damaged: [String] = []
        for index in 0..<40 {
            let answers = Answers<StoredSession?>(expecting: 1)
            engine.load(TestData.key("s\(index)"), reply: answers.reply(0))
            guard let error = await answers.all().first?.error else { continue }
            guard case .corrupt(TestData.key("s\(index)"), let detail) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(detail.contains("page \(page) fails its checksum"))
            damaged.append("s\(index)")
        }
        #expect(damaged == ["s0", "s1", "s2", "s3"])
        #expect(try await engine.sessions(app: "counter", limit: 99).count == 40)
        let head = try #require(try await engine.load(TestData.key("s9"))?.head)
        #expect(try await engine.append(TestData.key("s9"), at: .after(head), [TestData.entry(2)]).head().version == 2)
        #expect(try await engine.delete(TestData.key("s1")))
    }

    @Test func `a damaged page of items is reported, and other stores are served`() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.engine()
        for name in ["notes", "drafts"] {
            let changes = (0..<30).map { ItemChange.put(key: "k\($0)", document: Array(repeating: 1, count: 500)) }
            try await first.collection(name).commit(changes)
        }
        first.close()
        let page = try #require(try RawDatabase(folder.databasePath).firstLeaf(of: "item"))
        var pages = try DatabasePages(folder.databasePath)
        try pages.flip(bit: 1, ofByte: 4, inPage: page)
        let engine = try folder.engine()
        defer { engine.close() }
        await #expect(throws: ItemStorageError.self) { _ = try await engine.collection("notes").contents() }
        #expect(try await engine.collection("drafts").contents().items.count == 30)
    }
}
