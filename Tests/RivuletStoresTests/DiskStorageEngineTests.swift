// Checks the engine of files: its contract, its names, and its files after an interruption.

import Foundation
import ItemStorageConformance
import RivuletStores
import Testing

@Suite struct DiskStorageEngineTests {
    private func text(_ words: String) -> [UInt8] { Array(words.utf8) }

    @Test(arguments: ItemStorageConformance.checks)
    func `E-28: the engine keeps the contract of item storage`(_ check: ItemStorageCheck) async throws {
        let folder = try DiskFolderFixture()
        try await check.run(folder.open { $0.itemsMax = ItemStorageConformance.itemsMax })
    }

    @Test(arguments: ItemStorageConformance.lives)
    func `E-28: the engine keeps items over a restart`(_ check: ItemStorageLivesCheck) async throws {
        let folder = try DiskFolderFixture()
        try await check.run(
            ItemStoragePlace { time in
                folder.open(time: time) { $0.itemsMax = ItemStorageConformance.itemsMax }
            }
        )
    }

    @Test(arguments: 1...3)
    func `after random commits the engine has the same items as the reference`(seed: UInt64) async throws {
        let folder = try DiskFolderFixture()
        let place = ItemStoragePlace { time in
            folder.open(time: time) { limits in
                limits.itemsMax = ItemStorageConformance.itemsMax
                limits.keysRememberedMax = seed == 1 ? 0 : 1_000
            }
        }
        try await ItemStorageConformance.runRandomProgram(seed: seed, on: place, commits: 100)
    }

    @Test func `E-28: no file or folder has a key as its name, and none is outside the directory`() async throws {
        let folder = try DiskFolderFixture()
        let engine = folder.open()
        let names = ["../../escape", "a/b", "", ".", "..", "\0", String(repeating: "n", count: 1_000), "plain-1_A"]
        for name in names {
            try await engine.collection(name).commit([.put(key: "../../" + name, document: text("secret"))])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["items"])
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder.directory)
        #expect(folders.count == names.count + 1)
        #expect(folders.contains("items-plain-1_A"))
        for name in folders where name != "rivulet.lock" {
            #expect(name.hasPrefix("items-") || name.hasPrefix("digest-"))
            let files = try folder.files(of: name)
            #expect(files.count == 1)
            #expect(files.allSatisfy { $0.hasSuffix(".item") && $0.utf8.count == 69 })
        }
        for name in names {
            #expect(try await engine.collection(name).contents().items.map(\.key) == ["../../" + name])
        }
    }

    @Test func `E-28: a missing directory is an empty storage, and the first put creates it`() async throws {
        let folder = try DiskFolderFixture()
        let notes = folder.open().collection("notes")
        #expect(try await notes.contents() == StoredCollection())
        try await notes.commit([.remove(key: "a"), .removeAll])
        #expect(!FileManager.default.fileExists(atPath: folder.directory))
        try await notes.commit([.put(key: "a", document: [])])
        try await notes.commit([.remove(key: "not there")])
        #expect(try await notes.contents().items.count == 1)
    }

    @Test func `E-28: files and folders with other names are left alone`() async throws {
        let folder = try DiskFolderFixture()
        let notes = folder.open().collection("notes")
        try await notes.commit([.put(key: "a", document: [1]), .put(key: "b", document: [1])])
        let place = folder.directory + "/items-notes/"
        try Data("x".utf8).write(to: URL(fileURLWithPath: place + "theirs.item"))
        try Data("x".utf8).write(to: URL(fileURLWithPath: place + "theirs.new"))
        let likeOurs = String(repeating: "0", count: 64) + ".item"
        try FileManager.default.createDirectory(atPath: place + likeOurs, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: place + "folder", withIntermediateDirectories: false)
        let next = folder.open().collection("notes")
        #expect(try await next.contents().damaged == [])
        #expect(try await next.contents().items.map(\.key) == ["a", "b"])
        try await next.commit([.removeAll])
        #expect(try await next.contents() == StoredCollection())
        #expect(try folder.files(of: "items-notes") == [likeOurs, "folder", "theirs.item", "theirs.new"])
    }

    @Test func `a damaged file is reported and hides no other, until its key is written or removed`() async throws {
        let folder = try DiskFolderFixture()
        let notes = folder.open().collection("notes")
        try await notes.commit(["a", "b", "c"].map { .put(key: "key-" + $0, document: text("document of " + $0)) })
        try folder.damage("items-notes", fileWith: "document of b") { $0.upperBound - 2 }
        try folder.damage("items-notes", fileWith: "document of c") { $0.lowerBound - 1 }
        let contents = try await notes.contents()
        #expect(contents.items.map(\.key) == ["key-a"])
        #expect(Set(contents.damaged.map(\.key)) == ["key-b", nil])
        #expect(contents.damaged.allSatisfy { $0.detail.hasPrefix(folder.directory + "/items-notes/") })
        let next = folder.open().collection("notes")
        #expect(try await next.contents() == contents)
        try await next.commit([.put(key: "key-b", document: text("new")), .remove(key: "key-c")])
        #expect(try await next.contents().items.map(\.key) == ["key-a", "key-b"])
        #expect(try await next.contents().damaged == [])
    }

    @Test func `an empty file and a truncated file are damaged, and removeAll removes them`() async throws {
        let folder = try DiskFolderFixture()
        let notes = folder.open().collection("notes")
        try await notes.commit([.put(key: "a", document: text("long document")), .put(key: "b", document: [1])])
        for (name, count) in zip(try folder.files(of: "items-notes"), [0, 70]) {
            let url = URL(fileURLWithPath: "\(folder.directory)/items-notes/\(name)")
            try Data(contentsOf: url).prefix(count).write(to: url)
        }
        let contents = try await folder.open().collection("notes").contents()
        #expect(contents.items == [])
        #expect(contents.damaged.count == 2)
        let next = folder.open().collection("notes")
        try await next.commit([.removeAll])
        #expect(try await next.contents() == StoredCollection())
        #expect(try folder.files(of: "items-notes") == [])
    }

    /// Commits that change one file, several, and all.
    static let commits: [[ItemChange]] = [
        [.put(key: "a", document: [9])],
        [.remove(key: "a")],
        [.put(key: "a", document: [9]), .remove(key: "b"), .put(key: "new", document: [9])],
        [.removeAll],
        [.removeAll, .put(key: "b", document: [9]), .put(key: "new", document: [9])],
    ]

    @Test(arguments: commits)
    func `E-28: a commit that is interrupted at any step is made as a whole or not at all`(
        changes: [ItemChange]
    ) async throws {
        let reference = MemoryItemStorage { 1 }
        let old = ["a", "b", "c"].map { ItemChange.put(key: $0, document: [1]) }
        try await reference.collection("notes").commit(old)
        let before = try await reference.collection("notes").contents()
        try await reference.collection("notes").commit(changes)
        let after = try await reference.collection("notes").contents()
        var isMade = false
        var steps = 0
        while !isMade {
            let folder = try DiskFolderFixture()
            let engine = folder.open()
            try await engine.collection("notes").commit(old)
            folder.failDisk(after: steps)
            var error: ItemStorageError?
            do {
                try await engine.collection("notes").commit(changes)
                isMade = true
            } catch let failure {
                error = failure
            }
            folder.failDisk(after: nil)
            let contents = try await folder.open().collection("notes").contents()
            switch error {
            case nil: #expect(contents == after, "step \(steps)")
            case .indeterminate: #expect(contents == before || contents == after, "step \(steps)")
            default: #expect(contents == before, "step \(steps)")
            }
            #expect(try folder.files(of: "items-notes").allSatisfy { $0.hasSuffix(".item") }, "step \(steps)")
            try await folder.open().collection("notes").commit([.put(key: "later", document: [2])])
            #expect(try await folder.open().collection("notes").contents().items.last?.key == "later")
            steps += 1
        }
        #expect(steps > 2)
    }

    @Test func `a full disk changes nothing, and commits succeed when the disk has space again`() async throws {
        let folder = try DiskFolderFixture()
        let notes = folder.open().collection("notes")
        try await notes.commit([.put(key: "a", document: [1])])
        folder.failDisk(after: 0, error: ENOSPC)
        let error = await #expect(throws: ItemStorageError.self) {
            try await notes.commit([.put(key: "b", document: [2]), .remove(key: "a")])
        }
        guard case .full(let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains(folder.directory))
        #expect(try await notes.contents().items.map(\.key) == ["a"])
        folder.failDisk(after: nil)
        try await notes.commit([.put(key: "b", document: [2]), .remove(key: "a")])
        #expect(try await folder.open().collection("notes").contents().items.map(\.key) == ["b"])
    }

    @Test func `after a failed sync all requests fail until the directory is opened again`() async throws {
        let folder = try DiskFolderFixture()
        let notes = folder.open().collection("notes")
        try await notes.commit([.put(key: "a", document: [1])])
        // The write, the sync of the file and the rename succeed. The sync of the folder fails.
        folder.failDisk(after: 3)
        let error = await #expect(throws: ItemStorageError.self) {
            try await notes.commit([.put(key: "a", document: [2])])
        }
        guard case .indeterminate = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        folder.failDisk(after: nil)
        await #expect(throws: ItemStorageError.self) { try await notes.contents() }
        await #expect(throws: ItemStorageError.self) { try await notes.commit([.removeAll]) }
        #expect(try await folder.open().collection("notes").contents().items.count == 1)
    }

    @Test func `a damaged journal is reported, and all requests of its collection fail`() async throws {
        let folder = try DiskFolderFixture()
        try await folder.open().collection("notes").commit([.put(key: "a", document: [1])])
        let url = URL(fileURLWithPath: folder.directory + "/items-notes/journal")
        try Data("put abc\n".utf8).write(to: url)
        let engine = folder.open()
        for body in [
            { _ = try await engine.collection("notes").contents() },
            { try await engine.collection("notes").commit([.removeAll]) },
        ] {
            let error = ItemStorageError.corrupt(detail: "\(url.path) fails its checksum")
            await #expect(throws: error) { try await body() }
        }
        #expect(try await engine.collection("drafts").contents() == StoredCollection())
    }

    @Test func `a directory belongs to one engine at a time`() async throws {
        let folder = try DiskFolderFixture()
        let first = folder.open()
        try await first.collection("notes").commit([.put(key: "a", document: [1])])
        let second = DiskStorageEngine(directory: folder.directory)
        let error = await #expect(throws: ItemStorageError.self) { try await second.collection("notes").contents() }
        guard case .unavailable(let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("\(folder.directory)/rivulet.lock is locked"))
        // The copies simulate a child process that is being spawned. They must not keep the lock.
        let copies = descriptorCopies(of: folder.directory + "/rivulet.lock")
        defer { for copy in copies { close(copy) } }
        #expect(!copies.isEmpty)
        first.close()
        #expect(try await second.collection("notes").contents().items.count == 1)
        await #expect(throws: ItemStorageError.closed) { try await first.collection("notes").contents() }
        second.close()
    }

    @Test func `a document and a key that are too large are refused`() async throws {
        let folder = try DiskFolderFixture()
        let engine = folder.open { limits in
            limits.documentBytesMax = 2
            limits.keyBytesMax = 5
        }
        for change in [ItemChange.put(key: "a", document: [1, 2, 3]), .put(key: "123456", document: [])] {
            await #expect(throws: ItemStorageError.self) { try await engine.collection("notes").commit([change]) }
        }
        try await engine.collection("notes").commit([.put(key: "12345", document: [1, 2])])
    }
}
