// Owns the samples of Documentation/Testing.md, compiled and run.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletTesting
import Testing

// DocumentationTests checks that this file has every sample of that page, line by line.

@ObservableState
struct Search: PersistentState {
    var text = ""
    var hits: [String] = []
    var seconds = 0
}

@AppEvent
enum SearchEvent: Equatable {
    case type(String)
    case found([String])
    case watch
    case unwatch
    case second

    var persist: Bool { false }
    var isUIEvent: Bool { true }
}

struct SearchApp: AppDefinition {
    typealias State = AppState<Search, EmptyTransient>

    let name = "search"
    let defaultState = State(t: EmptyTransient(), p: Search())
    var find: @Sendable (String) async throws -> [String]

    func reduce(into state: inout State, event: SearchEvent) throws {
        switch event {
        case .type(let text):
            guard !text.isEmpty else { throw RejectionError("nothing to search for") }
            state.p.text = text
        case .found(let hits): state.p.hits = hits
        case .second: state.p.seconds += 1
        case .watch, .unwatch: break
        }
    }

    func effect(of event: SearchEvent, state: State) -> Effect<SearchEvent> {
        switch event {
        case .type(let text):
            .run { [find] dispatch in dispatch(.found(try await find(text))) }
                .debounce(id: "search", for: .milliseconds(300))
        case .watch: .every(.seconds(1), id: "watch", .second)
        case .unwatch: .cancel(id: "watch")
        case .found, .second: .none
        }
    }

    func effect(whenLoaded state: State) -> Effect<SearchEvent> {
        state.p.text.isEmpty ? .none : .dispatch(.type(state.p.text))
    }
}

@Suite struct DocumentedTestStoreTests {
    @Test func `a search begins when the typing has stopped`() async {
        let store = TestStore(SearchApp { text in ["\(text)!"] })
        await store.send(.type("a")) { $0.p.text = "a" }
        await store.send(.type("ab")) { $0.p.text = "ab" }
        await store.advance(by: .milliseconds(299))
        #expect(store.state.p.hits.isEmpty)
        await store.receive(.found(["ab!"]), within: .milliseconds(1)) { $0.p.hits = ["ab!"] }
        await store.finish()
    }

    @Test func `an empty search is rejected`() async {
        let store = TestStore(SearchApp { _ in [] })
        await store.send(.type(""), expectRejection: "nothing to search for")
    }

    @Test func `a cancelled watch stops ticking`() async {
        let store = TestStore(SearchApp { _ in [] })
        store.exhaustivity = .off
        await store.send(.watch)
        await store.advance(by: .seconds(60))
        await store.send(.unwatch) { $0.p.seconds = 60 }
        await store.advance(by: .seconds(60))
        #expect(store.state.p.seconds == 60)
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `a stream gets the change of the search text`(_ transport: TestServer.Transport) async throws {
        try await TestServer(SearchApp { _ in [] }).run(transport) { client in
            let session = "/v1/apps/search/sessions/s"
            let answer = try await client.post("\(session)/events", json: ["type": "a"])
            #expect(answer.status == 200)
            let stream = try await client.stream("\(session)/changes?path=/p/text")
            #expect(try await stream.next().name == "snapshot")
            _ = try await client.post("\(session)/events", json: ["type": "b"])
            let change = try await stream.next()
            #expect(try change.json()["changes"]?[0]?["value"] == "b")
        }
    }
}
