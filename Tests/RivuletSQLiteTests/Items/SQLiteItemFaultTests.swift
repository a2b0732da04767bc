// Checks the items after failures: the disk fails, is full or is damaged, or the server ends without a close.

import Foundation
import Glibc
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct SQLiteItemFaultTests {
    private let notes = [ItemChange.put(key: "a", document: [1]), .put(key: "b", document: [2])]

    @Test func `commits to a full disk change nothing, and succeed when there is space`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine { $0.itemsMax = 3 }
        defer { engine.close() }
        let collection = engine.collection("notes")
        try await collection.commit(notes)
        let before = try await collection.contents()
        folder.failDisk(write: ENOSPC)
        for changes in [
            [ItemChange.put(key: "c", document: []), .remove(key: "a")], [.removeAll, .put(key: "c", document: [3])],
        ] {
            let error = await #expect(throws: ItemStorageError.self) { try await collection.commit(changes) }
            guard case .full(let detail) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(detail.contains("free space on the disk of \(folder.databasePath)"))
            #expect(try await collection.contents() == before)
        }
        folder.failDisk()
        // The writer's record of the keys is unchanged, too: it has both keys, and room for one more.
        try await collection.commit([.put(key: "a", document: [4]), .put(key: "c", document: [5])])
        #expect(try await collection.contents().items.map(\.key) == ["a", "b", "c"])
        await #expect(throws: ItemStorageError.tooMany(limit: 3)) {
            try await collection.commit([.put(key: "d", document: [])])
        }
    }

    @Test func `a collection that could not be made on a full disk is made later`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        folder.failDisk(write: ENOSPC)
        await #expect(throws: ItemStorageError.self) { try await engine.collection("notes").commit(notes) }
        folder.failDisk()
        try await engine.collection("drafts").commit([.put(key: "x", document: [])])
        try await engine.collection("notes").commit(notes)
        #expect(try await engine.collection("notes").contents().items.map(\.key) == ["a", "b"])
        #expect(try await engine.collection("drafts").contents().items.map(\.key) == ["x"])
    }

    @Test func `a failed sync leaves the commit indeterminate and ends all work until a restart`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        let collection = engine.collection("notes")
        try await collection.commit(notes)
        folder.failDisk(sync: EIO)
        let error = await #expect(throws: ItemStorageError.self) {
            try await collection.commit([.remove(key: "a"), .put(key: "c", document: [])])
        }
        guard case .indeterminate = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        folder.failDisk()
        for body in [{ _ = try await collection.contents() }, { try await collection.commit([.removeAll]) }] {
            let error = await #expect(throws: ItemStorageError.self) { try await body() }
            guard case .unavailable(let detail) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(detail.contains("then restart the server"))
        }
        engine.close()
        let next = try folder.engine()
        defer { next.close() }
        let keys = try await next.collection("notes").contents().items.map(\.key)
        #expect([["a", "b"], ["b", "c"]].contains(keys))
    }

    @Test func `a crash loses no answered commit, and a torn log loses whole commits only`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        for turn in 0..<UInt8(20) {
            try await engine.collection("notes").commit(
                [.removeAll] + (0..<3).map { .put(key: "\($0)", document: [turn]) }
            )
        }
        let log = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath + "-wal"))
        var found: Set<[UInt8]> = []
        for bytes in stride(from: log.count, to: 0, by: -5_003) {
            let copy = try TemporaryFolder()
            try FileManager.default.copyItem(atPath: folder.databasePath, toPath: copy.databasePath)
            try log.prefix(bytes).write(to: URL(fileURLWithPath: copy.databasePath + "-wal"))
            let next = try copy.engine()
            defer { next.close() }
            let documents = try await next.collection("notes").contents().items.map(\.document)
            guard let first = documents.first else { continue }
            #expect(documents == [first, first, first])
            found.insert(first)
        }
        #expect(found.contains([19]))
        #expect(found.count > 5)
    }

    @Test(arguments: [
        ("UPDATE item SET document = x'00' WHERE key = 'b'", "b"), ("UPDATE item SET age = 9 WHERE key = 'b'", "b"),
        ("UPDATE item SET checksum = checksum - (checksum & 0xff) + ((checksum + 1) & 0xff) WHERE key = 'b'", "b"),
        ("UPDATE item SET created = 9 WHERE key = 'b'", nil), ("UPDATE item SET key = 'd' WHERE key = 'b'", nil),
        ("UPDATE item SET checksum = 0 WHERE key = 'b'", nil),
    ])
    func `a damaged item is named until it is written, and hides no other`(sql: String, key: String?) async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        let collection = engine.collection("notes")
        try await collection.commit(notes + [.put(key: "c", document: [3])])
        try RawDatabase(folder.databasePath).execute(sql)
        let contents = try await collection.contents()
        #expect(contents.items.map(\.key) == ["a", "c"])
        #expect(contents.damaged.map(\.key) == [key])
        #expect(contents.damaged.first?.detail.contains("fails its checksum") == true)
        try await collection.commit([.put(key: "a", document: [4])])
        #expect(try await collection.contents().damaged == contents.damaged)
        try await collection.commit([.put(key: "b", document: [5])])
        let later = try await collection.contents()
        #expect(later.items.map(\.key) == (key == nil ? ["a", "c", "b"] : ["a", "b", "c"]))
        #expect(later.damaged.count == (key == nil ? 1 : 0))
        try await collection.commit([.removeAll])
        #expect(try await collection.contents() == StoredCollection())
    }

    @Test func `a damaged item can be removed`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        try await engine.collection("notes").commit(notes)
        try RawDatabase(folder.databasePath).execute("UPDATE item SET document = x'00' WHERE key = 'b'")
        try await engine.collection("notes").commit([.remove(key: "b")])
        #expect(try await engine.collection("notes").contents().damaged == [])
        #expect(try RawDatabase(folder.databasePath).text("SELECT count(*) FROM item") == "1")
    }

    @Test func `a collection whose own row is damaged is reported, others are served`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        try await engine.collection("notes").commit(notes)
        try await engine.collection("drafts").commit(notes)
        try RawDatabase(folder.databasePath).execute("UPDATE collection SET crc = crc + 1 WHERE name = 'notes'")
        for body in [
            { _ = try await engine.collection("notes").contents() },
            { try await engine.collection("notes").commit([.removeAll]) },
        ] {
            let error = await #expect(throws: ItemStorageError.self) { try await body() }
            guard case .corrupt(let detail) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(detail.contains("the row of table collection with number 1 fails its checksum"))
        }
        #expect(try await engine.collection("drafts").contents().items.count == 2)
    }

    @Test func `the next commit notices rows that another program removed`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        try await engine.collection("notes").commit(notes)
        try RawDatabase(folder.databasePath).execute("DELETE FROM item WHERE key = 'a'")
        try await engine.collection("notes").commit([.put(key: "a", document: [9])])
        #expect(try await engine.collection("notes").contents().items.map(\.key) == ["b", "a"])
    }
}
