// Checks the past of a session: reads of its log and of earlier states, and restores of them.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionHistoryTests {
    private func past(_ version: UInt64, _ path: String, _ harness: SessionHarness) throws -> String {
        var answer: Result<StateAnswer, SessionError>?
        try harness.session().read(try JSONPointer(parsing: path), at: version) { answer = $0 }
        return String(decoding: try harness.wait { answer }.get().value, as: UTF8.self)
    }

    private func log(after version: UInt64? = nil, limit: Int = 100, _ harness: SessionHarness) throws -> LogPage {
        var answer: Result<LogPage, SessionError>?
        try harness.session().readLog(after: version, limit: limit) { answer = $0 }
        return try harness.wait { answer }.get()
    }

    private func make(
        _ event: EngineEvent,
        expected: [Cursor] = [],
        _ harness: SessionHarness
    ) throws -> DispatchAnswer {
        var answer: Result<DispatchAnswer, SessionError>?
        try harness.session().dispatch(DispatchRequest(event, expected: expected)) { answer = $0 }
        return try harness.wait { answer }.get()
    }

    /// A session with three marks, after a restart.
    private func marked() throws -> SessionHarness {
        let harness = try SessionHarness()
        for mark in 1...3 { try harness.dispatch(#"{"mark":\#(mark)}"#) }
        return harness
    }

    // MARK: - Reading

    @Test func `an earlier version has its stored fields, and defaults for the others`() throws {
        let harness = try marked()
        #expect(try (0...3).map { try past($0, "/p/marks", harness) } == ["[]", "[1]", "[1,2]", "[1,2,3]"])
        #expect(try past(3, "/t/lastEvent", harness) == "null")
        #expect(try harness.value("/t/lastEvent") == #""mark""#)
    }

    @Test func `a version that does not exist yet has another error than a deleted one`() throws {
        let harness = try SessionHarness(limits: SessionLimits(logVersionsMax: 1, snapshotVersionsMax: 1))
        for mark in 1...3 { try harness.dispatch(#"{"mark":\#(mark)}"#) }
        _ = harness.executor.run { (try? harness.session().isIdle) == true }
        #expect(try past(2, "/p/marks", harness) == "[1,2]")
        do {
            _ = try past(4, "", harness)
            Issue.record("a version that does not exist was read")
        } catch SessionError.noVersion(let version, let current) {
            #expect((version, current) == (4, 3))
        }
        do {
            _ = try past(1, "", harness)
            Issue.record("a deleted version was read")
        } catch SessionError.versionGone(let version, let oldest) {
            #expect((version, oldest) == (1, 2))
        }
        do {
            _ = try log(after: 0, harness)
            Issue.record("deleted entries were read")
        } catch SessionError.versionGone(let version, let oldest) {
            #expect((version, oldest) == (1, 2))
        }
        #expect(try log(harness).entries.map(\.version) == [3])
    }

    @Test func `a session that is not stored has its default at version 0`() throws {
        let harness = try SessionHarness()
        #expect(try past(0, "/p/count", harness) == "0")
        #expect(throws: SessionError.self) { try past(1, "", harness) }
        #expect(throws: SessionError.self) { try log(harness) }
        #expect(throws: SessionError.self) { try make(.restored(version: 0), harness) }
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `a page of the log shows if more entries follow, also when storage returns fewer than requested`() throws
    {
        let harness = try marked()
        #expect(try log(limit: 2, harness).hasMore)
        #expect(try !log(limit: 3, harness).hasMore)
        #expect(try !log(after: 3, harness).hasMore)
        harness.storage.limitHistory(to: 1)
        let page = try log(limit: 3, harness)
        #expect(page.entries.map(\.version) == [1])
        #expect(page.hasMore)
    }

    @Test func `a page of the log has a limit of bytes, but at least one entry`() throws {
        let harness = try SessionHarness(limits: SessionLimits(logAnswerBytesMax: 150))
        for mark in 1...6 { try harness.dispatch(#"{"mark":\#(mark)}"#) }
        let size = try log(limit: 1, harness).entries.reduce(0) { $0 + $1.byteCount }
        #expect(size > 100 && size < 150)
        #expect(try log(limit: 100, harness).entries.count == 1)
    }

    @Test func `an event that is not durable yet is in no page of the log and no earlier version`() throws {
        let harness = try marked()
        harness.storage.hold()
        let box = harness.send(#"{"mark":4}"#)
        #expect(try log(harness).entries.count == 3)
        #expect(throws: SessionError.self) { try past(4, "", harness) }
        harness.storage.release()
        _ = try harness.wait(for: box).get()
        #expect(try log(harness).entries.count == 4)
    }

    // MARK: - Restore

    @Test func `D-09: a restore replaces the stored fields, keeps the others, and calls no reducer`() throws {
        let harness = try marked()
        try harness.dispatch(#"{"note":"in memory only"}"#)
        let answer = try make(.restored(version: 1), harness)
        #expect(answer.version == 5)
        #expect(answer.isDurable)
        #expect(answer.changes.map(\.path) == ["/p/marks"])
        #expect(try harness.value("/p/marks") == "[1]")
        // A reducer would have recorded its event.
        #expect(try harness.value("/t/lastEvent") == #""note""#)
        let entry = try #require(try log(after: 4, harness).entries.first)
        #expect(String(decoding: entry.event, as: UTF8.self) == #"{"$restore":{"version":1}}"#)
        harness.restart()
        #expect(try harness.value("/p/marks") == "[1]")
        #expect(
            try [0, 1, 2, 4, 5].map { try past($0, "/p/marks", harness) } == ["[]", "[1]", "[1,2]", "[1,2,3]", "[1]"]
        )
    }

    @Test func `D-09: an effect follows a restore`() throws {
        let harness = try marked()
        _ = try make(.restored(version: 2), harness)
        #expect(try harness.wait { try? harness.value("/p/title") == #""restored from 2""# ? true : nil })
    }

    @Test func `a restore reverts the changes that transient events made to stored fields`() throws {
        let harness = try marked()
        try harness.dispatch(#"{"quietAdd":5}"#)
        let answer = try make(.restored(version: 3), harness)
        #expect(answer.version == 4)
        #expect(answer.changes.map(\.path) == ["/p/count"])
        harness.restart()
        #expect(try harness.value("/p/count") == "0")
    }

    @Test func `a restore waits in the queue like an event`() throws {
        let harness = try marked()
        harness.storage.hold()
        let before = harness.send(#"{"mark":4}"#)
        var answer: Result<DispatchAnswer, SessionError>?
        try harness.session().dispatch(DispatchRequest(.restored(version: 2))) { answer = $0 }
        _ = harness.executor.run { harness.storage.appends > 3 }
        harness.executor.runPosted()
        harness.storage.release()
        #expect(try harness.wait(for: before).get().version == 4)
        #expect(try harness.wait { answer }.get().version == 5)
        #expect(try harness.dispatch(#"{"mark":6}"#).version > 5)
        #expect(try past(5, "/p/marks", harness) == "[1,2]")
    }

    @Test func `a restore that storage refuses changes nothing`() throws {
        let harness = try marked()
        let version = try harness.session().info().version
        harness.storage.failNext(.full(detail: "no space"))
        #expect(throws: SessionError.self) { try make(.restored(version: 1), harness) }
        #expect(try harness.value("/p/marks") == "[1,2,3]")
        #expect(try harness.session().info().version == version)
    }

    @Test func `a restored version satisfies the current wrappers`() throws {
        let harness = try SessionHarness()
        let snapshot = StateSnapshot(version: 0, schema: 1, state: Array(#"{"p":{"count":500}}"#.utf8))
        _ = try harness.ask {
            harness.storage.create(harness.key, epoch: "aaaaaaaa", time: 0, snapshot: snapshot, reply: $0)
        }
        try harness.dispatch(#"{"set":7}"#)
        _ = try make(.restored(version: 0), harness)
        #expect(try harness.value("/p/count") == "100")
    }

    @Test func `a restore sends each stream one event, with the differences at its paths`() throws {
        let harness = try marked()
        let marks = try harness.subscribe("/p/marks")
        try harness.subscribe("/p/count")
        _ = try make(.restored(version: 2), harness)
        #expect(harness.sink.delivered.first?.group == marks.group)
        #expect(
            harness.sink.delivered.first?.event.text
                == #"{"version":4,"changes":[{"op":"replace","path":"/p/marks","value":[1,2]}]}"#
        )
    }

    // MARK: - Reset

    @Test func `D-10: a reset sets both halves to their defaults, is durable and calls no reducer`() throws {
        let harness = try marked()
        try harness.dispatch(#"{"note":"in memory only"}"#)
        let answer = try make(.reset, harness)
        #expect(answer.version == 5)
        #expect(answer.isDurable)
        #expect(answer.changes.map(\.path) == ["/p/marks", "/t/lastEvent"])
        let entry = try #require(try log(after: 4, harness).entries.first)
        #expect(String(decoding: entry.event, as: UTF8.self) == #""$reset""#)
        harness.restart()
        #expect(try harness.value("/p/marks") == "[]")
    }

    @Test func `a reset is refused if its condition does not hold`() throws {
        let harness = try marked()
        let epoch = try harness.session().info().epoch
        let stale = try #require(Cursor("\(epoch).2"))
        #expect(throws: SessionError.self) { try make(.reset, expected: [stale], harness) }
        #expect(try harness.value("/p/marks") == "[1,2,3]")
        #expect(try make(.reset, expected: [try #require(Cursor("\(epoch).3"))], harness).version == 4)
    }

    // MARK: - Fork

    @Test func `the document of a version creates a session that begins with it`() throws {
        let harness = try marked()
        var answer: Result<[UInt8], SessionError>?
        try harness.session().document(at: 2) { answer = $0 }
        let document = try harness.wait { answer }.get()
        let key = SessionKey(app: "tally", id: "fork")
        var created: Result<CreateAnswer, SessionError>?
        harness.shard.find(key, of: harness.app) { found in
            guard case .success(let session) = found else { return }
            session.create(state: JSONReader(document), isStrict: true) { created = $0 }
        }
        guard case .created(let info, []) = try harness.wait({ created }).get() else {
            Issue.record("not created")
            return
        }
        #expect(info.version == 0)
        #expect(try info.epoch != harness.session().info().epoch)
        let stored = try #require(try harness.ask { harness.storage.load(key, reply: $0) })
        #expect(stored.snapshot?.state == document)
    }
}
