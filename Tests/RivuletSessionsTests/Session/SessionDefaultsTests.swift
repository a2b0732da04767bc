// Checks that a session keeps the defaults that it began with, whatever the defaults of later builds are.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionDefaultsTests {
    private let filled = FirstShelfApp(
        defaultState: FirstShelf(books: [FirstBook(id: "y", pages: 3), FirstBook(id: "z")])
    )

    /// A session of a build with books on its shelves from the start.
    private func harness(_ events: String..., limits: SessionLimits = SessionLimits()) throws -> SessionHarness {
        let harness = try SessionHarness(limits: limits)
        harness.deploy(filled)
        for event in events { try harness.dispatch(event) }
        return harness
    }

    /// A session as earlier builds stored it: a log without a snapshot, or a log after a snapshot that lacks a field.
    private func oldHarness(_ changes: String..., snapshot: String? = nil) throws -> SessionHarness {
        let harness = try SessionHarness()
        let entries = changes.enumerated().map { index, changes in
            LogEntry(
                version: UInt64(index + 1),
                time: 0,
                commandID: nil,
                event: Array(#""e""#.utf8),
                changes: Array("[\(changes)]".utf8)
            )
        }
        let state = snapshot.map { StateSnapshot(version: 0, schema: 1, state: Array($0.utf8)) }
        _ = try harness.ask {
            let point = AppendPoint.creating(epoch: "aaaaaaaa", time: 0, snapshot: state)
            harness.storage.append(harness.key, at: point, entries, reply: $0)
        }
        return harness
    }

    private static let addition = #"{"op":"add","path":"/books/a","value":{"id":"a","pages":1},"index":2}"#

    private func ids(_ harness: SessionHarness, at path: String = "/contents/books") throws -> [String] {
        let value = try JSONValue(parsing: try harness.value(path))
        return (value.elements ?? []).compactMap { $0["id"]?.stringValue }
    }

    private func unreadable(_ harness: SessionHarness) throws -> String {
        do {
            _ = try harness.session()
        } catch SessionError.unreadable(_, let detail) {
            return detail
        }
        Issue.record("the session was read")
        return ""
    }

    @Test func `elements of the default are migrated together with added elements`() throws {
        let harness = try harness(#"{"add":"a"}"#, #"{"move":{"_0":"z","to":0}}"#, #"{"remove":"y"}"#)
        harness.deploy(ShelfApp())
        #expect(try ids(harness) == ["z", "a"])
    }

    @Test func `an edited element of the default is migrated with its edits`() throws {
        let harness = try harness(#"{"read":{"_0":"y","pages":9}}"#)
        harness.deploy(ShelfApp())
        #expect(try harness.value("/contents/books/y/pages") == "9")
        #expect(try ids(harness) == ["y", "z"])
    }

    @Test func `a field that was never written is migrated with the default that clients saw`() throws {
        let harness = try harness(#"{"add":"a"}"#)
        harness.deploy(ShelfApp())
        #expect(try harness.value("/title") == #""shelf""#)
        #expect(try harness.value("/number") == #""1""#)
    }

    @Test func `a new default of a later build affects new sessions only`() throws {
        let harness = try harness(#"{"add":"a"}"#)
        harness.deploy(FirstShelfApp(defaultState: FirstShelf(name: "later", number: 7)))
        #expect(try harness.value("/name") == #""shelf""#)
        #expect(try ids(harness, at: "/books") == ["y", "z", "a"])
    }

    @Test(arguments: [true, false])
    func `a session is stored with its whole initial state, created by a request or by its first event`(
        isCreated: Bool
    ) throws {
        let harness = try SessionHarness()
        harness.deploy(filled)
        if isCreated {
            var answer: Result<CreateAnswer, SessionError>?
            harness.shard.find(harness.key, of: harness.app) { found in
                switch found {
                case .success(let session): session.create(state: nil, isStrict: false) { answer = $0 }
                case .failure(let error): answer = .failure(error)
                }
            }
            _ = try harness.wait { answer }.get()
        } else {
            try harness.dispatch(#"{"rename":"A"}"#)
        }
        let stored = try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) })
        let books = #"[{"id":"y","pages":3},{"id":"z","pages":1}]"#
        let document = #"{"name":"shelf","number":1,"books":\#(books),"lost":null}"#
        #expect(stored.snapshot == StateSnapshot(version: 0, schema: 1, state: Array(document.utf8)))
    }

    @Test func `changes of transient events before the first entry are in the log and not in the initial state`() throws
    {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"quietAdd":5}"#)
        try harness.dispatch(#"{"add":1}"#)
        let answer = try past(harness, at: 0, "/p/count")
        #expect(answer == "0")
        harness.restart()
        #expect(try harness.value("/p/count") == "6")
    }

    private func past(_ harness: SessionHarness, at version: UInt64, _ path: String) throws -> String {
        var answer: Result<StateAnswer, SessionError>?
        try harness.session().read(try JSONPointer(parsing: path), at: version) { answer = $0 }
        return String(decoding: try harness.wait { answer }.get().value, as: UTF8.self)
    }

    @Test func `a version from before a migration is read with the session's own initial state`() throws {
        let harness = try harness(#"{"remove":"y"}"#, #"{"add":"a"}"#)
        harness.deploy(ShelfApp())
        try harness.dispatch(#"{"retitle":"B"}"#)
        harness.restart()
        let books = try JSONValue(parsing: try past(harness, at: 1, "/contents/books"))
        #expect(books.elements?.map { $0["id"] } == ["z"])
        #expect(try past(harness, at: 0, "/title") == #""shelf""#)
    }

    @Test func `a restore of version 0 gives the session's initial state, also in a later build`() throws {
        let harness = try harness(#"{"remove":"y"}"#, #"{"remove":"z"}"#)
        harness.deploy(ShelfApp())
        var answer: Result<DispatchAnswer, SessionError>?
        try harness.session().dispatch(DispatchRequest(.restored(version: 0))) { answer = $0 }
        #expect(try harness.wait { answer }.get().version == 3)
        #expect(try ids(harness) == ["y", "z"])
        harness.restart()
        #expect(try ids(harness) == ["y", "z"])
    }

    @Test func `a reset by a later build stores that build's default`() throws {
        let harness = try harness(#"{"add":"a"}"#)
        harness.deploy(ShelfApp())
        var answer: Result<DispatchAnswer, SessionError>?
        try harness.session().dispatch(DispatchRequest(.reset)) { answer = $0 }
        _ = try harness.wait { answer }.get()
        harness.restart()
        #expect(try harness.value("") == #"{"title":"a shelf","number":"one","contents":{"books":[]},"lost":null}"#)
    }

    @Test func `the initial state survives a compaction of the log`() throws {
        let limits = SessionLimits(logVersionsMax: 2, snapshotBytesMin: 100)
        let harness = try harness(limits: limits)
        for number in 1...30 { try harness.dispatch(#"{"add":"a\#(number)"}"#) }
        let stored = try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) })
        #expect(stored.retained.from > 1)
        harness.deploy(ShelfApp())
        #expect(try ids(harness).prefix(3) == ["y", "z", "a1"])
    }

    @Test(arguments: [nil, "{}"] as [String?])
    func `an added element in a collection with unknown defaults makes the session unreadable`(
        snapshot: String?
    ) throws {
        let harness = try oldHarness(Self.addition, snapshot: snapshot)
        harness.deploy(ShelfApp())
        let detail = try unreadable(harness)
        #expect(detail.contains("/books/a") && detail.contains("stored the session without defaults"))
        #expect(try harness.ask { harness.storage.load(harness.key, reply: $0) }?.tail.count == 1)
    }

    @Test(arguments: [
        #"{"op":"replace","path":"/books/y/pages","value":4}"#, #"{"op":"remove","path":"/books/y"}"#,
        #"{"op":"move","path":"/books/y","index":1}"#,
    ])
    func `any other change in a collection with unknown defaults makes the session unreadable, too`(
        change: String
    ) throws {
        let harness = try oldHarness(change)
        harness.deploy(ShelfApp())
        _ = try unreadable(harness)
    }

    @Test(arguments: [nil, "{}"] as [String?])
    func `an event in the earlier build makes a session without defaults readable for later builds`(
        snapshot: String?
    ) throws {
        let harness = try oldHarness(Self.addition, snapshot: snapshot)
        harness.deploy(filled)
        #expect(try ids(harness, at: "/books") == ["y", "z", "a"])
        #expect(try harness.dispatch(#"{"rename":"A"}"#).version == 2)
        let stored = try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) })
        #expect(stored.snapshot?.version == 1)
        #expect(stored.retained.from == 1)
        harness.deploy(ShelfApp())
        #expect(try ids(harness) == ["y", "z", "a"])
        #expect(try harness.value("/title") == #""A""#)
    }
}
