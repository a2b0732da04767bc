// Checks that a folder is used by one kind of server, and that the commands work on the folder of a copy.

import Foundation
import RivuletBase
import RivuletCluster
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct ReplicaFolderTests {
    private func frame() -> PositionedFrame {
        var chain = FrameChain()
        let key = TestData.key("a")
        return chain.next([.create(key, epoch: "e", time: 1, snapshot: nil, owner: nil, quota: .none)])
    }

    /// The files of a folder that have data.
    private func files(of folder: TemporaryFolder) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in ["rivulet.db", "rivulet.db-wal", "rivulet.db-wal.damaged"] {
            let data = FileManager.default.contents(atPath: folder.path + "/" + name)
            files[name] = data?.isEmpty == true ? nil : data
        }
        return files
    }

    @Test func `a server without a cluster refuses the folder of a copy, and leaves it as it is`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        try await replica.apply([frame()])
        let killed = try folder.copyOfFiles()
        replica.close()
        for folder in [folder, killed] {
            let before = try files(of: folder)
            let error = #expect(throws: StorageError.self) { _ = try folder.engine() }
            let expected =
                "\(folder.databasePath) belongs to the cluster \"c7\": start with --cluster, or take another folder"
            #expect(error == .incompatible(detail: expected))
            #expect(try files(of: folder) == before)
            let next = try folder.replica()
            #expect(try await next.sessions(app: "counter", limit: 9).map(\.id) == ["a"])
            next.close()
        }
    }

    @Test(arguments: [true, false])
    func `a copy refuses the folder of a server without a cluster, and leaves it as it is`(isOld: Bool) async throws {
        let folder = try TemporaryFolder()
        let single = try folder.engine()
        _ = try await single.fill(upTo: 3)
        let killed = try folder.copyOfFiles()
        single.close()
        if isOld { try RawDatabase(folder.databasePath).goBackToLayout9() }
        for folder in [folder, killed] {
            let before = try files(of: folder)
            let error = #expect(throws: StorageError.self) { _ = try folder.replica() }
            guard case .incompatible(let detail) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(detail.contains("has the data of a server without a cluster, and was left as it is"))
            #expect(detail.contains("give this node an empty folder"))
            #expect(try files(of: folder) == before)
            let next = try folder.engine()
            #expect(try await next.load(TestData.key())?.tail == TestData.entries(1...3))
            next.close()
        }
    }

    @Test func `an empty folder is taken by either`() async throws {
        let folder = try TemporaryFolder()
        let single = try folder.engine()
        _ = try await single.fill(upTo: 3)
        #expect(try await single.delete(TestData.key()))
        single.close()
        let replica = try folder.replica()
        #expect(try await replica.position() == .start)
        replica.close()
        let again = try folder.engine()
        _ = try await again.fill(upTo: 1)
        again.close()
    }

    @Test func `a vacuum, a backup and a restore keep the content and the position, and a repair is refused`()
        async throws
    {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let replica = try folder.replica()
        let history = try await FrameHistory(seed: 8, frames: 60, on: replica)
        let (position, hash) = (try await replica.position(), try await replica.contentHash())
        let contents = try SQLiteBackup.create(of: folder.path, in: other.path + "/backup")
        #expect(contents.damages == [])
        replica.close()
        _ = try SQLiteBackup.restore(other.path + "/backup", to: other.path + "/restored")
        _ = try SQLiteVacuum.run(folder: folder.path)
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
        let error = #expect(throws: StorageError.self) { _ = try SQLiteRepair.run(folder: folder.path, time: 1) }
        #expect(
            "\(String(describing: error))".contains("delete the folder \(folder.path); the node copies the data again")
        )
        var chain = history.chain
        let frame = chain.next([.delete(SessionKey(app: "counter", id: "a"))])
        for path in [folder.path, other.path + "/restored"] {
            let next = SQLiteStorageEngine(replicaIn: path)
            try next.start()
            #expect(try await next.position() == position)
            #expect(try await next.contentHash() == hash)
            try await next.apply([frame])
            next.close()
        }
    }

    @Test func `a check compares the counters of all apps of a copy`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        try await replica.apply([frame()])
        replica.close()
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
        try RawDatabase(folder.databasePath).execute("DELETE FROM usage; UPDATE session SET bytes = NULL")
        #expect(
            try SQLiteCheck.run(folder: folder.path) == [
                "rivulet.db: the counters of the app counter do not match its sessions"
            ]
        )
    }
}
