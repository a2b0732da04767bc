// Checks the effect of a lost page of the newest entries. The sessions with entries on the page are unreadable. Until
// these sessions are known, each session that is not proven complete is unreadable, too.

import Foundation
import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLiteLostEntriesTests {
    /// 200 sessions with an entry each, 10 entries on a page.
    ///
    /// One leaf, counted from the start or the end, has a wrong cell count.
    private func damaged(leaf: Int, prepare: (RawDatabase) throws -> Void = { _ in }) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        for index in 0..<200 { _ = try await engine.fill("s\(index)", upTo: 1, byteCount: 350) }
        try await engine.collection("notes").commit([.put(key: "a", document: [1])])
        engine.close()
        let raw = try RawDatabase(folder.databasePath)
        try prepare(raw)
        try raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let list = "SELECT pageno FROM dbstat WHERE name = 'log' AND pagetype = 'leaf' ORDER BY path"
        let leaves = try #require(try raw.text("SELECT group_concat(pageno) FROM (\(list))")).split(separator: ",")
        let page = try #require(Int(leaves[leaf < 0 ? leaves.count + leaf : leaf]))
        var pages = try DatabasePages(folder.databasePath)
        try pages.flip(bit: 0, ofByte: 4, inPage: page)
        return folder
    }

    /// The sessions that cannot be loaded.
    private func unreadable(_ engine: SQLiteStorageEngine) async throws -> [Int] {
        var unreadable: [Int] = []
        for index in 0..<200 {
            let answers = Answers<StoredSession?>(expecting: 1)
            engine.load(TestData.key("s\(index)"), reply: answers.reply(0))
            switch await answers.all()[0] {
            case .success(let stored): #expect(stored?.head.version == 1, "s\(index)")
            case .failure(.corrupt(TestData.key("s\(index)"), _)): unreadable.append(index)
            case .failure(let error): Issue.record("\(error)")
            }
        }
        return unreadable
    }

    @Test func `only the sessions on a lost page are unreadable, because later pages name them`() async throws {
        let folder = try await damaged(leaf: 4)
        let engine = try folder.engine()
        defer { engine.close() }
        let lost = try await unreadable(engine)
        let first = try #require(lost.first)
        #expect(lost.count < 20 && lost == Array(first..<first + lost.count), "\(lost)")
        try await engine.probe()
        #expect(try await engine.sessions(app: "counter", limit: 999).count == 200)
        let head = try #require(try await engine.load(TestData.key("s199"))?.head)
        #expect(
            try await engine.append(TestData.key("s199"), at: .after(head), [TestData.entry(2)]).head().version == 2
        )
        #expect(try await engine.delete(TestData.key("s\(first)")))
        #expect(try await engine.load(TestData.key("s\(first)")) == nil)
    }

    @Test
    func `if a page's sessions are unknown, only sessions with later entries are served, and the server is not ready`()
        async throws
    {
        let folder = try await damaged(leaf: -3)
        let engine = try folder.engine()
        defer { engine.close() }
        let unproven = try await unreadable(engine)
        let last = try #require(unproven.last)
        #expect(unproven == Array(0...last) && last > 170 && last < 199, "\(unproven)")
        let error = await #expect(throws: StorageError.self) { try await engine.probe() }
        #expect(error?.description.contains("it is not known which sessions") == true)
        let new = try await engine.fill("new", upTo: 1)
        #expect(try await engine.load(TestData.key("new"))?.head == new)
        #expect(try await engine.append(TestData.key("new"), at: .after(new), [TestData.entry(2)]).head().version == 2)
        #expect(try await engine.delete(TestData.key("s0")))
        #expect(try await engine.collection("notes").contents().items.count == 1)
    }

    @Test func `if the end of the log is lost, no session is proven complete, and stores are served`() async throws {
        let folder = try await damaged(leaf: -1)
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(try await unreadable(engine) == Array(0..<200))
        await #expect(throws: StorageError.self) { try await engine.probe() }
        await #expect(throws: StorageError.self) { _ = try await engine.fill("new", upTo: 1) }
        let notes = engine.collection("notes")
        try await notes.commit([.put(key: "b", document: [2])])
        #expect(try await notes.contents().items.map(\.document) == [[1], [2]])
    }

    @Test func `entries of an older layout name no earlier entries`() async throws {
        let folder = try await damaged(leaf: 4) { try $0.goBackToLayout6() }
        let engine = try folder.engine()
        defer { engine.close() }
        let unproven = try await unreadable(engine)
        let last = try #require(unproven.last)
        #expect(unproven == Array(0...last) && last < 100, "\(unproven)")
        await #expect(throws: StorageError.self) { try await engine.probe() }
    }

    @Test func `an entry names the entry 64 rows before it`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        for index in 0..<140 { _ = try await engine.fill("s\(index)", upTo: 1) }
        let raw = try RawDatabase(folder.databasePath)
        let wrong = """
            SELECT count(*) FROM log l LEFT JOIN log e ON e.seq = l.seq - 64
                WHERE l.earlier_sid <> coalesce(e.sid, 0) OR l.earlier_v <> coalesce(e.v, 0)
            """
        #expect(try raw.text(wrong) == "0")
        #expect(try raw.text("SELECT count(*) FROM log WHERE earlier_sid > 0") == "76")
    }
}
