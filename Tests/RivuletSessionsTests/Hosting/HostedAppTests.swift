// Checks that an app's field table, its TypeScript key paths and the paths of its streams are the same.

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

    @ObservableState
    struct Sheet: PersistentState {
        var root = Expression.zero
        var outline: Keyed<Entry> = []
    }

    @ObservableState
    indirect enum Expression: Equatable, Sendable {
        case zero
        case sum(Expression, Expression)
        case product(Expression, Expression)
        case negative(Expression)
        case list(Entries)
    }

    @ObservableState
    struct Entries: Equatable, Sendable {
        var all: Keyed<Entry> = []
    }

    @ObservableState
    struct Entry: Equatable, Sendable, Identifiable {
        var id = 0
        var entries: Keyed<Entry> = []
        var value: Expression?
    }

    struct SheetApp: AppDefinition {
        let name = "sheet"
        let defaultState = AppState(t: EmptyTransient(), p: Sheet())

        func reduce(into state: inout AppState<Sheet, EmptyTransient>, event: Event) {}
    }

    @ObservableState
    indirect enum Line: Equatable, Sendable {
        case empty
        case of(Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int)
    }

    @ObservableState
    indirect enum Page: Equatable, Sendable {
        case empty
        case of(Line, Line, Line, Line, Line, Line, Line, Line, Line, Line, Line, Line, Line, Line, Line, Line)
    }

    @ObservableState
    indirect enum Volume: Equatable, Sendable {
        case empty
        case of(Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page, Page)
    }

    @ObservableState
    struct Paper: PersistentState {
        var volume = Volume.empty
        var title = ""
    }

    struct PaperApp: AppDefinition {
        let name = "paper"
        let defaultState = AppState(t: EmptyTransient(), p: Paper())

        func reduce(into state: inout AppState<Paper, EmptyTransient>, event: Event) {}
    }

    private let app = AppHost(App())

    private func fields(of app: some HostedApp) throws -> [JSONValue] {
        var writer = JSONWriter()
        app.encodeDescription(into: &writer)
        return try #require(try JSONValue(parsing: writer.bytes)["fields"]?.elements)
    }

    @Test func `the fields are the key paths, also for cases with several values`() throws {
        let fields = try fields(of: app).compactMap { $0["path"]?.stringValue }
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

    @Test func `the fields of the default's case have defaults`() throws {
        let pairs = try fields(of: app).compactMap { field in field["default"].map { (field["path"]?.stringValue, $0) }
        }
        let defaults = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        #expect(defaults["/p/mode/searching"] == ["query": "a", "near": ["title": "none", "rank": 0]])
        #expect(defaults["/p/mode/searching/query"] == "a")
        #expect(defaults["/p/mode/searching/near/rank"] == 0)
        #expect(defaults["/p/mode/pair"] == nil)
    }

    @Test func `a type is not described within itself`() throws {
        let app = AppHost(SheetApp())
        let fields = try fields(of: app).compactMap { $0["path"]?.stringValue }
        let cases = [
            "/sum", "/sum/_0", "/sum/_1", "/product", "/product/_0", "/product/_1", "/negative", "/list", "/list/all",
        ]
        let entry = ["/id", "/entries", "/value"]
        let root = (cases + entry.map { "/list/all/*\($0)" }).map { "/p/root\($0)" }
        let outline = (entry + cases.map { "/value\($0)" }).map { "/p/outline/*\($0)" }
        #expect(fields == ["/p", "/p/root"] + root + ["/p/outline"] + outline + ["/t"])
        for path in fields { #expect(app.accepts(try JSONPointer(parsing: path.replacing("*", with: "1"))), "\(path)") }
        #expect(app.accepts(try JSONPointer(parsing: "/p/root/sum/_0/negative/sum/_1/list/all/7/value/negative")))
    }

    @Test func `of too many fields the deepest are left out`() throws {
        let fields = try fields(of: AppHost(PaperApp())).compactMap { $0["path"]?.stringValue }
        let depths = fields.map { path in path.split(separator: "/").count }
        #expect(fields.count == ["/p", "/p/volume", "/p/title", "/t"].count + 1 + 16 + 16 + 256 + 256)
        #expect(depths.max() == ["p", "volume", "of", "_0", "of", "_0", "of"].count)
        #expect(fields.suffix(2) == ["/p/title", "/t"])
    }
}
