// Checks an engine if its open files are removed or replaced.

import Foundation
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct ReplacedDatabaseTests {
    enum Deed: CaseIterable {
        case removesDatabase
        case replacesDatabase
        case movesDatabase
        case removesLog

        func act(on folder: TemporaryFolder) throws {
            let (files, path) = (FileManager.default, folder.databasePath)
            switch self {
            case .removesDatabase: try files.removeItem(atPath: path)
            case .replacesDatabase:
                try files.moveItem(atPath: path, toPath: path + ".old")
                try files.copyItem(atPath: path + ".old", toPath: path)
            case .movesDatabase: try files.moveItem(atPath: path, toPath: path + ".old")
            case .removesLog: try files.removeItem(atPath: path + "-wal")
            }
        }

        var path: String { self == .removesLog ? "rivulet.db-wal" : "rivulet.db" }
    }

    @Test(arguments: Deed.allCases)
    func `after the removal or replacement of a file the next commit ends all writing`(deed: Deed) async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        let head = try await engine.fill(upTo: 3)
        try deed.act(on: folder)
        var answer: StorageError?
        // The engine checks the log once a second.
        let deadline = TestData.deadline
        while answer == nil, ContinuousClock.now < deadline {
            do throws(StorageError) { try await engine.probe() } catch { answer = error }
        }
        guard case .indeterminate(let detail) = answer else {
            Issue.record("\(String(describing: answer))")
            return
        }
        #expect(detail.contains("\(folder.path)/\(deed.path) was removed or replaced while the server had it open"))
        let error = await #expect(throws: StorageError.self) {
            _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(4)])
        }
        guard case .unavailable(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("put the file back or restore a backup, then restart the server"))
    }
}
