// Checks that copies with the same frames have the same content and the same outcomes.

import RivuletCluster
import RivuletSQLite
import RivuletSessions
import RivuletStores
import SeededRandom
import StorageConformance
import Testing

@Suite struct ReplicaHistoryTests {
    @Test(arguments: UInt64(1)...8)
    func `copies are equal, whatever the grouping, restarts, bases and erasing between them`(seed: UInt64) async throws
    {
        let folders = try (0..<4).map { _ in try TemporaryFolder() }
        let first = try folders[0].replica { $0.erasePauseMilliseconds = 0 }
        defer { first.close() }
        let history = try await FrameHistory(seed: seed, frames: 150, on: first)
        let position = try await first.position()
        let hash = try await first.contentHash()
        #expect(hash.position == position.position)
        var random = SeededGenerator(seed: seed)
        for (index, folder) in folders.enumerated().dropFirst() {
            // The second copy is only grouped differently, and erases nothing. The third is opened again, and the
            // fourth moves into another folder by a base.
            var replica = try folder.replica { change(&$0, index) }
            var place = folder
            var rest = history.frames[...]
            var outcomes: [OperationOutcome] = []
            while !rest.isEmpty {
                let group = rest.prefix(Int.random(in: 1...12, using: &random))
                rest = rest.dropFirst(group.count)
                outcomes += try await replica.apply(Array(group)).map(\.withoutToken)
                guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
                switch index {
                case 2:
                    replica.close()
                    replica = try folder.replica { change(&$0, index) }
                case 3:
                    let base = try await replica.export(frameBytesMax: Int.random(in: 600...9_000, using: &random))
                    replica.close()
                    place = try TemporaryFolder()
                    replica = try place.replica { change(&$0, index) }
                    try await replica.load(base)
                default: break
                }
            }
            #expect(outcomes == history.outcomes, "copy \(index)")
            #expect(try await replica.position() == position, "copy \(index)")
            #expect(try await replica.contentHash() == hash, "copy \(index)")
            replica.close()
            #expect(try SQLiteCheck.run(folder: place.path) == [], "copy \(index)")
        }
    }

    /// Gives copies different limits, which must not change the content.
    private func change(_ limits: inout SQLiteStorageLimits, _ index: Int) {
        limits.unindexedEntriesMax = [4_096, 4_096, 3, 40][index]
        limits.headsRememberedMax = [65_536, 2, 65_536, 3][index]
        limits.erasePauseMilliseconds = index == 1 ? 3_600_000 : 0
        limits.eraseStepBytesMax = 4_096
        limits.itemsMax = index == 1 ? 1 : 1_000_000
        limits.keyHashMask = index == 2 ? 1 : .max
    }

    @Test(arguments: UInt64(21)...24)
    func `a base replaces the content of a used copy`(seed: UInt64) async throws {
        let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
        let first = try one.replica()
        defer { first.close() }
        let history = try await FrameHistory(seed: seed, frames: 80, on: first)
        let second = try two.replica()
        defer { second.close() }
        let other = try await FrameHistory(seed: seed + 100, frames: 60, on: second)
        // The reader reads the keys of the old collections for the writer.
        _ = try await second.answer { (reply: @escaping StorageReply<Void>) in
            second.items(of: "todos") { _ in reply(.success(())) }
        }
        try await second.load(try await first.export())
        #expect(try await second.contentHash() == first.contentHash())
        #expect(try await second.position() == first.position())
        var chain = history.chain
        let frames = other.frames.map { chain.next($0.frame.operations.filter { !$0.isCheckpoint }) }
        let outcomes = try await first.apply(frames).map(\.withoutToken)
        #expect(try await second.apply(frames).map(\.withoutToken) == outcomes)
        #expect(try await second.contentHash() == first.contentHash())
        try await second.waitUntilErased()
        #expect(try await second.contentHash() == first.contentHash())
        #expect(try SQLiteCheck.run(folder: two.path) == [])
    }

    @Test(arguments: UInt64(41)...43)
    func `a copy has the content that a single server has after the same writes`(seed: UInt64) async throws {
        let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
        let replica = try one.replica()
        defer { replica.close() }
        let time = SharedTime()
        let single = SQLiteStorageEngine(folder: two.path, clock: { time.now })
        try single.start()
        defer { single.close() }
        var operations = RandomWrites(seed: seed, hasLimits: false)
        var chain = FrameChain()
        var hash = OutcomeHash()
        for _ in 0..<200 {
            let operation = operations.next(outcomes: hash.value)
            let outcome = try #require(try await replica.apply([chain.next([operation])]).first)
            hash.add(outcome)
            operations.learn(operation, outcome)
            let expected = try await single.carryOut(operation, time)
            #expect(outcome.withoutToken == expected.withoutToken, "\(operation)")
        }
        #expect(try await replica.contentHash().hash == ReplicaContent.hash(ofDatabaseAt: two.databasePath).hash)
        for app in ["counter", "notes"] {
            for id in ["a", "b", "c", "d"] {
                let key = SessionKey(app: app, id: id)
                let (stored, other) = (try await replica.load(key), try await single.load(key))
                #expect(stored?.tail == other?.tail)
                #expect(stored?.snapshot == other?.snapshot)
                #expect(stored?.retained == other?.retained)
                #expect(stored?.updated == other?.updated)
            }
        }
    }
}

/// Random frames that were applied one by one, with their outcomes.
struct FrameHistory {
    private(set) var frames: [PositionedFrame] = []
    private(set) var outcomes: [OperationOutcome] = []
    private(set) var chain = FrameChain()

    init(seed: UInt64, frames count: Int, on replica: SQLiteStorageEngine) async throws {
        var operations = RandomWrites(seed: seed, hasLimits: true)
        var hash = OutcomeHash()
        for _ in 0..<count {
            var frame: [Operation] = []
            for _ in 0..<operations.number(1..<4) {
                let operation = operations.next(outcomes: hash.value)
                // A checkpoint states the outcomes before it, and so it is the first of its frame.
                if frame.isEmpty || !operation.isCheckpoint { frame.append(operation) }
            }
            frames.append(chain.next(frame))
            let outcomes = try await replica.apply(frames.suffix(1))
            for (operation, outcome) in zip(frame, outcomes) { operations.learn(operation, outcome) }
            hash.add(outcomes)
            self.outcomes += outcomes.map(\.withoutToken)
        }
        let kinds = Set(self.outcomes.map { "\($0)".prefix(24) })
        try #require(kinds.count > 6, "the history is varied: \(kinds)")
    }
}

/// The clock of a single server, which has the times of operations.
private final class SharedTime: @unchecked Sendable {
    // SAFETY: a test sets the time, and waits for the write that reads it.
    var now: Int64 = 0
}

extension Operation {
    var isCheckpoint: Bool {
        guard case .checkpoint = self else { return false }
        return true
    }
}

extension SQLiteStorageEngine {
    /// Carries an operation out through the roles of a single server.
    fileprivate func carryOut(_ operation: Operation, _ time: SharedTime) async throws -> OperationOutcome {
        switch operation {
        case .create(let key, let epoch, let time, let snapshot, let owner, _):
            return .created(try await create(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner))
        case .append(let key, .creating(let epoch, let time, let snapshot, let owner), let entries, let answers, _):
            let point = AppendPoint.creating(epoch: epoch, time: time, snapshot: snapshot, owner: owner)
            return .appended(try await append(key, at: point, entries, keeping: answers))
        case .append(let key, .after(let epoch, let version), let entries, let answers, _):
            let head = SessionHead(epoch: epoch, version: version, token: try await token(of: key))
            return .appended(try await append(key, at: .after(head), entries, keeping: answers))
        case .compact(let key, let epoch, let version, let snapshot, let keeping):
            let head = SessionHead(epoch: epoch, version: version, token: try await token(of: key))
            return .compacted(
                try await answer { compact(key, at: head, snapshot: snapshot, keeping: keeping, reply: $0) }
            )
        case .delete(let key): return .deleted(try await delete(key))
        case .items(let collection, let changes, let written, _):
            time.now = written
            let result = await withCheckedContinuation { continuation in
                commit(changes, to: collection) { continuation.resume(returning: $0) }
            }
            return .items(result.error)
        case .claim, .release, .checkpoint, .base: return .none
        }
    }

    private func token(of key: SessionKey) async throws -> UInt64 { try await load(key)?.head.token ?? 0 }
}
