// Checks that the paths of stored sessions that a build would ignore are found, and no others.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct IgnoredPathsTests {
    @ObservableState
    struct Desk: Equatable, Sendable {
        var owner = "me"
        var drawers: Keyed<Drawer> = []
        var lamp: Lamp? = Lamp()
        var labels: [String: Label] = [:]
        var state = Condition.tidy
        @Transient var isWatched = false
        @ObservableStateWrapper(OmitCoding<Int>.self) @ObservationStateIgnored
        var secret: Int = 0
    }

    @ObservableState
    struct Drawer: Identifiable, Equatable, Sendable {
        var id = ""
        var size = 1
        var papers: Keyed<Paper> = []
    }

    @ObservableState
    struct Paper: Identifiable, Equatable, Sendable {
        var id = 0
        var text = ""
    }

    @ObservableState
    struct Lamp: Equatable, Sendable {
        var isOn = false
    }

    @ObservableState
    struct Label: Equatable, Sendable {
        var text = ""
    }

    @ObservableState
    enum Condition: Equatable, Sendable {
        case tidy
        case messy(Mess)
        case lent(to: String, days: Int)
    }

    @ObservableState
    struct Mess: Equatable, Sendable {
        var degree = 1
    }

    @AppEvent
    enum Event {
        case nothing

        var persist: Bool { true }
        var isUIEvent: Bool { true }
    }

    struct App: AppDefinition {
        let name = "desk"
        let defaultState = Desk()
        var schemaVersion = 1
        var migrations: [StateMigration] = []

        func reduce(into state: inout Desk, event: Event) {}
    }

    private func ignored(
        _ snapshot: String?,
        _ changes: String...,
        app: App = App()
    ) throws -> Set<String> {
        let entries = changes.enumerated().map { index, changes in
            LogEntry(
                version: UInt64(index + 1),
                time: 0,
                commandID: nil,
                event: Array(#""nothing""#.utf8),
                changes: Array("[\(changes)]".utf8)
            )
        }
        let stored = StoredSession(
            head: SessionHead(epoch: "aaaaaaaa", version: UInt64(entries.count), token: 1),
            created: 0,
            updated: 0,
            snapshot: snapshot.map { StateSnapshot(version: 0, schema: 1, state: Array($0.utf8)) },
            tail: entries,
            retained: RetainedLog(from: 1, since: nil)
        )
        let findings = try AppHost(app).check(SessionKey(app: "desk", id: "s"), stored: stored)
        #expect(findings.isMigrated == (app.schemaVersion > 1))
        return findings.ignored
    }

    @Test func `a document in the build's own shape has no ignored path`() throws {
        let document = #"""
            {"owner":"you","drawers":[{"id":"a","size":2,"papers":[{"id":1,"text":"x"}]}],"lamp":{"isOn":true},
            "labels":{"any":{"text":"t"}},"state":{"lent":{"to":"her","days":3}}}
            """#
        let changes = #"""
            {"op":"add","path":"/drawers/b","value":{"id":"b","size":1,"papers":[]},"index":0},
            {"op":"move","path":"/drawers/b","index":1},{"op":"replace","path":"/drawers/a/papers/1/text","value":"y"},
            {"op":"remove","path":"/drawers/b"},{"op":"replace","path":"/lamp","value":null},
            {"op":"replace","path":"/state","value":"tidy"}
            """#
        #expect(try ignored(document, changes).isEmpty)
        #expect(try ignored(nil).isEmpty)
    }

    @Test func `removed fields are found at their old paths, fields of elements once for all elements`() throws {
        let document = #"""
            {"height":70,"drawers":[{"id":"a","lock":1,"papers":[{"id":1,"ink":"blue"}]},{"id":"b","lock":2}],
            "lamp":{"watts":{"max":40}},"labels":{"x":{"font":"serif"},"y":{"font":"mono"}}}
            """#
        let paths: Set = ["/height", "/drawers/*/lock", "/drawers/*/papers/*/ink", "/lamp/watts", "/labels/*/font"]
        #expect(try ignored(document) == paths)
    }

    @Test func `a path below a removed field is reported as that field`() throws {
        let changes = #"""
            {"op":"add","path":"/shelves/s","value":{"id":"s"},"index":0},
            {"op":"replace","path":"/shelves/s/books/b/pages","value":3},{"op":"remove","path":"/shelves/s"}
            """#
        #expect(try ignored(nil, changes) == ["/shelves"])
    }

    @Test func `the changes in the log and their values are searched, too`() throws {
        let first = #"{"op":"replace","path":"/height","value":71}"#
        let second = #"{"op":"add","path":"/drawers/a","value":{"id":"a","lock":1},"index":0}"#
        let third = #"{"op":"replace","path":"/drawers/a/key","value":true}"#
        #expect(
            try ignored(#"{"owner":"me"}"#, first, second, third) == ["/height", "/drawers/*/lock", "/drawers/*/key"]
        )
    }

    @Test func `a payload is compared with the fields of its own case`() throws {
        #expect(try ignored(#"{"state":{"messy":{"degree":2,"smell":1}}}"#) == ["/state/messy/smell"])
        let change = #"{"op":"replace","path":"/state/messy/smell","value":3}"#
        #expect(try ignored(#"{"state":{"messy":{"degree":2}}}"#, change) == ["/state/messy/smell"])
    }

    @Test func `a field that is now omitted is found, and transient changes are not`() throws {
        let change = #"{"op":"replace","path":"/gone","value":1,"transient":true}"#
        #expect(try ignored(#"{"secret":4}"#, change) == ["/secret"])
    }

    @Test func `for an earlier schema version the paths that remain after the steps are found`() throws {
        let app = App(
            schemaVersion: 2,
            migrations: [StateMigration(from: 1) { try $0.move("/holder", to: "/owner") }]
        )
        let change = #"{"op":"replace","path":"/holder","value":"her"}"#
        #expect(try ignored(#"{"holder":"me","height":70}"#, change, app: app) == ["/height"])
    }
}
