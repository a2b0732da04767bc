// The app of Documentation/WritingApps.md. DocumentationTests compares its parts with the page.

import Foundation
import Rivulet
import RivuletTesting
import Testing

@ObservableState
struct Votes: PersistentState {
    @Wrapped(Trimmed.self) var question = "Tea?"
    @Wrapped(Clamped.self, 0...1_000) var yes = 0
    @Wrapped(Clamped.self, 0...1_000) var no = 0
    var isOpen = true
}

@ObservableState
struct VotesScreen: Equatable, Sendable {
    var highlighted: String?
}

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
    @Internal case close
    case highlight(String?)

    var persist: Bool {
        if case .highlight = self { false } else { true }
    }
}

struct VotesApp: AppDefinition {
    typealias State = AppState<Votes, VotesScreen>

    let name = "votes"
    let defaultState = State(t: VotesScreen(), p: Votes())

    var bindings: [StateBinding<VoteEvent>] { [StateBinding("/p/question", VoteEvent.ask)] }

    func reduce(into state: inout State, event: VoteEvent) throws {
        switch event {
        case .yes, .no:
            guard state.p.isOpen else { throw RejectionError("the poll is closed") }
            if case .yes = event { state.p.yes += 1 } else { state.p.no += 1 }
        case .ask(let question):
            guard question.contains("?") else { throw RejectionError("a question has a ?") }
            state.p.question = question
            state.p.yes = 0
            state.p.no = 0
            state.p.isOpen = true
        case .close: state.p.isOpen = false
        case .highlight(let answer): state.t.highlighted = answer
        }
    }

    func effect(of event: VoteEvent, state: State) -> Effect<VoteEvent> {
        if case .ask = event { closing } else { .none }
    }

    func effect(whenLoaded state: State) -> Effect<VoteEvent> {
        state.p.isOpen ? closing : .none
    }

    private var closing: Effect<VoteEvent> {
        .after(.seconds(60), .close).cancellable(id: "closing", cancelInFlight: true)
    }
}

/// Serves the app until a signal ends the process.
public func serveVotes() {
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

@Suite struct DocumentedVotesTests {
    @Test func `a poll closes a minute after its question`() async {
        let store = TestStore(VotesApp())
        await store.send(.ask(" Coffee? ")) { $0.p.question = "Coffee?" }
        await store.send(.yes) { $0.p.yes = 1 }
        await store.advance(by: .seconds(60))
        await store.receive(.close) { $0.p.isOpen = false }
        await store.send(.no, expectRejection: "the poll is closed")
        await store.finish()
    }

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
