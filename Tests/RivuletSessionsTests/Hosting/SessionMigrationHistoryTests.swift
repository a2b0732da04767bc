// Checks that versions before a migration stay readable, by the steps of the build that reads them.

import RivuletEngine
import RivuletJSON
import RivuletSessions
import Testing

@Suite struct SessionMigrationHistoryTests {
    private func past(_ version: UInt64, _ path: String, _ harness: SessionHarness) throws -> String {
        var answer: Result<StateAnswer, SessionError>?
        try harness.session().read(try JSONPointer(parsing: path), at: version) { answer = $0 }
        return String(decoding: try harness.wait { answer }.get().value, as: UTF8.self)
    }

    /// A build with a step that reads the title from the given path, if the path exists.
    private func app(titleAt path: String) -> ShelfApp {
        let step = StateMigration(from: 1) { document in
            try document.move(path, to: "/title", required: false)
            try document.update("/number") { $0 = .string("\($0)") }
            try document.move("/books", to: "/contents/books")
        }
        return ShelfApp(schemaVersion: 2, migrations: [step])
    }

    private func log(_ harness: SessionHarness) throws -> [LogEntry] {
        var answer: Result<LogPage, SessionError>?
        try harness.session().readLog(after: 0, limit: 100) { answer = $0 }
        return try harness.wait { answer }.get().entries
    }

    /// A session of the first build at version 2.
    ///
    /// A build with a wrong step stored it again before version 3.
    private func wronglyMigrated(limits: SessionLimits = SessionLimits()) throws -> SessionHarness {
        let harness = try SessionHarness(limits: limits)
        harness.deploy(FirstShelfApp())
        try harness.dispatch(#"{"rename":"Sprint 0"}"#)
        try harness.dispatch(#"{"rename":"Sprint 1"}"#)
        harness.deploy(app(titleAt: "/title"))
        #expect(try harness.dispatch(#"{"retitle":"Board"}"#).version == 3)
        return harness
    }

    @Test func `each version before the migration is read by the current build's steps, also after new events`() throws
    {
        let harness = try wronglyMigrated()
        let before = try log(harness)
        harness.deploy(app(titleAt: "/name"))
        #expect(
            try (0...3).map { try past($0, "/title", harness) } == [
                #""shelf""#, #""Sprint 0""#, #""Sprint 1""#, #""Board""#,
            ]
        )
        #expect(try log(harness) == before, "the log is unchanged")
    }

    @Test func `a version is still read from its own snapshot after the migration stored a newer one`() throws {
        let limits = SessionLimits(snapshotVersionsMax: 1, snapshotBytesMin: 1)
        let harness = try wronglyMigrated(limits: limits)
        harness.deploy(app(titleAt: "/name"))
        let epoch = try epoch(harness)
        let past = try harness.ask { harness.storage.past(harness.key, epoch: epoch, at: 2, reply: $0) }
        let stored = try #require(past)
        #expect(stored.snapshot?.schema == 1 && stored.snapshot?.version == 2 && stored.entries.isEmpty)
        #expect(try self.past(2, "/title", harness) == #""Sprint 1""#)
        #expect(try self.past(3, "/title", harness) == #""Board""#)
    }

    private func epoch(_ harness: SessionHarness) throws -> String {
        let stored = try harness.ask { harness.storage.load(harness.key, reply: $0) }
        return try #require(stored).head.epoch
    }

    @Test func `a restore brings back a value that a wrong step had lost`() throws {
        let harness = try wronglyMigrated()
        harness.deploy(app(titleAt: "/name"))
        var answer: Result<DispatchAnswer, SessionError>?
        try harness.session().dispatch(DispatchRequest(.restored(version: 2))) { answer = $0 }
        #expect(try harness.wait { answer }.get().version == 4)
        harness.restart()
        #expect(try harness.value("/title") == #""Sprint 1""#)
    }

    @Test func `a fork of an old version begins in the current shape`() throws {
        let harness = try wronglyMigrated()
        harness.deploy(app(titleAt: "/name"))
        var answer: Result<[UInt8], SessionError>?
        try harness.session().document(at: 2) { answer = $0 }
        let document = try JSONValue(parsing: try harness.wait { answer }.get())
        #expect(document["title"] == "Sprint 1" && document["contents"]?["books"] == [])
    }

    @Test func `an old version is refused if a step requires a path that no session of its schema has`() throws {
        let harness = try wronglyMigrated()
        let typo = StateMigration(from: 1) { document in
            try document.move("/nmae", to: "/title")
            try document.remove("/number")
        }
        let snapshot = StateSnapshot(version: 0, schema: 1, state: Array(#"{"name":"N","number":1}"#.utf8))
        _ = try harness.ask {
            let other = SessionKey(app: "tally", id: "other")
            harness.storage.create(other, epoch: "aaaaaaaa", time: 0, snapshot: snapshot, reply: $0)
        }
        harness.deploy(ShelfApp(schemaVersion: 2, migrations: [typo]))
        #expect(try harness.value("/title") == #""Board""#)
        do {
            _ = try past(2, "/title", harness)
            Issue.record("the version was read")
        } catch SessionError.unreadable(_, let detail) {
            #expect(detail.hasPrefix("step 1→2: /nmae was found in 0 of 1 session;"))
        }
    }

    @Test func `a step is accepted if no session of its schema is stored`() throws {
        let harness = try wronglyMigrated()
        let step = StateMigration(from: 1) { document in
            try document.move("/subtitle", to: "/title")
            try document.remove("/number")
            try document.remove("/books")
        }
        harness.deploy(ShelfApp(schemaVersion: 2, migrations: [step]))
        #expect(try past(2, "/title", harness) == #""a shelf""#)
        #expect(try harness.session().isIdle)
    }
}
