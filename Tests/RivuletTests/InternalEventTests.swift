// Checks that clients cannot dispatch internal events, by any route, and that effects can.

import Rivulet
import RivuletTesting
import Testing

@ObservableState
struct Race: PersistentState {
    var title = ""
    var winner = ""
}

@AppEvent
enum RaceEvent {
    case start
    case rename(String)
    @Internal case finish(winner: String)
    @Internal case abandon
}

struct RaceApp: AppDefinition {
    let name = "race"
    let defaultState = AppState(t: EmptyTransient(), p: Race())
    var bindings: [StateBinding<RaceEvent>] = []

    func reduce(into state: inout AppState<Race, EmptyTransient>, event: RaceEvent) {
        switch event {
        case .start: state.p.winner = ""
        case .rename(let title): state.p.title = title
        case .finish(let winner): state.p.winner = winner
        case .abandon: state.p.winner = "no winner"
        }
    }

    func effect(of event: RaceEvent, state: AppState<Race, EmptyTransient>) -> Effect<RaceEvent> {
        if case .start = event { .dispatch([.rename("Final"), .finish(winner: "Ann")]) } else { .none }
    }
}

/// An app with events that no client dispatches.
struct PulseApp: AppDefinition {
    @AppEvent
    enum Event {
        @Internal case beat
    }

    let name = "pulse"
    let defaultState = AppState(t: EmptyTransient(), p: Race())

    func reduce(into state: inout AppState<Race, EmptyTransient>, event: Event) { state.p.title += "." }
}

@Suite(.timeLimit(.minutes(1))) struct InternalEventTests {
    private let session = "/v1/apps/race/sessions/s"

    private nonisolated(nonsending) func dispatch(
        _ body: String,
        to client: TestClient,
        type: String = "application/json",
        _ fields: [String: String] = [:]
    ) async throws -> TestAnswer {
        let fields = fields.merging(["Content-Type": type]) { $1 }
        return try await client.send("POST", "\(session)/events", fields: fields, body: Array(body.utf8))
    }

    @Test(arguments: [
        #""abandon""#, #"{"abandon":{}}"#, #"{"abandon":7}"#, #"{"finish":{"winner":"Eve"}}"#, #"{"finish":{}}"#,
        #"{"finish":{"winner":7,"more":1}}"#, #""finish""#, #" { "fin\u0069sh" : [] } "#,
    ])
    func `a client's internal event is refused, whatever its payload is`(_ body: String) async throws {
        try await TestServer(RaceApp()).run { client in
            let answer = try await dispatch(body, to: client)
            #expect(answer.status == 403)
            #expect(answer[field: "content-type"] == "application/problem+json")
            let name = body.contains("abandon") ? "abandon" : "finish"
            #expect(
                try answer.json() == [
                    "type": "/problems/internal-event", "title": "The event is internal", "status": 403,
                    "detail": .string(
                        "the event, \"\(name)\", is internal: only the app dispatches it; nothing has changed"
                    ),
                ]
            )
            #expect(try await dispatch(body, to: client, ["Idempotency-Key": "\"k\""]).status == 403)
            #expect(try await client.get("\(session)/state/p").json() == ["title": "", "winner": ""])
        }
    }

    @Test(arguments: [
        (#"[{"rename":"x"},"abandon"]"#, 1), (#"["abandon",{"rename":7}]"#, 0), (#"[{"rename":7},{"finish":7}]"#, 1),
        (#"["abandon"]"#, 0), (#"["what",{"abandon":{"x":1}}]"#, 1),
    ])
    func `an array with an internal event is refused as a whole, with a pointer to the event`(
        _ body: String,
        _ index: Int
    ) async throws {
        try await TestServer(RaceApp()).run { client in
            let answer = try await dispatch(body, to: client)
            #expect(answer.status == 403)
            #expect(try answer.json()["errors"]?[0]?["pointer"] == .string("/\(index)"))
            #expect(try await client.get("\(session)/state/p/title").json() == "")
        }
    }

    @Test(arguments: [
        (#"{"finish":"#, 400), (#"{"rename":7}"#, 422), (#"{"abandon":1,"start":1}"#, 422), (#"[[1],"start"]"#, 422),
    ])
    func `a body without an internal event is answered as before`(_ body: String, _ status: Int) async throws {
        try await TestServer(RaceApp()).run { client in
            let answer = try await dispatch(body, to: client)
            #expect(answer.status == status)
        }
    }

    @Test func `a line with an internal event is refused alone`() async throws {
        try await TestServer(RaceApp()).run { client in
            let lines = "{\"rename\":\"a\"}\n\"abandon\"\n[\"abandon\"]\n{\"rename\":\"b\"}\n"
            let answer = try await dispatch(lines, to: client, type: "application/x-ndjson")
            let statuses = try answer.text.split(separator: "\n").map { line in
                try JSONValue(parsing: Array(line.utf8))["status"]?.integerValue
            }
            #expect(statuses == [nil, 403, 403, nil])
            #expect(try await client.get("\(session)/state/p").json() == ["title": "b", "winner": ""])
        }
    }

    @Test func `an error about an unknown event does not name internal ones`() async throws {
        try await TestServer(RaceApp()).run { client in
            let detail = try await dispatch(#""what""#, to: client).json()["detail"]?.stringValue
            #expect(detail?.contains("start") == true && detail?.contains("abandon") == false)
        }
    }

    @Test func `an effect's internal event is in the log, and is there after a restart`() async throws {
        let folder = BoardFolder()
        try await folder.run(RaceApp(), .live) { client in
            let start = try await dispatch(#""start""#, to: client)
            #expect(start.status == 200)
            // This dispatch is done after the dispatches of the effect.
            #expect(try await dispatch(#"{"rename":"Last"}"#, to: client).status == 200)
            #expect(try await client.get("\(session)/state/p/winner").json() == "Ann")
        }
        try await folder.run(RaceApp(), .live) { client in
            let log = try await client.get("\(session)/events").json()
            let events = log.elements?.map { $0["event"] }
            #expect(events?.contains(["finish": ["winner": "Ann"]]) == true)
            let version = try #require(log.elements?.first { $0["event"]?["finish"] != nil }?["version"]?.integerValue)
            #expect(try await client.get("\(session)/state/p/winner?version=\(version)").json() == "Ann")
            #expect(try await client.get("\(session)/state/p/winner?version=\(version - 1)").json() == "")
            let restored = try await client.send("POST", "\(session)/restore?version=\(version)")
            #expect(restored.status == 200)
            #expect(try await client.get("\(session)/state/p").json() == ["title": "Final", "winner": "Ann"])
        }
    }

    @Test(arguments: ["/v1/apps/race", "/v1/apps/race/types.d.ts", "/openapi.json"])
    func `no description of requests has an internal event`(_ target: String) async throws {
        try await TestServer(RaceApp()).run { client in
            let text = try await client.get(target).text
            #expect(text.contains("rename"))
            #expect(!text.contains("\"finish\"") && !text.contains("finish:") && !text.contains("abandon"))
        }
    }

    @Test func `an app whose events are all internal has no event to dispatch`() async throws {
        try await TestServer(PulseApp()).run { client in
            let description = try await client.get("/v1/apps/pulse").json()
            #expect(description["event"]?["not"] == [:] && description["events"] == [])
            #expect(try await client.get("/v1/apps/pulse/types.d.ts").text.contains("export type Event = never"))
            let schemas = try await client.get("/openapi.json").json()["components"]?["schemas"]
            #expect(schemas?["pulse.Event"]?["not"] == [:])
            #expect(try await client.post("/v1/apps/pulse/sessions/s/events", json: "beat").status == 403)
        }
    }

    @Test func `an app with a binding to an internal event is not hosted`() async throws {
        let app = RaceApp(bindings: [StateBinding("/p/winner") { .finish(winner: $0) }])
        let server = StateServer(storage: MemoryStorageEngine())
        let error = #expect(throws: ServerError.self) { try server.host(app) }
        #expect(
            error?.description
                == #"app "race": the binding "/p/winner" makes the event "finish", which is @Internal; bind an event for clients"#
        )
    }

    @Test func `a write to a binding is refused if the binding makes an internal event of the value`() async throws {
        let binding = StateBinding<RaceEvent>("/p/title") { (title: String) in
            title == "stop" ? .abandon : .rename(title)
        }
        try await TestServer(RaceApp(bindings: [binding])).run { client in
            for (value, status) in [("\"x\"", 200), ("\"stop\"", 403), ("7", 422)] {
                let answer = try await client.send(
                    "PUT",
                    "\(session)/state/p/title",
                    fields: ["Content-Type": "application/json"],
                    body: Array(value.utf8)
                )
                #expect(answer.status == status, "\(value)")
            }
            #expect(try await client.get("\(session)/state/p").json() == ["title": "x", "winner": ""])
        }
    }

    @Test func `a test store sends and receives internal events`() async {
        let store = TestStore(RaceApp())
        await store.send(.abandon) { $0.p.winner = "no winner" }
        await store.send(.start) { $0.p.winner = "" }
        await store.receive(.rename("Final")) { $0.p.title = "Final" }
        await store.receive(.finish(winner: "Ann")) { $0.p.winner = "Ann" }
        await store.finish()
    }
}
