// Part of Rivulet. See README.md for the architecture.
// Checks that an app's field table, its TypeScript key paths and what streams take are the same paths.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct HostedAppTests {
    @ObservableState
    struct Search: PersistentState {
        var mode = Mode.idle
        var last: Mode?
    }

    @ObservableState
    enum Mode: Equatable, Sendable {
        case idle
        case found(Hit)
        case searching(query: String, near: Hit?)
        case pair(Hit, Int)
        case labelled(text: String)
        case counting(Int)
    }

    @ObservableState
    struct Hit: Equatable, Sendable {
        var title = "none"
        var rank = 0
    }

    @AppEvent
    enum Event {
        case search(query: String)

        var persist: Bool { true }
        var isUIEvent: Bool { true }
    }

    struct App: AppDefinition {
        let name = "search"
        let defaultState = AppState(t: EmptyTransient(), p: Search(mode: .searching(query: "a", near: Hit())))

        func reduce(into state: inout AppState<Search, EmptyTransient>, event: Event) {}
    }

    private let app = AppHost(App())

    private func fields() throws -> [JSONValue] {
        var writer = JSONWriter()
        app.encodeDescription(into: &writer)
        return try #require(try JSONValue(parsing: writer.bytes)["fields"]?.elements)
    }

    @Test func `fields and key paths are the same, cases with several values included`() throws {
        let fields = try fields().compactMap { $0["path"]?.stringValue }
        let below = [
            "/found", "/found/title", "/found/rank", "/searching", "/searching/query", "/searching/near",
            "/searching/near/title", "/searching/near/rank", "/pair", "/pair/_0", "/pair/_0/title", "/pair/_0/rank",
            "/pair/_1", "/labelled", "/labelled/text", "/counting",
        ]
        let (mode, last) = (below.map { "/p/mode\($0)" }, below.map { "/p/last\($0)" })
        #expect(fields == ["/p", "/p/mode"] + mode + ["/p/last"] + last + ["/t"])
        let types = app.typeScript()
        let union = types[try #require(types.firstRange(of: "export type KeyPath =")).upperBound...]
        let keyPaths = union.matches(of: /\| "(.*)"/).map { String($0.1) }
        #expect(Set(keyPaths) == Set(fields + [""]))
        for path in fields { #expect(app.accepts(try JSONPointer(parsing: path)), "\(path)") }
    }

    @Test func `a field of the case that there is has its default`() throws {
        let pairs = try fields().compactMap { field in field["default"].map { (field["path"]?.stringValue, $0) } }
        let defaults = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        #expect(defaults["/p/mode/searching"] == ["query": "a", "near": ["title": "none", "rank": 0]])
        #expect(defaults["/p/mode/searching/query"] == "a")
        #expect(defaults["/p/mode/searching/near/rank"] == 0)
        #expect(defaults["/p/mode/pair"] == nil)
    }
}
