// Checks that whole states are made on work threads, and that later requests wait meanwhile.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionPauseTests {
    /// A session in which every state is treated as large.
    private func harness() throws -> SessionHarness {
        try SessionHarness(limits: SessionLimits(turnJSONBytesMax: 0))
    }

    private func replace(_ event: EngineEvent, _ harness: SessionHarness) throws -> SessionHarness.Box {
        let box = SessionHarness.Box()
        try harness.session().dispatch(DispatchRequest(event)) { box.result = $0 }
        return box
    }

    /// A reset with a held job, after an event that storage will refuse.
    private func reset(
        behind error: StorageError
    ) throws -> (harness: SessionHarness, failing: SessionHarness.Box, reset: SessionHarness.Box) {
        let harness = try harness()
        try harness.dispatch(#"{"add":1}"#)
        harness.storage.failNext(error)
        harness.work.isHeld = true
        return (harness, harness.send(#"{"add":5}"#), try replace(.reset, harness))
    }

    private final class Creation {
        var result: Result<CreateAnswer, SessionError>?
    }

    private func create(_ document: String, _ harness: SessionHarness) -> Creation {
        let creation = Creation()
        harness.shard.find(harness.key, of: harness.app) { found in
            guard case .success(let session) = found else { return }
            session.create(state: JSONReader(Array(document.utf8)), isStrict: false) { creation.result = $0 }
        }
        return creation
    }

    // MARK: - Restores and resets

    @Test func `a job restores a version, and later events wait for it`() throws {
        let harness = try harness()
        for _ in 0..<3 { try harness.dispatch(#"{"add":1}"#) }
        harness.work.isHeld = true
        let restored = try replace(.restored(version: 1), harness)
        // The stored version is read first.
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        harness.work.runNext()
        #expect(harness.work.count == 1)
        let late = harness.send(#"{"add":10}"#)
        harness.executor.runPosted()
        #expect(restored.result == nil)
        #expect(late.result == nil)
        harness.work.isHeld = false
        harness.work.runNext()
        #expect(try harness.wait(for: restored).get().version == 4)
        #expect(try harness.wait(for: late).get().version == 5)
        #expect(try harness.value("/p/count") == "11")
        harness.restart()
        #expect(try harness.value("/p/count") == "11")
    }

    @Test func `a reset is repeated on the state that remains after a failed append`() throws {
        let (harness, failing, reset) = try reset(behind: .unavailable(detail: "no disk"))
        guard case .failure = try harness.wait(for: failing) else {
            Issue.record("the event was stored")
            return
        }
        harness.work.runNext()
        #expect(reset.result == nil)
        harness.work.runNext()
        let answer = try harness.wait(for: reset).get()
        #expect(answer.version == 2)
        #expect(answer.changes.first?.path == "/p/count")
    }

    @Test func `a repeated reset still checks the expected cursor`() throws {
        let harness = try harness()
        try harness.dispatch(#"{"add":1}"#)
        harness.storage.failNext(.unavailable(detail: "no disk"))
        harness.work.isHeld = true
        let before = try harness.session().info().epoch
        let failing = harness.send(#"{"add":5}"#)
        let reset = SessionHarness.Box()
        let expected = try #require(Cursor("\(before).2"))
        try harness.session().dispatch(DispatchRequest(.reset, expected: [expected])) { reset.result = $0 }
        #expect(harness.work.count == 1)
        _ = try harness.wait(for: failing)
        harness.work.isHeld = false
        harness.work.runNext()
        guard case .failure(.precondition) = try harness.wait(for: reset) else {
            Issue.record("\(String(describing: reset.result))")
            return
        }
        #expect(try harness.value("/p/count") == "1")
    }

    @Test func `a restored document does not use up the room of waiting events`() throws {
        let harness = try SessionHarness(limits: SessionLimits(turnJSONBytesMax: 0, waitingBytesMax: 4_000))
        try harness.dispatch(#"{"rename":"\#(String(repeating: "n", count: 6_000))"}"#)
        harness.work.isHeld = true
        let restored = try replace(.restored(version: 1), harness)
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        harness.work.runNext()
        let late = harness.send(#"{"add":10}"#)
        #expect(late.result == nil)
        harness.work.isHeld = false
        harness.work.runNext()
        _ = try harness.wait(for: restored).get()
        _ = try harness.wait(for: late).get()
    }

    @Test func `a reset is refused when its session is evicted`() throws {
        let (harness, failing, reset) = try reset(behind: .indeterminate(detail: "no disk"))
        _ = try harness.wait(for: failing)
        harness.work.runNext()
        guard case .failure(.storage(.unavailable))? = reset.result else {
            Issue.record("\(String(describing: reset.result))")
            return
        }
    }

    @Test func `a deletion waits for an unfinished reset`() throws {
        let harness = try harness()
        try harness.dispatch(#"{"add":1}"#)
        harness.work.isHeld = true
        let reset = try replace(.reset, harness)
        var isDeleted = false
        try harness.session().delete { _ in isDeleted = true }
        harness.executor.runPosted()
        #expect(!isDeleted)
        harness.work.runNext()
        #expect(try harness.wait(for: reset).get().version == 2)
        _ = try harness.wait { isDeleted ? true : nil }
    }

    // MARK: - Creations

    @Test func `a job merges a document into the default, and later events wait for it`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        let created = create(#"{"p":{"count":5}}"#, harness)
        let late = harness.send(#"{"add":1}"#)
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        #expect(created.result == nil)
        #expect(late.result == nil)
        harness.work.isHeld = false
        harness.work.runNext()
        guard case .created = try harness.wait({ created.result }).get() else {
            Issue.record("the session existed")
            return
        }
        _ = try harness.wait(for: late).get()
        #expect(try harness.value("/p/count") == "6")
    }

    @Test func `a creation behind a refused creation uses its own document`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        let refused = create(#"{"p":{"count":"many"}}"#, harness)
        let created = create(#"{"p":{"count":7}}"#, harness)
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        harness.work.isHeld = false
        harness.work.runNext()
        guard case .failure(.body)? = refused.result else {
            Issue.record("\(String(describing: refused.result))")
            return
        }
        guard case .created = try harness.wait({ created.result }).get() else {
            Issue.record("the session existed")
            return
        }
        #expect(try harness.value("/p/count") == "7")
    }

    @Test func `a creation behind a reset finds the session`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        let reset = SessionHarness.Box()
        harness.shard.find(harness.key, of: harness.app) { found in
            if case .success(let session) = found { session.dispatch(DispatchRequest(.reset)) { reset.result = $0 } }
        }
        let created = create(#"{"p":{"count":7}}"#, harness)
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        #expect(created.result == nil)
        harness.work.isHeld = false
        harness.work.runNext()
        _ = try harness.wait(for: reset).get()
        guard case .existed = try harness.wait({ created.result }).get() else {
            Issue.record("the session was created twice")
            return
        }
    }

    @Test func `a creation behind another one finds the session`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        let first = create(#"{"p":{"count":5}}"#, harness)
        let second = create(#"{"p":{"count":7}}"#, harness)
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        harness.work.isHeld = false
        harness.work.runNext()
        guard case .created = try harness.wait({ first.result }).get(),
            case .existed = try harness.wait({ second.result }).get()
        else {
            Issue.record("\(String(describing: first.result)), \(String(describing: second.result))")
            return
        }
        #expect(try harness.value("/p/count") == "5")
    }

    @Test func `a job writes the default state that is stored with the first event`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        let first = harness.send(#"{"add":1}"#)
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        #expect(first.result == nil)
        harness.work.runNext()
        #expect(try harness.wait(for: first).get().version == 1)
        let stored = try harness.ask { harness.storage.load(harness.key, reply: $0) }
        #expect(stored?.snapshot?.version == 0)
    }
}
