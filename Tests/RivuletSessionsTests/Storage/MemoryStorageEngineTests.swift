// Checks the reference engine.

import RivuletSessions
import StorageConformance
import Synchronization
import Testing

@Suite struct MemoryStorageEngineTests {
    private let key = SessionKey(app: "counter", id: "one")

    private func startedEngine(_ change: (inout MemoryStorageLimits) -> Void = { _ in }) throws -> MemoryStorageEngine {
        var limits = MemoryStorageLimits()
        change(&limits)
        let engine = MemoryStorageEngine(limits: limits)
        try engine.start()
        return engine
    }

    @Test(arguments: QuotaConformance.all)
    func `keeps quotas`(rule: QuotaConformance) async throws {
        let engine = MemoryStorageEngine()
        defer { engine.close() }
        try await rule.check(engine)
    }

    @Test(arguments: StorageConformance.all)
    func `keeps the storage contract`(rule: StorageConformance) async throws {
        let engine = try startedEngine { limits in
            limits.entryBytesMax = 1 << 20
            limits.snapshotBytesMax = 1 << 20
        }
        defer { engine.close() }
        try await rule.check(engine)
    }

    @Test func `it declares that it is not durable`() {
        let capabilities = MemoryStorageEngine().capabilities
        #expect(capabilities.name == "memory")
        #expect(!capabilities.survivesPowerLoss)
        #expect(!capabilities.isShared)
    }

    @Test func `is unavailable before it is started`() async throws {
        let engine = MemoryStorageEngine()
        let error = await #expect(throws: StorageError.self) { _ = try await engine.load(key) }
        #expect(error == .unavailable(detail: "start() has not been called"))
    }

    @Test func `is full at its limit, and has room again after a deletion`() async throws {
        let engine = try startedEngine { $0.bytesMax = 10_000 }
        let point = AppendPoint.creating(epoch: "k3v9x0qa", time: 0)
        let entry = LogEntry(version: 1, time: 0, commandID: nil, event: Array(repeating: 0, count: 9_000), changes: [])
        _ = try await engine.append(key, at: point, [entry])
        let other = SessionKey(app: "counter", id: "two")
        let error = await #expect(throws: StorageError.self) { _ = try await engine.append(other, at: point, [entry]) }
        #expect(error == .memoryFull(limitBytes: 10_000))
        #expect(error?.description.contains("MemoryStorageLimits.bytesMax") == true)
        #expect(engine.memoryBytes > 9_000)
        #expect(try await engine.load(other) == nil)
        #expect(try await engine.delete(key))
        _ = try await engine.append(other, at: point, [entry])
        #expect(try await engine.load(other)?.head.version == 1)
    }

    @Test func `a compaction frees bytes of its limit`() async throws {
        let engine = try startedEngine { $0.bytesMax = 10_000 }
        let entries = (1...8).map {
            LogEntry(version: $0, time: 0, commandID: nil, event: Array(repeating: 0, count: 900), changes: [])
        }
        guard
            case .committed(let head) = try await engine.append(
                key,
                at: .creating(epoch: "k3v9x0qa", time: 0),
                entries
            )
        else { throw StorageError.closed }
        let next = LogEntry(version: 9, time: 0, commandID: nil, event: Array(repeating: 0, count: 5_000), changes: [])
        await #expect(throws: StorageError.self) { _ = try await engine.append(key, at: .after(head), [next]) }
        let snapshot = StateSnapshot(version: 8, schema: 1, state: [])
        _ = try await engine.compact(key, at: head, snapshot: snapshot, keepingFrom: 9)
        _ = try await engine.append(key, at: .after(head), [next])
        #expect(try await engine.load(key)?.head.version == 9)
    }

    @Test func `a request from within a reply is answered after that reply, and refused beyond the queue`() throws {
        let engine = try startedEngine { $0.requestsWaitingMax = 2 }
        let told = Mutex<[String]>([])
        @Sendable func tell(_ text: String) { told.withLock { $0.append(text) } }
        engine.probe { _ in
            tell("first begins")
            for _ in 0..<3 {
                engine.probe { result in
                    if case .failure(.unavailable) = result { tell("refused") } else { tell("second") }
                }
            }
            tell("first ends")
        }
        engine.close()
        #expect(told.withLock { $0 } == ["first begins", "refused", "refused", "first ends", "second"])
    }

    @Test func `a request is answered before its call returns if no other one is in progress`() throws {
        let engine = try startedEngine { _ in }
        let isAnswered = Mutex(false)
        engine.probe { _ in isAnswered.withLock { $0 = true } }
        #expect(isAnswered.withLock { $0 })
    }
}
