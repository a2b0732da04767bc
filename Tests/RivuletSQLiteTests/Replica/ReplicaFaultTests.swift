// Checks that a copy is always at one of its positions, after kills, power cuts, a full disk and disk errors.

import CStorageFaults
import Foundation
import Glibc
import RivuletBase
import RivuletCluster
import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct ReplicaFaultTests {
    /// A copy that a killed process left after some frames, with the content at each position.
    private func killed(
        frames: Int,
        _ change: (inout SQLiteStorageLimits) -> Void = { _ in }
    ) async throws -> (folder: TemporaryFolder, history: FrameHistory, hashes: [LogPosition: ContentHash]) {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let source = try other.replica()
        defer { source.close() }
        let history = try await FrameHistory(seed: 5, frames: frames, on: source)
        let replica = try folder.replica {
            // A step of erasing truncates the log.
            $0.erasePauseMilliseconds = 3_600_000
            change(&$0)
        }
        defer { replica.close() }
        var hashes = [LogPosition.start: try await replica.contentHash()]
        for frame in history.frames {
            try await replica.apply([frame])
            hashes[frame.position] = try await replica.contentHash()
        }
        return (try folder.copyOfFiles(), history, hashes)
    }

    /// Applies the rest of a history to a copy, and checks the content before and after.
    private func finish(
        _ folder: TemporaryFolder,
        _ history: FrameHistory,
        _ hashes: [LogPosition: ContentHash]
    ) async throws -> LogPosition {
        let replica = try folder.replica()
        defer { replica.close() }
        let position = try await replica.position().position
        #expect(try await replica.contentHash() == hashes[position])
        try await replica.apply(history.frames.filter { $0.position > position })
        let last = try #require(history.frames.last?.position)
        #expect(try await replica.contentHash() == hashes[last])
        return position
    }

    @Test func `a killed copy has the content of its position after each frame`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let source = try other.replica()
        defer { source.close() }
        let history = try await FrameHistory(seed: 3, frames: 40, on: source)
        let replica = try folder.replica {
            ($0.unindexedEntriesMax, $0.walPagesPerCheckpoint, $0.erasePauseMilliseconds) = (4, 20, 0)
        }
        defer { replica.close() }
        for frame in history.frames {
            try await replica.apply([frame])
            let expected = try await replica.contentHash()
            let killed = try folder.copyOfFiles()
            let next = try killed.replica()
            #expect(try await next.position().position == frame.position)
            #expect(try await next.contentHash() == expected)
            next.close()
        }
    }

    @Test(arguments: [24 + 100, 4])
    func `after a power cut a copy continues from an earlier position, without new epochs`(offset: Int) async throws {
        let (folder, history, hashes) = try await killed(frames: 60)
        let log = try LogBytes(of: folder)
        var positions: Set<LogPosition> = []
        for commit in stride(from: 0, to: log.commits.count, by: 5) {
            let copy = try folder.copyOfFiles()
            var cut = log
            cut.flip(frame: log.commits[commit], at: offset)
            try cut.write(to: copy)
            positions.insert(try await finish(copy, history, hashes))
            #expect(try SQLiteCheck.run(folder: copy.path) == [])
        }
        #expect(positions.count > 4)
    }

    @Test func `a check does not report commits that a power cut took back`() async throws {
        let (folder, _, _) = try await killed(frames: 60)
        var log = try LogBytes(of: folder)
        log.flip(frame: log.commits[log.commits.count / 2], at: 99)
        try log.write(to: folder)
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
        _ = try SQLiteVacuum.run(folder: folder.path)
        let replica = try folder.replica()
        defer { replica.close() }
        #expect(replica.recovery == StorageRecovery())
    }

    @Test func `a broken header leaves the content of the last whole checkpoint`() async throws {
        let (folder, history, hashes) = try await killed(frames: 60) { $0.walPagesPerCheckpoint = 1 }
        var log = try LogBytes(of: folder)
        log.bytes[17] ^= 1
        try log.write(to: folder)
        let last = try #require(history.frames.last?.position)
        #expect(try await finish(folder, history, hashes) == last)
    }

    @Test func `a database with a part of the lost commits has to be copied again`() async throws {
        let (folder, _, _) = try await killed(frames: 60)
        let copied = try folder.copyOfFiles()
        _ = try RawDatabase(copied.databasePath).text("PRAGMA wal_checkpoint(PASSIVE)")
        let whole = try Data(contentsOf: URL(fileURLWithPath: copied.databasePath))
        var part = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))
        let pages = stride(from: 0, to: part.count, by: 4_096).map { $0..<$0 + 4_096 }
        let changed = pages.filter { part[$0] != whole[$0] }
        for page in changed.prefix(changed.count / 2) { part.replaceSubrange(page, with: whole[page]) }
        try part.write(to: URL(fileURLWithPath: folder.databasePath))
        var log = try LogBytes(of: folder)
        log.bytes[17] ^= 1
        try log.write(to: folder)
        let error = #expect(throws: StorageError.self) { _ = try folder.replica() }
        #expect(
            "\(String(describing: error))".contains("delete the folder \(folder.path); the node copies the data again")
        )
    }

    @Test func `a damaged database has to be copied again`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        _ = try await FrameHistory(seed: 9, frames: 60, on: replica)
        replica.close()
        try RawDatabase(folder.databasePath).execute("UPDATE replica SET position = position + 1")
        #expect(
            try SQLiteCheck.run(folder: folder.path).map { $0.contains("the position in the cluster's log") } == [true]
        )
        let next = try folder.replica()
        let error = await #expect(throws: StorageError.self) { _ = try await next.position() }
        #expect(
            "\(String(describing: error))".contains("delete the folder \(folder.path); the node copies the data again")
        )
        next.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.databasePath))
        try file.write(contentsOf: Data(repeating: 0, count: 4_096))
        try file.close()
        let other = #expect(throws: StorageError.self) { _ = try folder.replica() }
        #expect(
            "\(String(describing: other))".contains("delete the folder \(folder.path); the node copies the data again")
        )
    }

    @Test func `an apply that meets a damaged page names the remedy, and the position stays`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        var chain = FrameChain()
        let keys = (0..<300).map { TestData.key("\($0)") }
        let creations = keys.map {
            RivuletCluster.Operation.create($0, epoch: "e", time: 1, snapshot: nil, owner: nil, quota: .none)
        }
        try await replica.apply([chain.next(creations)])
        let position = try await replica.position()
        replica.close()
        try folder.overwritePage(ofTable: "session")
        let next = try folder.replica()
        defer { next.close() }
        let frame = chain.next(keys.map { .delete($0) })
        let error = await #expect(throws: StorageError.self) { try await next.apply([frame]) }
        guard case .corrupt(nil, let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("delete the folder \(folder.path); the node copies the data again"))
        #expect(try await next.position() == position)
        await #expect(throws: StorageError.self) { _ = try await next.export() }
    }

    @Test func `a full disk refuses whole frames, and the copy takes no more until it is opened again`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        var chain = FrameChain()
        func create(_ id: String) -> RivuletCluster.Operation {
            .create(TestData.key(id), epoch: "e", time: 1, snapshot: TestData.snapshot(0), owner: nil, quota: .none)
        }
        try await replica.apply([chain.next([create("a")])])
        let (position, hash) = (try await replica.position(), try await replica.contentHash())
        let frames = (0..<3).map { chain.next([create("b\($0)"), create("c\($0)")]) }
        let gate = Gate()
        await gate.holdWriter(of: replica)
        let answers = Answers<[OperationOutcome]>(expecting: 3)
        for (index, frame) in frames.enumerated() { replica.apply([frame], of: .first, reply: answers.reply(index)) }
        folder.failDisk(write: ENOSPC)
        gate.open()
        for answer in await answers.all() {
            guard case .failure(.full) = answer else {
                Issue.record("\(answer)")
                continue
            }
        }
        folder.failDisk()
        await #expect(throws: StorageError.self) { try await replica.apply([frames[0]]) }
        #expect(try await replica.position() == position)
        #expect(try await replica.contentHash() == hash)
        replica.close()
        let next = try folder.replica()
        defer { next.close() }
        #expect(try await next.position() == position)
        try await next.apply(frames)
        #expect(try await next.sessions(app: "counter", limit: 9).count == 7)
    }

    @Test func `in a full database the frames before the large one are applied, and no part of it`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica { $0.databaseBytesMax = 400_000 }
        defer { replica.close() }
        var chain = FrameChain()
        let large = TestData.entry(1, byteCount: 900_000)
        let point = OperationPoint.creating(epoch: "e", time: 1, snapshot: nil, owner: nil)
        func append(_ id: String, _ entry: LogEntry) -> RivuletCluster.Operation {
            .append(TestData.key(id), at: point, entries: [entry], answers: .none, quota: .none)
        }
        let frames = [
            chain.next([append("a", TestData.entry(1))]),
            chain.next([append("b", TestData.entry(1)), append("c", large)]),
            chain.next([append("d", TestData.entry(1))]),
        ]
        let gate = Gate()
        await gate.holdWriter(of: replica)
        let answers = Answers<[OperationOutcome]>(expecting: 3)
        for (index, frame) in frames.enumerated() { replica.apply([frame], of: .first, reply: answers.reply(index)) }
        gate.open()
        let results = await answers.all()
        #expect(try results[0].get().count == 1)
        guard case .failure(.full) = results[1], case .failure(.unavailable) = results[2] else {
            Issue.record("\(results)")
            return
        }
        #expect(try await replica.position().position == frames[0].position)
        #expect(try await replica.sessions(app: "counter", limit: 9).map(\.id) == ["a"])
    }

    @Test func `after a failed write the copy is at one of both positions`() async throws {
        let (folder, history, hashes) = try await killed(frames: 20)
        let replica = try folder.replica()
        folder.failDisk(write: EIO)
        var chain = history.chain
        let frame = chain.next([
            .delete(SessionKey(app: "counter", id: "a")), .delete(SessionKey(app: "notes", id: "a")),
        ])
        let error = await #expect(throws: StorageError.self) { try await replica.apply([frame]) }
        guard case .indeterminate = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await #expect(throws: StorageError.self) { try await replica.apply([frame]) }
        await #expect(throws: StorageError.self) { try await replica.contentHash() }
        folder.failDisk()
        replica.close()
        _ = try await finish(folder, history, hashes)
    }

    // MARK: - Bases

    @Test func `a crash or an error during the load of a base leaves the old content`() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let source = try other.replica()
        defer { source.close() }
        _ = try await FrameHistory(seed: 1, frames: 60, on: source)
        let base = try await source.export(frameBytesMax: 800)
        let replica = try folder.replica { $0.walPagesPerCheckpoint = 1 }
        defer { replica.close() }
        _ = try await FrameHistory(seed: 2, frames: 60, on: replica)
        let (position, hash) = (try await replica.position(), try await replica.contentHash())
        let killed = Killed()
        let error = await #expect(throws: StorageError.self) {
            try await replica.answer { (reply: @escaping StorageReply<Void>) in
                replica.load(to: base.position, of: .first, reply: reply) {
                    var batches = base.operations[...]
                    return { () throws(StorageError) in
                        if batches.count == 1 {
                            killed.copy(folder)
                            throw .unavailable(detail: "the base cannot be read")
                        }
                        return batches.popFirst()
                    }
                }
            }
        }
        #expect(error == .unavailable(detail: "the base cannot be read"))
        #expect(try await replica.position() == position)
        #expect(try await replica.contentHash() == hash)
        let copy = try #require(killed.folder)
        let next = try copy.replica()
        defer { next.close() }
        #expect(try await next.position() == position)
        #expect(try await next.contentHash() == hash)
        try await next.load(base)
        #expect(try await next.contentHash() == source.contentHash())
        #expect(try await next.contents(of: "todos") == source.contents(of: "todos"))
    }

    @Test func `applies do not wait for an export, which ends when the copy is closed`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        let history = try await FrameHistory(seed: 4, frames: 40, on: replica)
        let position = try await replica.position()
        let (began, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let answers = Answers<ReplicaPosition>(expecting: 2)
        let pass: @Sendable ([BaseOperation]) throws(StorageError) -> Void = { _ in
            began.signal()
            goesOn.wait()
            // The copy goes on when the engine has begun to close.
            while !replica.refusesCopies { sched_yield() }
        }
        for index in 0..<2 { replica.export(.first, frameBytesMax: 700, pass, reply: answers.reply(index)) }
        await Self.wait(for: began)
        var chain = history.chain
        try await replica.apply([chain.next([.delete(SessionKey(app: "counter", id: "a"))])])
        #expect(try await replica.position() != position)
        let closing = Task { replica.close() }
        goesOn.signal()
        await closing.value
        #expect(await answers.all().map { $0.error } == [.closed, .closed])
    }

    @Test func `a base of another cluster, and one out of order, are refused`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        var chain = FrameChain()
        try await replica.apply([chain.next([])])
        var position = try await replica.position()
        position.cluster = "other"
        let other = ReplicaExport(position: position, operations: [])
        await #expect(throws: StorageError.self) { try await replica.load(other) }
        replica.close()
        let next = try folder.replica()
        defer { next.close() }
        let parts = [BaseOperation.entries(TestData.key(), [TestData.entry(1)])]
        let base = ReplicaExport(position: try await next.position(), operations: [parts])
        let error = await #expect(throws: StorageError.self) { try await next.load(base) }
        #expect("\(String(describing: error))".contains("not in their order in the base"))
    }

    /// Waits without blocking the thread of the caller.
    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }
}

/// The files of a folder at one moment, as a killed process leaves them.
private final class Killed: @unchecked Sendable {
    // SAFETY: the writer's thread sets the folder before the reply, for which the test waits.
    private(set) var folder: TemporaryFolder?

    func copy(_ original: TemporaryFolder) {
        do { folder = try original.copyOfFiles() } catch { Issue.record(error) }
    }
}

extension SQLiteStorageEngine {
    /// True if the engine has begun to close, so that it refuses a copy at once.
    fileprivate var refusesCopies: Bool {
        let answer = OneAnswer()
        contentHash(of: .first) { answer.error = $0.error }
        return answer.error == .closed
    }
}

/// An answer that comes before its call returns, or that is not needed.
private final class OneAnswer: @unchecked Sendable {
    // SAFETY: a refusal sets the error on the caller's thread. The lock orders a later answer.
    private let lock = NSLock()
    private var stored: StorageError?

    var error: StorageError? {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}
