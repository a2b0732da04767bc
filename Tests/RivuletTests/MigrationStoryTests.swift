// Checks a migration over HTTP: the check and the server refuse a typo, and the corrected step makes all data available
// again.

import Foundation
import Rivulet
import RivuletTesting
import Testing

@ObservableState
struct FirstBoard: PersistentState {
    var name = "Board"
}

@AppEvent
enum BoardEvent {
    case rename(String)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct FirstBoardApp: AppDefinition {
    let name = "boards"
    let defaultState = AppState(t: EmptyTransient(), p: FirstBoard())

    func reduce(into state: inout AppState<FirstBoard, EmptyTransient>, event: BoardEvent) {
        switch event {
        case .rename(let name): state.p.name = name
        }
    }
}

@ObservableState
struct Board: PersistentState {
    var version: Int { 2 }
    var title = "Board"
}

struct BoardApp: AppDefinition {
    let name = "boards"
    let defaultState = AppState(t: EmptyTransient(), p: Board())
    let migrations: [StateMigration]

    init(titleAt path: String, required: Bool = true) {
        migrations = [StateMigration(from: 1) { try $0.move(path, to: "/p/title", required: required) }]
    }

    func reduce(into state: inout AppState<Board, EmptyTransient>, event: BoardEvent) {
        switch event {
        case .rename(let title): state.p.title = title
        }
    }
}

@Suite struct MigrationStoryTests {
    private let folder = BoardFolder()
    private let session = "/v1/apps/boards/sessions/s"

    /// Runs a build on the folder.
    private nonisolated(nonsending) func run(
        _ app: any AppDefinition,
        _ body: nonisolated(nonsending) (TestClient) async throws -> Void
    ) async throws {
        try await folder.run(app, .inProcess, body)
    }

    private func report(of app: BoardApp) throws -> StoredSessionsReport {
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(app)
        return try server.check(SQLiteStorageInspection(folder: folder.path)) { session, reason in
            Issue.record("\(session): \(reason)")
        }
    }

    private func begin() async throws {
        try await run(FirstBoardApp()) { client in
            for name in ["Sprint 0", "Sprint 1"] {
                let answer = try await client.post("\(session)/events", json: ["rename": .string(name)])
                #expect(answer.status == 200)
            }
        }
    }

    @Test func `a typo is refused by the check and by the load, and nothing is written`() async throws {
        try await begin()
        let typo = BoardApp(titleAt: "/name")
        let report = try report(of: typo)
        #expect(!report.isClean)
        #expect(
            report.lines == [
                "boards/*: step 1→2: /name was found in 0 of 1 session; paths begin at /p",
                "Correct these steps; say required: false where all sessions may lack the path.",
                "boards/*: this build ignores what is stored at /p/name; sessions that have it: 1",
                "1 session: 0 can be read, 0 of them would be migrated; 1 cannot",
            ]
        )
        try await run(typo) { client in
            for answer in [
                try await client.get("\(session)/state"),
                try await client.post("\(session)/events", json: ["rename": "lost"]),
            ] {
                #expect(answer.status == 500)
                let detail = try answer.json()["detail"]?.stringValue ?? ""
                #expect(detail.contains("step 1→2: /name was found in 0 of 1 session; paths begin at /p"))
                #expect(!detail.contains(folder.path) && !detail.contains("SELECT"))
            }
        }
        try await run(FirstBoardApp()) { client in
            let name = try await client.get("\(session)/state/p/name")
            #expect(name.text == #""Sprint 1""#)
        }
    }

    @Test func `the corrected step gives each version the title that it had`() async throws {
        try await begin()
        let corrected = BoardApp(titleAt: "/p/name")
        let report = try report(of: corrected)
        #expect(report.isClean)
        #expect(report.lines == ["1 session: 1 can be read, 1 of them would be migrated; 0 cannot"])
        var tag: String?
        // A build with the typo was deployed, and it declared that the path is not required.
        try await run(BoardApp(titleAt: "/name", required: false)) { client in
            let wrong = try await client.get("\(session)/state/p/title?version=2")
            #expect(wrong.text == #""Board""#)
            tag = wrong[field: "ETag"]
            let answer = try await client.post("\(session)/events", json: ["rename": "Board 2"])
            #expect(answer.status == 200)
        }
        try await run(corrected) { client in
            let titles = ["Board", "Sprint 0", "Sprint 1", "Board 2"]
            for (version, title) in titles.enumerated() {
                let answer = try await client.get("\(session)/state/p/title?version=\(version)")
                #expect(answer.text == "\"\(title)\"")
            }
            let fields = ["If-None-Match": try #require(tag)]
            let read = try await client.send("GET", "\(session)/state/p/title?version=2", fields: fields)
            #expect(read.status == 200 && read.text == #""Sprint 1""#, "the wrong title's tag is not valid any more")
            let fork = try await client.post("\(session)/fork?version=2", json: ["id": "copy"])
            #expect(fork.status == 201)
            let copy = try await client.get("/v1/apps/boards/sessions/copy/state/p/title")
            #expect(copy.text == #""Sprint 1""#)
            let restored = try await client.send("POST", "\(session)/restore?version=2")
            #expect(restored.status == 200)
            let title = try await client.get("\(session)/state/p/title")
            #expect(title.text == #""Sprint 1""#)
        }
    }
}
