// A separate folder for a test, on a disk that can be made to fail.

import CStorageFaults
import Foundation
import ItemStorageConformance
import RivuletSQLite
import StorageConformance

/// A folder that exists as long as this value.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        let folder = base.appendingPathComponent("rivulet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        unsafe rivulet_faults_forget(path)
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("could not remove \(path): \(error)")
        }
    }

    /// The path of the database of an engine on this folder.
    var databasePath: String { path + "/rivulet.db" }

    /// Makes writes and syncs in this folder fail with these errno values.
    ///
    /// With 0, they succeed.
    ///
    /// Counts syncs from the first call on.
    func failDisk(write: Int32 = 0, sync: Int32 = 0) {
        let result = unsafe rivulet_faults_watch(path, write, sync)
        precondition(result == 0, "too many folders are watched")
    }

    /// The number of syncs since the first call of `failDisk`.
    var syncs: Int { unsafe rivulet_faults_syncs(path) }

    /// The size of a file in this folder, in bytes; nil if it does not exist.
    func byteCount(of name: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes?[.size] as? NSNumber)?.intValue
    }

    /// The files of this folder that contain a text.
    func files(with text: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return names.sorted().filter { name in
            let data = FileManager.default.contents(atPath: path + "/" + name)
            return data?.range(of: Data(text.utf8)) != nil
        }
    }

    /// Returns once no file of this folder has the text.
    ///
    /// Waits for an answer of the engine between two checks.
    func waitUntilGone(_ text: String, by engine: SQLiteStorageEngine) async throws {
        let deadline = TestData.deadline
        while case let files = try files(with: text), !files.isEmpty {
            guard ContinuousClock.now < deadline else { throw TextRemains(files: files) }
            _ = try await engine.sessions(app: "none", limit: 1)
        }
    }

    /// A folder with copies of the files as they are now.
    func copyOfFiles() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for name in ["rivulet.db", "rivulet.db-wal"] {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
        }
        return copy
    }

    /// Overwrites the first page with rows of a table, as a failing disk does.
    ///
    /// The table must have more than one page.
    func overwritePage(ofTable table: String) throws {
        guard let page = try RawDatabase(databasePath).firstLeaf(of: table) else { throw CocoaError(.fileReadUnknown) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: databasePath))
        try file.seek(toOffset: UInt64(page - 1) * 4_096)
        try file.write(contentsOf: Data(repeating: 0, count: 4_096))
        try file.close()
    }

    /// The number of stored entries of all sessions, as another process sees it.
    func logRowCount() throws -> Int {
        try RawDatabase(databasePath).text("SELECT count(*) FROM log").flatMap { Int($0) } ?? 0
    }

    /// Creates and starts an engine on this folder.
    ///
    /// It does no maintenance by itself unless a test enables it.
    func engine(
        time: ItemTime = ItemTime(),
        _ change: (inout SQLiteStorageLimits) -> Void = { _ in }
    ) throws -> SQLiteStorageEngine {
        var limits = SQLiteStorageLimits()
        limits.idleMilliseconds = 3_600_000
        limits.removedTextMillisecondsMax = 3_600_000
        limits.reserveBytes = 0
        change(&limits)
        let engine = SQLiteStorageEngine(folder: path, limits: limits, clock: { time.now })
        try engine.start()
        return engine
    }
}

/// A text that should have disappeared from these files.
struct TextRemains: Error {
    let files: [String]
}

extension SQLiteStorageEngine {
    /// Returns once every deleted session is erased.
    func waitUntilErased() async throws {
        let deadline = TestData.deadline
        while sessionsToEraseCount > 0 {
            guard ContinuousClock.now < deadline else { throw TextRemains(files: ["\(sessionsToEraseCount) sessions"]) }
            try await probe()
        }
    }
}
