// Checks the counts of a check of stored sessions.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletServer
import RivuletSessions
import RivuletStores
import Testing

@Suite struct StateServerCheckTests {
    /// A store of snapshots, by app and id.
    private struct Snapshots: StorageInspection {
        let documents: [SessionKey: String]
        var items: [String: [(key: String, document: String)]] = [:]

        func items(of collection: String) -> StoredCollection {
            StoredCollection(
                items: (items[collection] ?? []).map { item in
                    StoredItem(key: item.key, document: Array(item.document.utf8), created: 0, updated: 0)
                }
            )
        }

        func apps() -> [String] { Set(documents.keys.map(\.app)).sorted() }

        func sessions(app: String, after id: String?, limit: Int) -> [String] {
            let ids = documents.keys.filter { $0.app == app && $0.id > id ?? "" }.map(\.id)
            return Array(ids.sorted().prefix(limit))
        }

        func load(_ key: SessionKey) -> StoredSession? {
            documents[key].map { document in
                StoredSession(
                    head: SessionHead(epoch: "aaaaaaaa", version: 0, token: 1),
                    created: 0,
                    updated: 0,
                    snapshot: StateSnapshot(version: 0, schema: 1, state: Array(document.utf8)),
                    tail: [],
                    retained: RetainedLog(from: 1, since: nil)
                )
            }
        }
    }

    private func report(_ documents: [String: String]) throws -> StoredSessionsReport {
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(TallyApp())
        let keys = documents.map { (SessionKey(app: "tally", id: $0.key), $0.value) }
        let storage = Snapshots(documents: Dictionary(uniqueKeysWithValues: keys))
        return try server.check(storage) { key, reason in Issue.record("\(key): \(reason)") }
    }

    @Test func `ignored key paths are in order, each with the number of its sessions`() throws {
        let report = try report([
            "a": #"{"p":{"size":1,"items":[{"id":"x","old":1},{"id":"y","old":2}]}}"#,
            "b": #"{"p":{"items":[{"id":"x","old":1}]},"q":{}}"#,
            "c": #"{"p":{"count":1}}"#,
        ])
        #expect(report.ignored.map(\.app) == ["tally", "tally", "tally"])
        #expect(report.ignored.map(\.path) == ["/p/items/*/old", "/p/size", "/q"])
        #expect(report.ignored.map(\.sessions) == [2, 1, 1])
        #expect(report.isClean, "all of them can be served")
    }

    @Test func `items and values that this build cannot read are reported with their paths`() throws {
        let memory = MemoryItemStorage { 0 }
        let store = Store<Tag>(storage: memory.collection("tags"))
        let value = StoredValue(key: "size", default: 1, storage: memory.collection("values"))
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(SharingTally(stores: [SharedStore("tags", store)], values: [SharedValue(value)]))
        var storage = Snapshots(documents: [:])
        storage.items = [
            "tags": [("a", #"{"id":"a"}"#), ("b", "{"), ("c", #"{"id":"x"}"#)],
            "values": [("size", #"{"value":"large"}"#), ("other", "{")],
        ]
        var places: [String] = []
        let report = try server.check(storage) { key, reason in
            Issue.record("\(key): \(reason)")
        } onUnreadableItem: { place, reason in
            #expect(!reason.isEmpty)
            places.append(place)
        }
        #expect(places == ["tally/stores/tags/b", "tally/stores/tags/c", "tally/values/size"])
        #expect(report.items == 4)
        #expect(report.unreadableItems == 3)
        #expect(!report.isClean)
        storage.items = ["tags": [("a", #"{"id":"a"}"#)], "values": [("size", #"{"value":2}"#)]]
        #expect(try server.check(storage) { _, _ in }.isClean)
    }

    private struct Tag: Codable, Sendable, Identifiable {
        var id: String
    }

    /// The fixture's app with shared resources.
    private struct SharingTally: SharingApp {
        let name = "tally"
        let defaultState = TallyApp().defaultState
        let stores: [SharedStore<Self>]
        let values: [SharedValue<Self>]

        func reduce(into state: inout TallyApp.State, event: TallyApp.Event) {}
    }

    @Test func `sessions are unreadable if a step requires a path that no session has`() throws {
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(MovingApp())
        let documents = [
            "a": #"{"p":{"count":1,"items":[{"id":"x"}]}}"#, "b": #"{"p":{"items":[{"id":"x","size":2}]}}"#,
            "c": #"{"p":{"items":[]}}"#,
        ]
        let keys = documents.map { (SessionKey(app: "tally", id: $0.key), $0.value) }
        let storage = Snapshots(documents: Dictionary(uniqueKeysWithValues: keys))
        let report = try server.check(storage) { key, reason in Issue.record("\(key): \(reason)") }
        #expect(
            report.missingPaths.map(\.description) == [
                "step 1→2: /p/items/*/weight was found in 0 of 2 sessions"
            ]
        )
        #expect(report.missingPaths.map(\.sessions) == [2])
        #expect([report.sessions, report.unreadable, report.migrated] == [3, 2, 1])
        #expect(!report.isClean)
        #expect(report.lines.last == "3 sessions: 1 can be read, 1 of them would be migrated; 2 cannot")
    }

    @Test func `a missing path is reported, also if a document does not decode without it`() throws {
        struct TypoApp: AppDefinition {
            let name = "tally"
            let schemaVersion = 2
            let defaultState = TallyApp().defaultState
            let migrations = [StateMigration(from: 1) { try $0.update("/p/cuont") { _ in } }]

            func reduce(into state: inout TallyApp.State, event: TallyApp.Event) {}
        }
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(TypoApp())
        let storage = Snapshots(documents: [SessionKey(app: "tally", id: "a"): #"{"p":{"count":"one"}}"#])
        var reasons: [String] = []
        let report = try server.check(storage) { _, reason in reasons.append(reason) }
        #expect(reasons.count == 1)
        #expect(report.missingPaths.map(\.path) == ["/p/cuont"])
        #expect([report.sessions, report.unreadable, report.migrated] == [1, 1, 0])
    }

    /// The fixture's app with another step.
    private struct SteppingApp: AppDefinition {
        let name = "tally"
        let schemaVersion = 2
        let defaultState = TallyApp().defaultState
        let migrations: [StateMigration]

        init(_ step: @escaping @Sendable (inout JSONValue) throws -> Void) {
            migrations = [StateMigration(from: 1, step)]
        }

        func reduce(into state: inout TallyApp.State, event: TallyApp.Event) {}
    }

    private func report(_ documents: [String: String], of app: SteppingApp) throws -> StoredSessionsReport {
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(app)
        let keys = documents.map { (SessionKey(app: "tally", id: $0.key), $0.value) }
        let storage = Snapshots(documents: Dictionary(uniqueKeysWithValues: keys))
        return try server.check(storage) { key, reason in Issue.record("\(key): \(reason)") }
    }

    /// An object with 1,000 values, 50 for each of 20 keys.
    private var grid: String {
        let row = "{" + (0..<50).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        return "{" + (0..<20).map { "\"\($0)\":\(row)" }.joined(separator: ",") + "}"
    }

    @Test func `a path beyond the limit of remembered paths is not reported as missing if it was found`() throws {
        let app = SteppingApp { document in
            try document.update("/p/grid", required: false) { grid in
                for row in 0..<20 {
                    try grid.update("/\(row)") { row in
                        for cell in 0..<50 { try row.remove("/\(cell)") }
                    }
                }
            }
            try document.remove("/p/first")
            try document.remove("/p/late")
        }
        let documents = [
            "a": #"{"p":{"grid":\#(grid)}}"#, "b": #"{"p":{"late":1}}"#, "c": #"{"p":{}}"#,
        ]
        let report = try report(documents, of: app)
        #expect(
            report.missingPaths.map(\.description) == ["step 1→2: /p/first was found in 0 of 3 sessions"],
            "the second session has /p/late"
        )
        #expect([report.sessions, report.unreadable, report.migrated] == [3, 3, 0])
    }

    @Test func `a path beyond the limit of remembered paths is not reported`() throws {
        let (rows, cells) = (100..<130, 100..<150)
        let app = SteppingApp { document in
            for row in rows {
                for cell in cells { try document.remove("/p/\(row)/\(cell)") }
            }
        }
        let lacking = #"{"p":{}}"#
        let report = try report(["a": lacking, "b": lacking], of: app)
        let judged = rows.prefix(20).flatMap { row in cells.map { "/p/\(row)/\($0)" } }
        #expect(report.missingPaths.map(\.path) == judged)
        #expect(report.missingPaths.allSatisfy { $0.sessions == 2 })
        let row = "{" + cells.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let grid = "{" + rows.map { "\"\($0)\":\(row)" }.joined(separator: ",") + "}"
        let clean = try self.report(["a": lacking, "b": "{\"p\":\(grid)}", "c": lacking], of: app)
        #expect(clean.missingPaths.isEmpty && clean.isClean)
    }

    /// The fixture's app with a step: one of its paths is in one session, and another is in none.
    private struct MovingApp: AppDefinition {
        let name = "tally"
        let schemaVersion = 2
        let defaultState = TallyApp().defaultState
        let migrations = [
            StateMigration(from: 1) { document in
                try document.remove("/p/count")
                try document.updateEach("/p/items") { item in
                    try item.remove("/size")
                    try item.remove("/weight")
                }
            }
        ]

        func reduce(into state: inout TallyApp.State, event: TallyApp.Event) {}
    }

    @Test func `ignored key paths beyond the limit are counted as one`() throws {
        let many = (1_000..<2_500).map { "\"f\($0)\":0" }.joined(separator: ",")
        let report = try report(["a": "{\(many)}", "b": #"{"f1000":0,"f2400":0}"#, "c": #"{"p":{}}"#])
        #expect(report.ignored.count == 1_001)
        #expect(report.ignored.first.map { [$0.path, "\($0.sessions)"] } == ["/*", "2"])
        #expect(report.ignored.dropFirst().map(\.path) == (1_000..<2_000).map { "/f\($0)" })
        #expect(report.ignored.dropFirst().first?.sessions == 2)
    }
}
