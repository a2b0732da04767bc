// The program that README.md shows under "Host your own": compiled here, compared with the page by test_readme.py.

import Foundation
import Rivulet
import RivuletTesting
import Testing

// The page begins here.

@ObservableState
struct Votes: PersistentState {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...1_000) @ObservationStateIgnored
    var yes: Int = 0
    var no = 0
    @ObservableStateWrapper(Trimmed.self) @ObservationStateIgnored
    var question: String = "Tea?"
}

/// A wrapper of your own: it removes the spaces around a text at every write.
struct Trimmed: ObservableWrapper, Equatable, Sendable {
    var wrappedValue: String

    static func makeWrapper(from value: String, config: Void) -> Trimmed {
        let end = value.lastIndex { $0 != " " }.map(value.index(after:)) ?? value.startIndex
        return Trimmed(wrappedValue: String(value[..<end].drop { $0 == " " }))
    }
}

@AppEvent
enum VoteEvent {
    case yes, no
    case ask(String)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct VotesApp: AppDefinition {
    let name = "votes"
    let defaultState = AppState(t: EmptyTransient(), p: Votes())

    func reduce(into state: inout AppState<Votes, EmptyTransient>, event: VoteEvent) throws {
        switch event {
        case .yes: state.p.yes += 1
        case .no: state.p.no += 1
        case .ask(let question):
            guard question.hasSuffix("?") else { throw EventRejection("a question ends with ?") }
            state.p.question = question
        }
    }
}

// The page's last part, which is the top level of its program.
private func serveVotes() {
    do {
        let folder = "./votes-data"
        let options = ServerOptions(port: 8081, secretKey: try SecretKey(keptIn: folder))
        let server = StateServer(options: options, storage: SQLiteStorageEngine(folder: folder))
        try server.host(VotesApp())
        try server.run { url in print("votes at \(url)") }
    } catch {
        print("votes: \(error)")
        exit(1)
    }
}

@Suite struct ReadmeVotesTests {
    @Test func `the page's app counts, rejects, and trims its question`() async throws {
        try await TestServer(VotesApp()).run { client in
            let session = "/v1/apps/votes/sessions/tea"
            let first = try await client.post("\(session)/events", json: "yes")
            #expect(first.status == 200)
            #expect(try first.json()["changes"] == [["op": "replace", "path": "/p/yes", "value": 1]])
            #expect(try await client.post("\(session)/events", json: ["ask": "Coffee"]).status == 422)
            #expect(try await client.post("\(session)/events", json: ["ask": " Coffee ?"]).status == 200)
            #expect(try await client.get("\(session)/state/p/question").json() == "Coffee ?")
        }
    }
}
