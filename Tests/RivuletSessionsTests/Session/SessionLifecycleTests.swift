// Checks creation, snapshots, and the behaviour of a session with damaged storage.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionLifecycleTests {
    private func create(
        _ harness: SessionHarness,
        state: String? = nil,
        isStrict: Bool = false
    ) throws -> CreateAnswer {
        let document = try state.map(document)
        var answer: Result<CreateAnswer, SessionError>?
        harness.shard.find(harness.key, of: harness.app) { found in
            switch found {
            case .success(let session):
                session.create(state: document, isStrict: isStrict) { answer = $0 }
            case .failure(let error): answer = .failure(error)
            }
        }
        return try harness.wait { answer }.get()
    }

    /// The state as it is in the body of a request.
    private func document(_ state: String) throws -> JSONReader {
        var body = JSONReader(Array(#"{"state":\#(state)}"#.utf8))
        var document: JSONReader?
        try body.object { _, reader throws(JSONError) in document = try reader.value() }
        return try #require(document)
    }

    @Test func `a session is created once, and a second creation is refused`() throws {
        let harness = try SessionHarness(policy: .explicit)
        guard case .created(let info, []) = try create(harness) else {
            Issue.record("not created")
            return
        }
        #expect(info.version == 0)
        guard case .existed(let again) = try create(harness) else {
            Issue.record("created twice")
            return
        }
        #expect(again.epoch == info.epoch)
        harness.restart()
        #expect(try harness.session().isStored)
    }

    @Test func `a request that waited for a load finds the session again if an earlier request released it`() throws {
        let harness = try SessionHarness()
        harness.shard.find(harness.key, of: harness.app) { _ in
            // The next request of the same connection comes at once. It releases a session that is not stored and holds
            // no state.
            _ = harness.shard.use(harness.key) { _ in }
        }
        var answer: Result<DispatchAnswer, SessionError>?
        harness.shard.find(harness.key, of: harness.app) { found in
            switch found {
            case .success(let session):
                session.dispatch(DispatchRequest(body: Array(#"{"add":1}"#.utf8))) { answer = $0 }
            case .failure(let error): answer = .failure(error)
            }
        }
        #expect(try harness.wait { answer }.get().version == 1)
    }

    @Test func `a session can begin with a partial state, clamped like every write`() throws {
        let harness = try SessionHarness()
        _ = try create(harness, state: #"{"p":{"count":500,"limits":{"high":9}}}"#)
        harness.restart()
        #expect(try harness.value("/p/count") == "100")
        #expect(try harness.value("/p/limits") == #"{"low":0,"high":9}"#)
        #expect(try harness.dispatch(#"{"add":-1}"#).version == 1)
        harness.restart()
        #expect(try harness.value("/p/count") == "99")
    }

    @Test func `a creation answers with the coercions of its state, once`() throws {
        let harness = try SessionHarness()
        let state = #"{"p":{"count":500,"limits":{"high":-9},"marks":[1]}}"#
        guard case .created(_, let coerced) = try create(harness, state: state) else {
            Issue.record("not created")
            return
        }
        #expect(coerced.map(\.text) == ["/p/count: 500 -> 100", "/p/limits/high: -9 -> 0"])
        guard case .existed = try create(harness, state: state, isStrict: true) else {
            Issue.record("created twice")
            return
        }
        #expect(try harness.dispatch(#"{"add":0}"#).coerced.isEmpty)
    }

    @Test func `a coercion to the default value is in the answer, too`() throws {
        let harness = try SessionHarness()
        guard case .created(_, let coerced) = try create(harness, state: #"{"p":{"count":-5}}"#) else {
            Issue.record("not created")
            return
        }
        #expect(coerced.map(\.text) == ["/p/count: -5 -> 0"])
        #expect(try harness.value("/p/count") == "0")
    }

    @Test func `a strict creation whose state would be coerced creates nothing`() throws {
        let harness = try SessionHarness()
        do {
            _ = try create(harness, state: #"{"p":{"count":-5}}"#, isStrict: true)
            Issue.record("created")
        } catch SessionError.coerced(let values) {
            // The path in the body, as in all errors of a body.
            #expect(values.map(\.text) == ["/state/p/count: -5 -> 0"])
        }
        #expect(try !harness.session().isStored)
        #expect(harness.shard.residentCount == 0)
        guard case .created(_, []) = try create(harness, state: #"{"p":{"count":5}}"#, isStrict: true) else {
            Issue.record("not created")
            return
        }
        #expect(try harness.value("/p/count") == "5")
    }

    @Test(arguments: [
        ("/p/count", "/p/count"), ("/p/items/b/size", "/p/items/1/size"), ("/p/items/7/size", "/p/items/0/size"),
        ("/p/items/b/parts/x~1y", "/p/items/1/parts/0"), ("/p/list/1", "/p/list/1"), ("/p/items/c", "/p/items/c"),
        ("", ""),
    ])
    func `a key path with an element's id becomes a pointer with the element's index`(
        keyPath: String,
        place: String
    ) throws {
        let document = try JSONValue(
            parsing: #"{"p":{"count":1,"items":[{"id":7},{"id":"b","parts":[{"id":"x/y"}]}],"list":[1,2]}}"#
        )
        #expect(document.pointer(of: try JSONPointer(parsing: keyPath)).description == place)
    }

    @Test func `a partial state with an unknown field creates nothing`() throws {
        let harness = try SessionHarness()
        #expect(throws: SessionError.self) { try create(harness, state: #"{"p":{"cuont":5}}"#) }
        #expect(try !harness.session().isStored)
    }

    @Test(arguments: [
        (#"{"p":{"cuont":5}}"#, "/state/p/cuont", 23), (#"{"p":{"count":"5"}}"#, "/state/p/count", 23),
        (#"{"p":{"items":[{"id":"a"},{"id":"a"}]}}"#, "/state/p/items/1", 35), ("5", "/state", 9),
    ])
    func `an error in an initial state has its pointer into the body`(
        _ state: String,
        pointer: String,
        offset: Int
    ) throws {
        let harness = try SessionHarness()
        do {
            _ = try create(harness, state: state)
            Issue.record("created")
        } catch SessionError.body(let error) {
            #expect(error.pointer == pointer)
            #expect(error.offset == offset)
        }
    }

    @Test func `only a creation stores a session of an explicit app`() throws {
        let harness = try SessionHarness(policy: .explicit)
        #expect(try !harness.session().isStored)
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `snapshots follow the growth of the log and lose nothing`() throws {
        let harness = try SessionHarness(limits: SessionLimits(logVersionsMax: 4, snapshotBytesMin: 400))
        for mark in 0..<30 { try harness.dispatch(#"{"mark":\#(mark)}"#) }
        _ = harness.executor.run { (try? harness.session().isIdle) == true }
        let info = try harness.session().info()
        #expect(info.version == 30)
        #expect(info.retainedFrom > 1)
        harness.restart()
        #expect(try harness.value("/p/marks") == "[\((0..<30).map(String.init).joined(separator: ","))]")
        #expect(try harness.dispatch(#"{"mark":30}"#).version == 31)
    }

    @Test func `a cursor from before the retained log is a reset`() throws {
        let harness = try SessionHarness(limits: SessionLimits(logVersionsMax: 2, snapshotBytesMin: 100))
        let first = try harness.dispatch(#"{"mark":0}"#)
        for mark in 1..<20 { try harness.dispatch(#"{"mark":\#(mark)}"#) }
        _ = harness.executor.run { (try? harness.session().isIdle) == true }
        harness.restart()
        let resumed = try harness.subscribe("/p/marks", resume: "\(first.cursor)")
        #expect(resumed.first.map(\.name) == [.reset])
        #expect(resumed.first[0].text.contains("history-gone"))
    }

    @Test func `a stored document of another shape makes its session unreadable and stays as it is`() throws {
        let harness = try SessionHarness()
        let snapshot = StateSnapshot(version: 0, schema: 1, state: Array(#"{"p":{"count":"many"}}"#.utf8))
        _ = try harness.ask {
            harness.storage.create(harness.key, epoch: "aaaaaaaa", time: 0, snapshot: snapshot, reply: $0)
        }
        do {
            _ = try harness.session()
            Issue.record("loaded")
        } catch SessionError.unreadable(let key, let detail) {
            #expect(key == harness.key)
            #expect(detail.contains("/p/count"))
        }
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `a full memory evicts idle sessions, and refuses loads if all sessions have unstored data`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentBytesMax: 10_000))
        let title = String(repeating: "a", count: 10_000)
        try harness.dispatch(#"{"rename":"\#(title)"}"#)
        let other = SessionKey(app: "tally", id: "s2")
        var found: Result<Session, SessionError>?
        harness.shard.find(other, of: harness.app) { found = $0 }
        #expect(try harness.wait { found }.get().key == other)
        #expect(harness.shard.resident(harness.key) == nil)
        try harness.subscribe("/p/count")
        try harness.dispatch(#"[{"rename":"\#(title.dropLast(100))"},{"note":"in memory only"}]"#)
        harness.shard.find(other, of: harness.app) { found = $0 }
        guard case .failure(.overloaded) = found else {
            Issue.record("expected overloaded, got \(String(describing: found))")
            return
        }
    }

    @Test func `the document of a creation is part of the session's memory`() throws {
        let harness = try SessionHarness(limits: SessionLimits(tailBytesMax: 0))
        let title = String(repeating: "a", count: 100_000)
        _ = try create(harness, state: #"{"p":{"title":"\#(title)"}}"#)
        let created = try harness.session().memoryBytes
        #expect(created > 100_000)
        harness.restart()
        #expect(abs(try harness.session().memoryBytes - created) < 1_000)
    }

    @Test func `changes that wait for the next entry are part of the session's memory`() throws {
        let harness = try SessionHarness(limits: SessionLimits(tailBytesMax: 0))
        try harness.dispatch(#"{"insert":{"id":"a","at":0}}"#)
        let before = try harness.session().memoryBytes
        let title = String(repeating: "a", count: 100_000)
        try harness.dispatch(#"{"quietRetitle":{"id":"a","title":"\#(title)"}}"#)
        #expect(try harness.session().memoryBytes > before + 200_000)
        try harness.dispatch(#"{"quietRetitle":{"id":"a","title":""}}"#)
        // The size of the state is an upper bound that is measured from time to time.
        #expect(try harness.session().memoryBytes < before + 101_000)
    }

    @Test func `a session without a quiet moment still gets snapshots`() throws {
        let harness = try SessionHarness(limits: SessionLimits(logVersionsMax: 4, snapshotBytesMin: 400))
        var boxes = (0..<4).map { harness.send(#"{"mark":\#($0)}"#) }
        for mark in 4..<60 {
            boxes.append(harness.send(#"{"mark":\#(mark)}"#))
            _ = try harness.wait(for: boxes[mark - 3])
        }
        for box in boxes { _ = try harness.wait(for: box).get() }
        #expect(try harness.session().info().retainedFrom > 1)
    }

    @Test func `the state of a failed creation is never visible and leaves nothing`() throws {
        let harness = try SessionHarness()
        try harness.subscribe("/p/count")
        harness.storage.failNext(.full(detail: "no space"))
        #expect(throws: SessionError.self) { try create(harness, state: #"{"p":{"count":5}}"#) }
        #expect(harness.sink.delivered.isEmpty)
        #expect(try harness.value("/p/count") == "0")
        try harness.dispatch(#"{"mark":1}"#)
        harness.restart()
        #expect(try harness.value("/p/count") == "0")
    }

    @Test func `streams of the default state get the state of the creation as a change`() throws {
        let harness = try SessionHarness()
        try harness.subscribe("/p/count")
        _ = try create(harness, state: #"{"p":{"count":5}}"#)
        #expect(
            harness.sink.delivered.map(\.event.text) == [
                #"{"version":0,"changes":[{"op":"replace","path":"/p/count","value":5}]}"#
            ]
        )
    }

    @Test func `a deletion behind a failed creation is answered`() throws {
        let harness = try SessionHarness()
        harness.storage.hold()
        let box = harness.send(#"{"add":1}"#)
        let session = try harness.session()
        var deleted: Result<Void, SessionError>?
        session.delete { deleted = $0 }
        harness.storage.failNext(.full(detail: "no space"))
        harness.storage.release()
        #expect(throws: SessionError.self) { try harness.wait(for: box).get() }
        guard case .failure(.notFound) = try harness.wait({ deleted }) else {
            Issue.record("expected notFound, got \(String(describing: deleted))")
            return
        }
    }

    @Test func `a session that cannot be read can be deleted`() throws {
        let harness = try SessionHarness()
        let snapshot = StateSnapshot(version: 0, schema: 1, state: Array(#"{"p":{"count":"many"}}"#.utf8))
        _ = try harness.ask {
            harness.storage.create(harness.key, epoch: "aaaaaaaa", time: 0, snapshot: snapshot, reply: $0)
        }
        var deleted: Result<Void, SessionError>?
        harness.shard.deleteUnreadable(harness.key) { deleted = $0 }
        try harness.wait { deleted }.get()
        #expect(try harness.value("/p/count") == "0")
    }

    @Test func `a session has a new epoch after a deletion with an unknown outcome`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let session = try harness.session()
        var deleted: Result<Void, SessionError>?
        harness.storage.failNext(.indeterminate(detail: "no answer"))
        session.delete { deleted = $0 }
        guard case .failure(.storage(.indeterminate)) = try harness.wait({ deleted }) else {
            Issue.record("expected indeterminate, got \(String(describing: deleted))")
            return
        }
        #expect(try harness.value("/p/count") == "0")
        #expect(try harness.session().info().epoch != session.info().epoch)
    }

    /// A session with a log of these changes, and without a snapshot.
    private func harness(log changes: String) throws -> SessionHarness {
        let harness = try SessionHarness()
        let entry = LogEntry(
            version: 1,
            time: 0,
            commandID: nil,
            event: Array("null".utf8),
            changes: Array(changes.utf8)
        )
        _ = try harness.ask {
            harness.storage.append(harness.key, at: .creating(epoch: "aaaaaaaa", time: 0), [entry], reply: $0)
        }
        return harness
    }

    @Test func `a field that the app no longer has is left out of a stored session`() throws {
        let harness = try harness(
            log: #"[{"op":"replace","path":"/p/old","value":1},{"op":"replace","path":"/p/count","value":500}]"#
        )
        #expect(try harness.value("/p/count") == "100")
    }

    @Test(arguments: [
        (
            #"[{"op":"replace","path":"/p/title","value":""},{"op":"add","path":"/p/items/a","value":{"id":"a","title":5}}]"#,
            "/p/items/a/title", "5}}]"
        ),
        (#"[{"op":"replace","path":"/p/limits","value":{"low":[]}}]"#, "/p/limits/low", "[]}}]"),
        (#"[{"path":"/p/limits/low","value":{},"op":"replace"}]"#, "/p/limits/low", "{},"),
        (#"[{"op":"add","path":"/p/items/a","value":{"id":"b"}}]"#, "/p/items/a", #"{"id":"b"}"#),
        (#"[{"op":"remove","path":"/p/items/a"}]"#, "/p/items/a", #"{"op""#),
        (#"[{"op":"remove","path":"/p/groups/x"}]"#, "/p/groups/x", #"{"op""#),
        (#"[{"op":"replace","path":"/p/groups/x/items","value":[]}]"#, "/p/groups/x/items", "[]}"),
        (#"[{"op":"add","path":"/p/groups/07","value":{"id":7}}]"#, "/p/groups/07", #"{"id":7}"#),
        (#"[{"op":"replace","path":"/p/title","value":5,}]"#, "/0/value", "}]"),
    ])
    func `a log of another shape makes its session unreadable, with the key path and the byte`(
        log: String,
        pointer: String,
        fault: String
    ) throws {
        let harness = try harness(log: log)
        let offset = log.utf8.distance(from: log.startIndex, to: try #require(log.firstRange(of: fault)).lowerBound)
        do {
            _ = try harness.session()
            Issue.record("loaded")
        } catch SessionError.unreadable(_, let detail) {
            #expect(detail.hasPrefix("the changes of version 1 do not decode: "))
            #expect(detail.hasSuffix(", at \(pointer) (byte \(offset))"), "\(detail)")
        }
    }

    @Test func `a cursor of the default state is not valid after a creation with another state`() throws {
        let harness = try SessionHarness()
        let before = try harness.session().read(.root).get().cursor
        _ = try create(harness, state: #"{"p":{"count":5}}"#)
        let resumed = try harness.subscribe("/p/count", resume: "\(before)")
        #expect(resumed.first.map(\.name) == [.reset])
        let short = try #require(Cursor("\(before.epoch).0"))
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"add":1}"#, expected: [short]) }
    }

    @Test func `a snapshot has the changes of the log, and no later transient changes`() throws {
        let harness = try SessionHarness(limits: SessionLimits(snapshotBytesMin: 1))
        try harness.dispatch(#""nothing""#)
        harness.storage.hold()
        let durable = harness.send(#"{"mark":1}"#)
        let transient = harness.send(#"{"quietAdd":5}"#)
        harness.storage.release()
        _ = try harness.wait(for: durable)
        _ = try harness.wait(for: transient)
        _ = harness.executor.run { (try? harness.session().isIdle) == true }
        #expect(try harness.value("/p/count") == "5")
        harness.restart()
        #expect(try harness.value("/p/count") == "0")
        #expect(try harness.value("/p/marks") == "[1]")
    }
}
