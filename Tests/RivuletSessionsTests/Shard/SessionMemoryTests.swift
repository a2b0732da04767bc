// Checks that a session's memory is counted.

import RivuletEngine
import RivuletJSON
import RivuletSessions
import Testing

@Suite struct SessionMemoryTests {
    private func notebook(_ limits: SessionLimits = SessionLimits(tailBytesMax: 0)) throws -> SessionHarness {
        let harness = try SessionHarness(limits: limits)
        harness.deploy(NotebookApp())
        return harness
    }

    @Test func `transient state is part of a session's memory`() throws {
        let harness = try notebook()
        let before = try harness.session().memoryBytes
        try harness.subscribe("/t")
        try harness.dispatch(#"{"sketch":"\#(letters(100_000))"}"#)
        #expect(try harness.session().memoryBytes > before + 100_000)
    }

    @Test func `repeated writes of one field add its size once`() throws {
        let harness = try notebook()
        try harness.dispatch(#"{"write":"a"}"#)
        let before = try harness.session().memoryBytes
        for _ in 0..<40 { try harness.dispatch(#"{"sketch":"\#(letters(10_000))"}"#) }
        #expect(try harness.session().memoryBytes < before + 50_000)
    }

    @Test func `waiting events and changes that are not durable yet are part of a session's memory`() throws {
        let harness = try notebook()
        try harness.dispatch(#"{"write":"a"}"#)
        let before = try harness.session().memoryBytes
        harness.storage.hold()
        let box = harness.send(#"{"write":"\#(letters(100_000))"}"#)
        // The memory has the dispatch's body, its change and its entry.
        #expect(try harness.session().memoryBytes > before + 300_000)
        harness.storage.release()
        _ = try harness.wait(for: box).get()
        #expect(try harness.session().memoryBytes < before + 250_000)
    }

    @Test func `a view's data for its streams is part of the session's memory`() throws {
        let harness = try notebook(SessionLimits(tailBytesMax: 1_000_000))
        try harness.dispatch(#"{"write":"a"}"#)
        try harness.subscribe(StreamTopic(view: "NotebookView", paths: []))
        let before = try harness.session().memoryBytes
        try harness.dispatch(#"{"write":"\#(letters(100_000))"}"#)
        // The memory has the state, its recent changes and the view's recent changes.
        #expect(try harness.session().memoryBytes > before + 290_000)
    }

    @Test func `transient fields of elements are part of the session's memory from its load on`() throws {
        let harness = try notebook()
        let lines = (0..<1_000).map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
        let document = JSONReader(Array(#"{"p":{"lines":[\#(lines)]}}"#.utf8))
        var answer: Result<CreateAnswer, SessionError>?
        harness.shard.find(harness.key, of: harness.app) { found in
            switch found {
            case .success(let session): session.create(state: document, isStrict: false) { answer = $0 }
            case .failure(let error): answer = .failure(error)
            }
        }
        _ = try harness.wait { answer }.get()
        harness.restart()
        let session = try harness.session()
        let bytes = try session.read(.root).get().value.count
        #expect(bytes > 30_000)
        #expect(session.memoryBytes >= bytes + 4_096)
    }

    @Test func `a session can grow under the least memory limit, and cannot under a smaller limit`() throws {
        let least = AppHost(NotebookApp()).residentBytesLeast
        #expect(try notebook(SessionLimits(residentBytesMax: least)).dispatch(#"{"write":"a"}"#).version == 1)
        let harness = try notebook(SessionLimits(residentBytesMax: least - 4_096))
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"write":"a"}"#) }
    }

    @Test func `streams are part of a session's memory`() throws {
        let harness = try notebook()
        let before = try harness.session().memoryBytes
        try harness.subscribe("/p/text")
        #expect(try harness.session().memoryBytes > before)
    }
}
