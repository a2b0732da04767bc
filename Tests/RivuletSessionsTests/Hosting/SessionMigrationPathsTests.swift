// Checks that no data is lost if a migration step requires a path that no session has.

import RivuletEngine
import RivuletJSON
import RivuletSessions
import Testing

@Suite struct SessionMigrationPathsTests {
    private let whole = #"{"name":"Poems","number":1,"books":[{"id":"a","pages":1}],"lost":null}"#
    private let bare = #"{"number":1}"#

    /// The app with this step from 1 to 2.
    private func app(_ step: @escaping @Sendable (inout JSONValue) throws -> Void) -> ShelfApp {
        ShelfApp(schemaVersion: 2, migrations: [StateMigration(from: 1, step)])
    }

    private var renaming: ShelfApp {
        app { document in
            try document.move("/name", to: "/title")
            try document.update("/number") { $0 = .string("\($0)") }
        }
    }

    private func harness(
        _ documents: [String: String],
        limits: SessionLimits = SessionLimits()
    ) throws -> SessionHarness {
        let harness = try SessionHarness(limits: limits)
        for (id, document) in documents { try store(document, id, in: harness) }
        return harness
    }

    private func store(_ document: String, _ id: String, schema: UInt32 = 1, in harness: SessionHarness) throws {
        let snapshot = StateSnapshot(version: 0, schema: schema, state: Array(document.utf8))
        let key = SessionKey(app: "tally", id: id)
        let outcome = try harness.ask {
            harness.storage.create(key, epoch: "aaaaaaaa", time: 0, snapshot: snapshot, reply: $0)
        }
        guard case .created = outcome else { throw RejectionError("not created") }
    }

    private func fault(_ harness: SessionHarness) throws -> String {
        do {
            _ = try harness.session()
        } catch SessionError.unreadable(_, let detail) {
            return detail
        }
        Issue.record("the session was read")
        return ""
    }

    @Test func `a path that no session has is refused with its step, and nothing is written`() throws {
        let harness = try harness(["s1": whole, "s2": whole])
        harness.deploy(app { try $0.move("/p/name", to: "/title") })
        let detail = try fault(harness)
        #expect(
            detail == "step 1→2: /p/name was found in 0 of 2 sessions; paths begin at /name, /number, /books, /lost. "
                + "Correct the step, or say required: false where sessions may lack the path"
        )
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"retitle":"B"}"#) }
        let stored = try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) })
        #expect(stored.snapshot?.state == Array(whole.utf8) && stored.head.version == 0)
        harness.deploy(renaming)
        #expect(try harness.value("/title") == #""Poems""#)
    }

    @Test func `a session that lacks a path is read when another session has it`() throws {
        let harness = try harness(["s1": bare, "z": whole])
        harness.deploy(renaming)
        #expect(try harness.value("/title") == #""a shelf""#)
        #expect(try harness.value("/number") == #""1""#)
    }

    @Test func `a path is searched for once, and not at all if a load has found it`() throws {
        let harness = try harness(["s1": bare, "s2": bare, "z": whole])
        harness.deploy(renaming)
        _ = try harness.session()
        let loads = harness.storage.loads
        #expect(loads == 4, "the session's own load, and those of three sessions")
        var other: Result<Session, SessionError>?
        harness.shard.find(SessionKey(app: "tally", id: "s2"), of: harness.app) { other = $0 }
        _ = try harness.wait { other }.get()
        #expect(harness.storage.loads == loads + 1)
    }

    @Test func `a search that found no session with the path is remembered, too`() throws {
        let harness = try harness(["s1": bare, "s2": bare])
        harness.deploy(renaming)
        _ = try fault(harness)
        let loads = harness.storage.loads
        #expect(try fault(harness).contains("/name was found in 0 of 2 sessions;"))
        #expect(harness.storage.loads == loads + 1)
    }

    @Test func `a path that is not required may be missing`() throws {
        let harness = try harness(["s1": bare])
        harness.deploy(
            app { document in
                try document.move("/name", to: "/title", required: false)
                try document.remove("/number")
            }
        )
        #expect(try harness.value("/title") == #""a shelf""#)
    }

    @Test func `a path within elements is accepted without any element, but not if all elements lack it`() throws {
        let step = app { document in
            try document.remove("/number")
            try document.updateEach("/books") { try $0.move("/leaves", to: "/pages") }
        }
        let empty = try harness(["s1": #"{"number":1,"books":[]}"#])
        empty.deploy(step)
        _ = try empty.session()
        let books = #"{"number":1,"books":[{"id":"a"},{"id":"b"}]}"#
        let filled = try harness(["s1": books, "s2": #"{"number":1,"books":[]}"#])
        filled.deploy(step)
        #expect(try fault(filled).hasPrefix("step 1→2: /books/*/leaves was found in 0 of 1 session."))
    }

    @Test func `a later step is checked against the result of the earlier steps`() throws {
        let steps = [
            StateMigration(from: 1) { document in
                try document.move("/name", to: "/heading")
                try document.remove("/number")
            },
            StateMigration(from: 2) { try $0.move("/heading", to: "/title") },
        ]
        let harness = try harness(["s1": whole])
        harness.deploy(ShelfApp(migrations: steps))
        #expect(try harness.value("/title") == #""Poems""#)
        let wrong = [steps[0], StateMigration(from: 2) { try $0.move("/headings", to: "/title") }]
        harness.deploy(ShelfApp(migrations: wrong))
        #expect(try fault(harness).hasPrefix("step 2→3: /headings was found in 0 of 1 session;"))
    }

    @Test func `a session of an intermediate schema is evidence for the later step only`() throws {
        let steps = [
            StateMigration(from: 1) { try $0.remove("/number") },
            StateMigration(from: 2) { try $0.move("/heading", to: "/title") },
        ]
        let harness = try harness(["s1": bare])
        try store(#"{"heading":"H"}"#, "z", schema: 2, in: harness)
        harness.deploy(ShelfApp(migrations: steps))
        #expect(try harness.value("/title") == #""a shelf""#)
    }

    @Test func `a session that cannot be read is no evidence that a session has a path`() throws {
        for (damaged, broken) in [(["b"], whole), ([], "{")] {
            let harness = try harness(["b": broken, "s1": bare])
            for id in damaged { harness.storage.damage(SessionKey(app: "tally", id: id)) }
            harness.deploy(renaming)
            #expect(try fault(harness).hasPrefix("step 1→2: /name was found in 0 of 1 session;"))
        }
    }

    @Test func `damaged sessions do not end a search`() throws {
        let harness = try harness(["a": "{", "b": whole, "s1": bare, "z": whole])
        harness.storage.damage(SessionKey(app: "tally", id: "b"))
        harness.deploy(renaming)
        #expect(try harness.value("/title") == #""a shelf""#)
        #expect(harness.storage.loads == 5, "the session's own load, and those of four sessions")
    }

    @Test func `a failure of storage during a search is not remembered as a result`() throws {
        let harness = try harness(["s1": bare, "z": whole])
        harness.deploy(renaming)
        harness.storage.failNextSessions(.unavailable(detail: "busy"))
        #expect(throws: SessionError.self) { _ = try harness.session() }
        #expect(try harness.value("/title") == #""a shelf""#)
    }

    @Test func `a search that ends at its limit decides by the sessions that it has read`() throws {
        let limits = SessionLimits(migrationSearchSessionsMax: 2)
        let harness = try harness(["a": bare, "s1": bare, "z": whole], limits: limits)
        harness.deploy(renaming)
        #expect(try fault(harness).hasPrefix("step 1→2: /name was found in 0 of 2 sessions;"))
        let newer = try self.harness(["s1": bare], limits: limits)
        for id in ["a", "b"] { try store(#"{"title":"T"}"#, id, schema: 2, in: newer) }
        newer.deploy(renaming)
        #expect(try newer.value("/title") == #""a shelf""#)
    }

    @Test func `sessions of the current schema are no part of a search`() throws {
        let harness = try harness(["s1": bare, "s2": bare])
        for id in ["a", "t", "z"] { try store(#"{"title":"T"}"#, id, schema: 2, in: harness) }
        harness.deploy(renaming)
        #expect(try fault(harness).hasPrefix("step 1→2: /name was found in 0 of 2 sessions;"))
    }

    /// An app with a step that edits each cell of a grid of 10,000, and that requires a name.
    private var grid: ShelfApp {
        app { document in
            try document.update("/grid", required: false) { grid in
                for row in 0..<100 {
                    try grid.update("/\(row)") { row in
                        for cell in 0..<100 { try row.update("/\(cell)") { _ in } }
                    }
                }
            }
            try document.move("/name", to: "/title")
        }
    }

    @Test func `a path beyond the limit of remembered paths is assumed to exist`() throws {
        let row = "{" + (0..<100).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let rows = (0..<100).map { "\"\($0)\":\(row)" }.joined(separator: ",")
        let harness = try harness(["s1": #"{"number":"1","grid":{\#(rows)}}"#, "s2": #"{"number":"1"}"#, "z": whole])
        harness.deploy(grid)
        #expect(try harness.value("/title") == #""a shelf""#)
        var other: Result<Session, SessionError>?
        harness.shard.find(SessionKey(app: "tally", id: "s2"), of: harness.app) { other = $0 }
        _ = try harness.wait { other }.get()
        #expect(harness.storage.loads == 2, "no search could be remembered")
    }
}
