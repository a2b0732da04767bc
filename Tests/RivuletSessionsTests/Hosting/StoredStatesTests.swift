// Checks that a storage engine stores in-process states.

import RivuletSessions
import Testing

@Suite struct StoredStatesTests {
    private func started() throws -> MemoryStorageEngine {
        let engine = MemoryStorageEngine()
        try engine.start()
        return engine
    }

    @Test func `a document replaces the previous one, under any key`() async throws {
        let engine = try started()
        let keys = ["a", "A", "a b/ü", "", "_20"]
        let states = StoredStates(engine: engine) { 0 }
        for key in keys {
            #expect(try await states.load(key) == nil)
            for text in ["1", "2", key] { try await states.save(Array(text.utf8), under: key) }
        }
        let others = StoredStates(engine: engine) { 0 }
        for key in keys { #expect(try await others.load(key) == Array(key.utf8)) }
    }

    @Test func `a deleted document is created again`() async throws {
        let engine = try started()
        let states = StoredStates(engine: engine) { 0 }
        try await states.save([1], under: "a")
        let isDeleted = try await withCheckedThrowingContinuation { continuation in
            engine.delete(SessionKey(app: "state", id: "a")) { continuation.resume(with: $0) }
        }
        #expect(isDeleted)
        try await states.save([2], under: "a")
        #expect(try await states.load("a") == [2])
    }

    @Test func `a failure of storage is thrown`() async throws {
        let engine = try started()
        let states = StoredStates(engine: engine) { 0 }
        await #expect(throws: StorageError.self) { try await states.load(String(repeating: "k", count: 129)) }
        engine.close()
        await #expect(throws: StorageError.closed) { try await states.load("a") }
        await #expect(throws: StorageError.closed) { try await states.save([], under: "a") }
    }
}
