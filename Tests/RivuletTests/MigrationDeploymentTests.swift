// Checks the deployment of a migration: the command `rivulet check`, and servers of three builds on one data folder.

import ArgumentParser
import Foundation
import Rivulet
import RivuletTesting
import Testing

@testable import RivuletCLI

/// Ends the process as `rivulet check --data FOLDER` of a build that hosts this app.
private func check(_ folder: String, titleAt path: String) {
    RivuletCommand.exitOnFailure {
        let command = try RivuletCommand.parseAsRoot(["check", "--data", folder])
        let check = try #require(command as? Check)
        try check.run { server, _ in try server.host(BoardApp(titleAt: path)) }
    }
}

@Suite struct MigrationDeploymentTests {
    private let folder = BoardFolder()
    private let ids = ["a", "b", "c"]

    /// Runs a build on the folder, over a socket.
    private nonisolated(nonsending) func run(
        _ app: any AppDefinition,
        _ body: nonisolated(nonsending) (TestClient) async throws -> Void
    ) async throws {
        try await folder.run(app, .live, body)
    }

    private func path(_ id: String) -> String { "/v1/apps/boards/sessions/\(id)" }

    /// A session of schema 1 for each id, with two versions.
    private func begin() async throws {
        try await run(FirstBoardApp()) { client in
            for id in ids {
                for name in ["Sprint", "Board of \(id)"] {
                    let answer = try await client.post("\(path(id))/events", json: ["rename": .string(name)])
                    #expect(answer.status == 200)
                }
            }
        }
    }

    /// The stored data of the sessions.
    private func rows() throws -> [StoredSession] {
        let storage = try SQLiteStorageInspection(folder: folder.path)
        #expect(try storage.apps() == ["boards"])
        return try storage.sessions(app: "boards", after: nil, limit: 100).map { id in
            try #require(try storage.load(SessionKey(app: "boards", id: id)))
        }
    }

    @Test func `rivulet check exits with 1 and names the step of a typo, and exits with 0 once it is corrected`()
        async throws
    {
        try await begin()
        let before = try rows()
        let typo = await #expect(processExitsWith: .exitCode(1), observing: [\.standardOutputContent]) {
            [folder = folder.path as String] in
            check(folder, titleAt: "/name")
        }
        let lines = String(decoding: typo?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
        #expect(
            lines == [
                "boards/*: step 1→2: /name was found in 0 of 3 sessions; paths begin at /p",
                "Correct these steps; say required: false where all sessions may lack the path.",
                "boards/*: this build ignores what is stored at /p/name; sessions that have it: 3",
                "3 sessions: 0 can be read, 0 of them would be migrated; 3 cannot",
            ]
        )
        let corrected = await #expect(processExitsWith: .exitCode(0), observing: [\.standardOutputContent]) {
            [folder = folder.path as String] in
            check(folder, titleAt: "/p/name")
        }
        let output = String(decoding: corrected?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output == "3 sessions: 3 can be read, 3 of them would be migrated; 0 cannot\n")
        #expect(try rows() == before)
    }

    @Test func `a build with a typo answers 500 and writes nothing, then the corrected build serves the state`()
        async throws
    {
        try await begin()
        let before = try rows()
        #expect(before.map(\.head.version) == [2, 2, 2])
        try await run(BoardApp(titleAt: "/name")) { client in
            for id in ids {
                for answer in [
                    try await client.get("\(path(id))/state"),
                    try await client.get("\(path(id))/state?version=1"),
                    try await client.post("\(path(id))/events", json: ["rename": "lost"]),
                    try await client.send("POST", "\(path(id))/reset"),
                ] {
                    #expect(answer.status == 500)
                    let problem = try answer.json()
                    #expect(problem["trace_id"]?.stringValue?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
                    let detail = problem["detail"]?.stringValue ?? ""
                    #expect(detail.contains("step 1→2: /name was found in 0 of 3 sessions; paths begin at /p"))
                }
            }
        }
        #expect(try rows() == before)
        try await run(BoardApp(titleAt: "/p/name")) { client in
            for id in ids {
                let title = try await client.get("\(path(id))/state/p/title")
                #expect(title.text == "\"Board of \(id)\"")
            }
            #expect(try rows() == before, "reading stores nothing")
            let answer = try await client.post("\(path("a"))/events", json: ["rename": "New"])
            #expect(answer.status == 200)
            let past = try await client.get("\(path("a"))/state/p/title?version=1")
            #expect(past.text == #""Sprint""#)
        }
        #expect(try rows().map(\.head.version) == [3, 2, 2])
    }
}
