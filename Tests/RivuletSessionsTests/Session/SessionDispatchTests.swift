// Checks the path of a dispatch: reduced, durable, visible, acknowledged.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionDispatchTests {
    @Test func `a persisted event has the next version and is durable when it is answered`() throws {
        let harness = try SessionHarness()
        let answer = try harness.dispatch(#"{"add":3}"#)
        #expect(answer.version == 1)
        #expect(answer.isDurable)
        #expect(answer.changes.map(\.path) == ["/p/count", "/t/lastEvent"])
        harness.restart()
        #expect(try harness.value("/p/count") == "3")
    }

    @Test func `nothing is acknowledged or visible before storage has it`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#""nothing""#)
        harness.storage.hold()
        let box = harness.send(#"{"add":3}"#)
        #expect(box.result == nil)
        #expect(try harness.value("/p/count") == "0")
        harness.storage.release()
        #expect(try harness.wait(for: box).get().version == 1)
        #expect(try harness.value("/p/count") == "3")
    }

    @Test func `events that come during a write of storage are reduced on the head and stored together`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#""nothing""#)
        harness.storage.hold()
        let boxes = (1...5).map { _ in harness.send(#"{"add":1}"#) }
        harness.storage.release()
        let versions = try boxes.map { try harness.wait(for: $0).get().version }
        #expect(versions == [1, 2, 3, 4, 5])
        #expect(harness.storage.appends == 2)
    }

    @Test func `a failed commit reverts all changes that built on it`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        harness.storage.hold()
        let first = harness.send(#"{"add":10}"#)
        let second = harness.send(#"{"add":20}"#)
        harness.storage.failNext(.full(detail: "no space"))
        harness.storage.release()
        for box in [first, second] {
            guard case .failure(.storage(.full)) = try harness.wait(for: box) else {
                Issue.record("expected a full disk, got \(String(describing: box.result))")
                return
            }
        }
        #expect(try harness.value("/p/count") == "1")
        #expect(try harness.dispatch(#"{"add":1}"#).version == 2)
        #expect(try harness.value("/p/count") == "2")
    }

    @Test func `an uncertain commit makes the session load again`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        try harness.subscribe("/p/count")
        harness.storage.failNext(.indeterminate(detail: "fsync"))
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"add":1}"#) }
        #expect(harness.sink.ended == [.draining])
        #expect(harness.shard.resident(harness.key) == nil)
        #expect(try harness.value("/p/count") == "1")
    }

    @Test func `a rejected event changes nothing, even if its reducer had written fields`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"rename":"a"}"#)
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"rename":""}"#) }
        #expect(try harness.value("/p/title") == #""a""#)
        #expect(try harness.dispatch(#"{"rename":"b"}"#).version == 2)
    }

    @Test func `an event that changes nothing answers the same version and logs nothing`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let answer = try harness.dispatch(#""nothing""#)
        #expect(answer.version == 1)
        #expect(answer.changes.isEmpty)
        #expect(harness.storage.appends == 1)
    }

    @Test func `a transient event has no version and moves the cursor`() throws {
        let harness = try SessionHarness()
        let first = try harness.dispatch(#"{"add":1}"#)
        let answer = try harness.dispatch(#""peek""#)
        #expect(answer.version == 1)
        #expect(!answer.isDurable)
        #expect(answer.cursor != first.cursor)
        #expect(answer.cursor.epoch == first.cursor.epoch)
    }

    @Test func `the next entry has the changes that transient events made to stored fields`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"quietAdd":5}"#)
        harness.restart()
        #expect(try harness.value("/p/count") == "0")
        try harness.dispatch(#"{"quietAdd":5}"#)
        let answer = try harness.dispatch(#"{"rename":"b"}"#)
        #expect(!answer.changes.map(\.path).contains("/p/count"))
        harness.restart()
        #expect(try harness.value("/p/count") == "5")
    }

    @Test func `an array of events is one version or nothing`() throws {
        let harness = try SessionHarness()
        #expect(try harness.dispatch(#"[{"add":1},{"mark":7}]"#).version == 1)
        #expect(throws: SessionError.self) { try harness.dispatch(#"[{"add":1},{"rename":""}]"#) }
        #expect(
            try harness.value("/p")
                == #"{"count":1,"title":"Tally","marks":[7],"ratio":0.5,"limits":{"low":0,"high":80},"items":[],"#
                + #""groups":[],"tickets":[],"mode":"idle"}"#
        )
    }

    @Test func `a strict dispatch that would be coerced changes nothing`() throws {
        let harness = try SessionHarness()
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"set":250}"#, isStrict: true) }
        #expect(try harness.value("/p/count") == "0")
        #expect(try harness.dispatch(#"{"set":250}"#).coerced.map(\.path) == ["/p/count"])
    }

    @Test(arguments: [
        (
            #"{"limits":{"low":-1,"high":5000}}"#,
            ["/p/limits/low: -1 -> 0", "/p/limits/high: 5000 -> 1000"]
        ),
        (
            #"{"span":{"low":-1,"high":5000}}"#,
            ["/p/limits/low: -1 -> 0", "/p/limits/high: 5000 -> 1000"]
        ),
        (#"[{"limits":{"low":-1}},{"set":250}]"#, ["/p/count: 250 -> 100", "/p/limits/low: -1 -> 0"]),
        (#"[{"limits":{"low":-1}},{"limits":{"low":-2}}]"#, ["/p/limits/low: -2 -> 0"]),
        (#"[{"limits":{"low":-1}},{"limits":{"low":0}}]"#, []),
    ])
    func `an event's payload and the values that a reducer computes are coerced like any write`(
        body: String,
        coerced: [String]
    ) throws {
        let harness = try SessionHarness()
        let answer = try harness.dispatch(body)
        #expect(answer.coerced.map(\.text) == coerced)
        // The second dispatch has the same coercions. The field already has the coerced value, but the sender wrote
        // another value.
        #expect(try harness.dispatch(body).coerced.map(\.text) == coerced)
        guard !coerced.isEmpty else { return }
        let version = try harness.dispatch(#""peek""#).version
        #expect(throws: SessionError.self) { try harness.dispatch(body, isStrict: true) }
        #expect(try harness.dispatch(#""peek""#).version == version)
    }

    @Test func `a waiting dispatch keeps the coercions that were found when its events were decoded`() throws {
        let harness = try SessionHarness()
        harness.storage.hold()
        // The event has an effect, so the next dispatch is decoded at once and reduced later.
        let first = harness.send(#"{"chain":1}"#)
        let waiting = harness.send(#"{"limits":{"low":-1}}"#)
        harness.storage.release()
        #expect(try harness.wait(for: first).get().coerced.isEmpty)
        #expect(try harness.wait(for: waiting).get().coerced.map(\.text) == ["/p/limits/low: -1 -> 0"])
    }

    @Test func `an event that computes a number without a JSON form changes nothing`() throws {
        let harness = try SessionHarness()
        #expect(throws: SessionError.self) { try harness.dispatch(#""blowUp""#) }
        #expect(try harness.value("/p/ratio") == "0.5")
    }

    @Test func `a dispatch with another cursor than the session's is refused with the session's cursor`() throws {
        let harness = try SessionHarness()
        let first = try harness.dispatch(#"{"add":1}"#)
        try harness.dispatch(#"{"add":1}"#, expected: [first.cursor])
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"add":1}"#, expected: [first.cursor]) }
        #expect(try harness.value("/p/count") == "2")
    }

    /// The refusal of a dispatch that expects the session at these cursors.
    private func mismatch(of harness: SessionHarness, with expected: Cursor...) throws -> CursorMismatch? {
        let error = #expect(throws: SessionError.self) { try harness.dispatch(#"{"add":1}"#, expected: expected) }
        guard case .precondition(let mismatch, _)? = error else { return nil }
        return mismatch
    }

    @Test func `a refusal distinguishes a newer version, a new incarnation and another history`()
        throws
    {
        let harness = try SessionHarness()
        let first = try harness.dispatch(#"{"add":1}"#).cursor
        let second = try harness.dispatch(#""peek""#).cursor
        #expect(try mismatch(of: harness, with: first) == .moved)
        let foreign = try #require(Cursor("aaaaaaaa.1"))
        #expect(try mismatch(of: harness, with: foreign) == .otherHistory)
        #expect(try mismatch(of: harness, with: foreign, first) == .moved)
        #expect(try mismatch(of: harness, with: .nowhere) == .noCursor)
        #expect(try mismatch(of: harness, with: .nowhere, foreign) == .otherHistory)
        let ahead = try #require(Cursor("\(first.epoch).9"))
        #expect(try mismatch(of: harness, with: ahead) == .ahead)
        #expect(try mismatch(of: harness, with: ahead, first) == .moved)
        harness.restart()
        #expect(try mismatch(of: harness, with: second) == .reloaded)
        try harness.dispatch(#"{"add":1}"#)
        #expect(try mismatch(of: harness, with: second) == .moved)
    }

    @Test func `a rejection has the index of the event in an array, and none for a single event`() throws {
        let harness = try SessionHarness()
        let rejection = RejectionError("title must not be empty")
        for (body, index) in [
            (#" [{"add":1},{"rename":""}]"#, 1), (#"[{"rename":""},{"add":1}]"#, 0), (#"[{"rename":""}]"#, 0),
        ] {
            let error = #expect(throws: SessionError.self) { try harness.dispatch(body) }
            guard case .rejectedInArray(let refused)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(refused == RejectedEventError(index: index, eventName: "rename", rejection: rejection))
        }
        let error = #expect(throws: SessionError.self) { try harness.dispatch(#" {"rename":""}"#) }
        guard case .rejected(rejection.message)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try harness.value("/p/count") == "0")
    }

    @Test func `the short form of a cursor compares the durable history only`() throws {
        let harness = try SessionHarness()
        let first = try harness.dispatch(#"{"add":1}"#)
        try harness.dispatch(#""peek""#)
        let short = try #require(Cursor("\(first.cursor.epoch).1"))
        #expect(try harness.dispatch(#"{"add":1}"#, expected: [short]).version == 2)
    }

    @Test func `events of effects queue behind waiting events, and each effect runs once`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#""nothing""#)
        harness.storage.hold()
        let chain = harness.send(#"{"chain":2}"#)
        let add = harness.send(#"{"mark":99}"#)
        harness.storage.release()
        _ = try harness.wait(for: chain)
        _ = try harness.wait(for: add)
        #expect(try harness.dispatch(#""nothing""#).version >= 3)
        #expect(harness.executor.run { (try? harness.value("/p/marks")) == "[2,99,1,0]" })
    }

    @Test func `an asynchronous effect dispatches its events before the next event runs`() async throws {
        let harness = try SessionHarness()
        try harness.dispatch(#""slow""#)
        // The test yields instead of blocking, because the effect needs one of the few threads of the tests.
        let end = ContinuousClock.now + .seconds(60)
        while try harness.value("/p/title") != #""slow is done""#, ContinuousClock.now < end {
            await Task.yield()
            harness.executor.runPosted()
        }
        #expect(try harness.value("/p/title") == #""slow is done""#)
    }

    @Test func `a full queue refuses a dispatch as overloaded and keeps the waiting ones`() throws {
        var limits = SessionLimits()
        limits.engine.queuedDispatchesMax = 2
        let harness = try SessionHarness(limits: limits)
        try harness.dispatch(#""nothing""#)
        harness.storage.hold()
        let boxes = (0..<5).map { _ in harness.send(#"{"add":1}"#) }
        guard case .failure(.overloaded(let what)) = boxes[4].result else {
            Issue.record("expected overloaded, got \(String(describing: boxes[4].result))")
            return
        }
        #expect(what == "event queue of session s1")
        harness.storage.release()
        for box in boxes.prefix(4) { _ = try harness.wait(for: box).get() }
        #expect(try harness.value("/p/count") == "4")
    }

    @Test(arguments: [#"{"add":}"#, #"{"add":1,"add":2}"#, "", "[1"])
    func `a body that is not JSON has another error than JSON that does not decode`(_ body: String) throws {
        let harness = try SessionHarness()
        do {
            try harness.dispatch(body)
            Issue.record("accepted")
        } catch SessionError.body(let error) {
            #expect(error.isMalformed)
        }
    }

    @Test func `a sensitive event is logged by name only, and its payload is nowhere`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"note":"secret"}"#)
        let epoch = try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) }).head.epoch
        let entries = try harness.ask {
            harness.storage.history(harness.key, epoch: epoch, after: 0, limit: 10, reply: $0)
        }
        let log = try #require(entries)
        #expect(log.map { String(decoding: $0.event, as: UTF8.self) } == [#""note""#])
        #expect(!String(decoding: log[0].changes, as: UTF8.self).contains("secret"))
    }

    @Test func `a dispatch that is sent from within an answer waits until all durable events are published`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#""nothing""#)
        let joined = try harness.subscribe("/p/count")
        harness.storage.hold()
        let session = try harness.session()
        let request = DispatchRequest(body: Array(#"{"add":1}"#.utf8))
        var versions: [UInt64] = []
        for _ in 0..<4 {
            // The client sends its next event as soon as it has the answer, as a pipelining client does.
            session.dispatch(request) { result in
                versions.append((try? result.get().version) ?? 0)
                session.dispatch(request) { versions.append((try? $0.get().version) ?? 0) }
            }
        }
        harness.storage.release()
        #expect(harness.executor.run { versions.count == 8 })
        #expect(versions == [1, 2, 3, 4, 5, 6, 7, 8])
        let events = harness.sink.delivered.filter { $0.group == joined.group }.map(\.event)
        #expect(
            events.map(\.text)
                == (1...8).map { #"{"version":\#($0),"changes":[{"op":"replace","path":"/p/count","value":\#($0)}]}"# }
        )
        #expect(events.compactMap(\.cursor?.position.version) == [1, 2, 3, 4, 5, 6, 7, 8])
    }

    @Test func `a durable event stores earlier transient changes, also when it changes nothing itself`()
        throws
    {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"quietAdd":5}"#)
        let answer = try harness.dispatch(#"{"set":5}"#)
        #expect(answer.isDurable)
        #expect(answer.version == 1)
        harness.restart()
        #expect(try harness.value("/p/count") == "5")
    }

    @Test func `the cursor of an unwritten session is valid for the first write`() throws {
        let harness = try SessionHarness()
        let cursor = try harness.session().read(.root).get().cursor
        let short = try #require(Cursor("\(cursor.epoch).0"))
        let answer = try harness.dispatch(#"{"add":1}"#, expected: [short])
        #expect(answer.version == 1)
        #expect(answer.cursor.epoch == cursor.epoch)
    }

    @Test func `an empty transaction is refused and stores nothing`() throws {
        let harness = try SessionHarness()
        #expect(throws: SessionError.self) { try harness.dispatch("[]") }
        #expect(try !harness.session().isStored)
    }

    @Test func `a dispatch beyond the limit of waiting bytes is refused`() throws {
        let harness = try SessionHarness(limits: SessionLimits(waitingBytesMax: 20))
        try harness.dispatch(#""nothing""#)
        harness.storage.hold()
        let boxes = (0..<3).map { _ in harness.send(#"{"add":1}"#) }
        guard case .failure(.overloaded(let what)) = boxes[2].result else {
            Issue.record("expected overloaded, got \(String(describing: boxes[2].result))")
            return
        }
        #expect(what == "bytes of the events that wait in session s1 (waitingBytesMax)")
        harness.storage.release()
        for box in boxes.prefix(2) { _ = try harness.wait(for: box).get() }
        try harness.dispatch(#"{"add":1}"#)
        #expect(try harness.value("/p/count") == "3")
    }
}

extension Coercion {
    /// The coercion in one line.
    var text: String {
        "\(path): \(String(decoding: from, as: UTF8.self)) -> \(String(decoding: to, as: UTF8.self))"
    }
}
