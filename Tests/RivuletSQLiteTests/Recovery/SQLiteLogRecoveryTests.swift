// Checks the start of an engine with a damaged write-ahead log.

import Foundation
import ItemStorageConformance
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct SQLiteLogRecoveryTests {
    /// The files that a crash leaves after 20 commits of one entry each.
    private func crashed(isCheckpointed: Bool = false) async throws -> (folder: TemporaryFolder, log: LogBytes) {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        var head = try await engine.fill(upTo: 1)
        for version in UInt64(2)...20 {
            head = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(version)]).head()
        }
        if isCheckpointed { _ = try RawDatabase(folder.databasePath).text("PRAGMA wal_checkpoint(PASSIVE)") }
        let copy = try folder.copyOfFiles()
        return (copy, try LogBytes(of: copy))
    }

    private func keptLogs(in folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("-wal.damaged") }
    }

    private func refusal(of folder: TemporaryFolder) -> StorageError? {
        do throws(StorageError) {
            let engine = SQLiteStorageEngine(folder: folder.path, requiresClean: true)
            try engine.start()
            engine.close()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [0, 4, 8, 16, 24, 3_000])
    func `a damaged log is kept, and the sessions before the damage get new epochs`(offset: Int) async throws {
        var (folder, log) = try await crashed()
        log.flip(frame: log.commits[10], at: offset)
        try log.write(to: folder)
        let time = ItemTime()
        time.now = 1_763_912_345_000
        let engine = try folder.engine(time: time)
        let kept = folder.databasePath + "-wal.damaged-20251123T153905Z"
        let warning = try #require(engine.recovery.warning)
        #expect(warning.contains("the write-ahead log \(folder.databasePath)-wal was damaged: at least "))
        #expect(warning.contains("The log is kept as \(kept)."))
        #expect(engine.recovery.information == nil)
        #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: kept))) == log.bytes)
        let stored = try #require(try await engine.load(TestData.key()))
        let version = stored.head.version
        #expect((1..<20).contains(version))
        #expect(stored.tail == TestData.entries(1...version))
        #expect(stored.head.epoch != TestData.epoch)
        #expect(try await engine.sessions(app: "counter", limit: 9).map(\.epoch) == [stored.head.epoch])
        // Later sessions have the epochs that they are created with, and both kinds of epochs stay over further starts.
        let head = try await engine.append(TestData.key(), at: .after(stored.head), [TestData.entry(version + 1)])
            .head()
        #expect(try await engine.fill("later", upTo: 2).epoch == TestData.epoch)
        #expect(
            try await engine.history(TestData.key(), epoch: head.epoch, after: 0, limit: 99)?.count == Int(version) + 1
        )
        #expect(try await engine.history(TestData.key(), epoch: TestData.epoch, after: 0, limit: 99) == nil)
        engine.close()
        let next = try folder.engine()
        defer { next.close() }
        #expect(next.recovery == StorageRecovery())
        #expect(try await next.load(TestData.key())?.head == head)
        #expect(try await next.load(TestData.key("later"))?.head.epoch == TestData.epoch)
    }

    @Test func `a second loss of commits gives new epochs again`() async throws {
        var epochs: Set<String> = [TestData.epoch]
        var (folder, log) = try await crashed()
        for _ in 0..<2 {
            log.flip(frame: log.commits[log.commits.count / 2], at: 99)
            try log.write(to: folder)
            let engine = try folder.engine()
            #expect(engine.recovery.warning != nil)
            var head = try #require(try await engine.load(TestData.key())).head
            epochs.insert(head.epoch)
            for _ in 0..<8 {
                let entry = TestData.entry(head.version + 1)
                head = try await engine.append(TestData.key(), at: .after(head), [entry]).head()
            }
            let copy = try folder.copyOfFiles()
            engine.close()
            (folder, log) = (copy, try LogBytes(of: copy))
        }
        #expect(epochs.count == 3)
    }

    @Test func `a start that requires a clean log refuses a damaged one, and changes nothing`() async throws {
        var (folder, log) = try await crashed()
        log.flip(frame: log.commits[10], at: 500)
        try log.write(to: folder)
        let database = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))
        guard case .corrupt(nil, let detail) = refusal(of: folder) else {
            Issue.record("not refused")
            return
        }
        #expect(detail.contains("\(folder.databasePath)-wal is damaged: at least "))
        #expect(detail.contains("nothing was changed; a start without --require-clean serves the remaining commits"))
        #expect(try LogBytes(of: folder).bytes == log.bytes)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.databasePath)) == database)
        #expect(try keptLogs(in: folder) == [])
        #expect(throws: StorageError.self) { try SQLiteVacuum.run(folder: folder.path) }
    }

    @Test func `a broken header is damage, and the database is served without the log`() async throws {
        var (folder, log) = try await crashed()
        log.bytes[17] ^= 1
        try log.write(to: folder)
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(
            engine.recovery.warning?.contains("at least \(log.commits.count) commits in \(log.frameCount) frames")
                == true
        )
        #expect(try await engine.load(TestData.key()) == nil)
        #expect(try keptLogs(in: folder).count == 1)
    }

    @Test(arguments: [false, true])
    func `a damaged log whose commits are all in the database loses nothing`(isLast: Bool) async throws {
        var (folder, log) = try await crashed(isCheckpointed: true)
        let commits = log.commits
        // The last commit has at least two frames, so that one of them shows that it was copied.
        let frame = isLast ? commits[commits.count - 2] + 1 : commits[10]
        log.flip(frame: frame, at: 24 + 7)
        try log.write(to: folder)
        #expect(refusal(of: folder) != nil || isLast)
        let engine = try folder.engine()
        defer { engine.close() }
        if !isLast { #expect(engine.recovery.warning?.contains("so none is lost") == true) }
        let version = try #require(try await engine.load(TestData.key())).head.version
        #expect(version == 20 || isLast && version == 19)
    }

    @Test func `a flip that changes the checksum like a flip in the page number loses nothing`() async throws {
        let (whole, log) = try await crashed(isCheckpointed: true)
        let frames = log.commits[2]..<log.commits[12]
        for frame in frames {
            let folder = try whole.copyOfFiles()
            var log = log
            // The bit is the highest bit of the first half of the checksum. A flip of the highest bit of the frame's
            // page number has the same effect.
            log.bytes[log.offset(of: frame) + 16] ^= 0x80
            try log.write(to: folder)
            let engine = try folder.engine()
            #expect(engine.recovery.warning?.contains("so none is lost") == true, "frame \(frame)")
            engine.close()
        }
    }

    @Test func `an unfinished commit is one log line, and changes no epoch`() async throws {
        var (folder, log) = try await crashed()
        log.flip(frame: log.frameCount - 1, at: 24 + 100)
        try log.write(to: folder)
        #expect(refusal(of: folder) == nil)
        try log.write(to: folder)
        let engine = try folder.engine()
        defer { engine.close() }
        let expected =
            "the last commit in the write-ahead log \(folder.databasePath)-wal was not finished: its frames ("
        #expect(engine.recovery.information?.hasPrefix(expected) == true)
        #expect(engine.recovery.warning == nil)
        #expect(try await engine.load(TestData.key())?.head.epoch == TestData.epoch)
        #expect(try keptLogs(in: folder) == [])
    }

    @Test func `a last commit without its salts is one log line, too`() async throws {
        var (folder, log) = try await crashed()
        for frame in log.commits[log.commits.count - 2] + 1..<log.frameCount { log.flip(frame: frame, at: 8) }
        try log.write(to: folder)
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(engine.recovery.information?.contains("was not finished") == true)
        #expect(engine.recovery.warning == nil)
    }

    /// The files of a crash after 20 commits.
    ///
    /// A checkpoint has copied the first 12 of them.
    private func crashedBehindCheckpoint() async throws -> (folder: TemporaryFolder, log: LogBytes, copied: Int) {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        var head = try await engine.fill(upTo: 12)
        let copied = try LogBytes(of: folder).commits.count
        // A reader prevents the log from restarting at its beginning.
        let reader = try RawDatabase(folder.databasePath)
        try reader.execute("BEGIN")
        _ = try reader.text("SELECT count(*) FROM session")
        _ = try RawDatabase(folder.databasePath).text("PRAGMA wal_checkpoint(PASSIVE)")
        for version in UInt64(13)...20 {
            head = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(version)]).head()
        }
        let copy = try folder.copyOfFiles()
        try reader.execute("COMMIT")
        return (copy, try LogBytes(of: copy), copied)
    }

    @Test(arguments: [true, false])
    func `with a damaged log the database is served as of the last checkpointed commit`(
        isHeader: Bool
    ) async throws {
        var (folder, log, copied) = try await crashedBehindCheckpoint()
        if isHeader { log.bytes[17] ^= 1 } else { log.flip(frame: log.commits[copied / 2], at: 24 + 7) }
        try log.write(to: folder)
        let engine = try folder.engine()
        defer { engine.close() }
        let warning = try #require(engine.recovery.warning)
        #expect(warning.contains("at least \(log.commits.count - copied) commits in "))
        #expect(try await engine.load(TestData.key())?.head.version == 12)
    }

    @Test func `a damaged header of a partly copied log is refused, and nothing is changed`() async throws {
        var (folder, log) = try await crashed()
        let (copied, _) = try await crashed(isCheckpointed: true)
        // An interrupted checkpoint has copied the first pages.
        let whole = try Data(contentsOf: URL(fileURLWithPath: copied.databasePath))
        var part = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))
        part.replaceSubrange(0..<min(part.count, 2 * 4_096), with: whole.prefix(min(part.count, 2 * 4_096)))
        try part.write(to: URL(fileURLWithPath: folder.databasePath))
        log.bytes[17] ^= 1
        try log.write(to: folder)
        let engine = SQLiteStorageEngine(folder: folder.path)
        let error = #expect(throws: StorageError.self) { try engine.start() }
        #expect("\(String(describing: error))".contains("has a part of the"))
        #expect(try LogBytes(of: folder).bytes == log.bytes)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.databasePath)) == part)
    }

    @Test func `an emptied log, and a log that was cut after a commit, look like ordinary logs`() async throws {
        let (folder, log) = try await crashed()
        for frames in [0, log.commits[12] + 1] {
            var cut = log
            cut.bytes.removeLast(log.bytes.count - log.offset(of: frames))
            let copy = try folder.copyOfFiles()
            try cut.write(to: copy)
            let engine = try copy.engine()
            defer { engine.close() }
            #expect(engine.recovery == StorageRecovery())
        }
    }

    @Test func `a start that ended before it renewed the epochs is completed by the next start`() async throws {
        let (folder, log) = try await crashed()
        try Data([1]).write(to: URL(fileURLWithPath: folder.databasePath + "-wal.damaged"))
        let engine = try folder.engine()
        defer { engine.close() }
        #expect(engine.recovery.warning?.contains("the damage was found by a start that did not finish") == true)
        #expect(try await engine.load(TestData.key())?.head.version == 20)
        #expect(try await engine.load(TestData.key())?.head.epoch != TestData.epoch)
        #expect(try keptLogs(in: folder).allSatisfy { $0.contains("damaged-") })
        #expect(log.frameCount > 20)
    }

    @Test(arguments: [false, true])
    func `a log without its database refuses to start`(isEmpty: Bool) async throws {
        let (folder, log) = try await crashed()
        if isEmpty {
            try Data().write(to: URL(fileURLWithPath: folder.databasePath))
        } else {
            try FileManager.default.removeItem(atPath: folder.databasePath)
        }
        let engine = SQLiteStorageEngine(folder: folder.path)
        let error = #expect(throws: StorageError.self) { try engine.start() }
        guard case .unavailable(let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(
            detail.contains(
                "its database \(folder.databasePath) is \(isEmpty ? "empty" : "missing"); nothing was changed."
            )
        )
        #expect(try LogBytes(of: folder).bytes == log.bytes)
        #expect(folder.byteCount(of: "rivulet.db") == (isEmpty ? 0 : nil))
    }
}
