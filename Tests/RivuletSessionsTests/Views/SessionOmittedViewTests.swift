// Checks views with values that are computed from omitted fields.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletObjects
import RivuletObservation
import RivuletSessions
import Testing

@AppEvent
enum SafeEvent {
    case hide(String)
    case glance(String)
    case rename(String)
    case nothing

    var persist: Bool { if case .glance = self { false } else { true } }
    var isUIEvent: Bool { true }
}

final class SafeView: ObservableObject {
    @Published var length: Int
    @Published var name: String

    init(length: Int, name: String) {
        self.length = length
        self.name = name
    }
}

extension AppState<Basket, BasketScreen> {
    var secretLength: Int { p.secret?.count ?? 0 }
}

@StateForwarder(
    for: SafeView.self,
    from: SafeApp.State.self,
    mapping: [(\SafeApp.State.secretLength, \SafeView.length), (\SafeApp.State.p.name, \SafeView.name)]
)
struct SafeForwarder {}

struct SafeApp: AppDefinition {
    typealias State = AppState<Basket, BasketScreen>

    let name = "tally"
    let defaultState = State(t: BasketScreen(), p: Basket())

    var views: [StateView<State>] { [StateView(SafeForwarder.self)] }

    func reduce(into state: inout State, event: SafeEvent) {
        switch event {
        case .hide(let secret), .glance(let secret): state.p.secret = secret
        case .rename(let name): state.p.name = name
        case .nothing: break
        }
    }
}

@Suite struct SessionOmittedViewTests {
    private static let topic = StreamTopic(view: "SafeView", paths: [])

    private func harness() throws -> SessionHarness {
        let harness = try SessionHarness()
        harness.deploy(SafeApp())
        try harness.dispatch(#"{"rename":"safe"}"#)
        return harness
    }

    @Test(arguments: ["hide", "glance"])
    func `an event that writes only an omitted field updates views`(_ event: String) throws {
        let harness = try harness()
        try harness.subscribe(Self.topic)
        let before = try harness.session().read(.root).get().cursor
        let answer = try harness.dispatch(#"{"\#(event)":"abc"}"#)
        #expect(
            harness.sink.delivered.map(\.event.text) == [
                #"{"version":1,"changes":[{"op":"replace","path":"/length","value":3}]}"#
            ]
        )
        // The answer is that of a transient change: no version, and no change of the state that a client could see.
        #expect(answer.changes.isEmpty)
        #expect(answer.version == 1)
        #expect(answer.cursor != before)
        #expect(harness.sink.delivered.map(\.event.cursor) == [answer.cursor])
        #expect(try harness.session().read(.root).get().cursor == answer.cursor)
    }

    @Test func `streams of the state get no event for an omitted field, live and resumed`() throws {
        let harness = try harness()
        let joined = try harness.subscribe(StreamTopic(paths: []))
        try harness.dispatch(#"{"hide":"abc"}"#)
        #expect(harness.sink.delivered.isEmpty)
        #expect(try harness.subscribe(StreamTopic(paths: []), resume: "\(joined.cursor)").first.isEmpty)
    }

    @Test func `a stream of the view resumes with the missed changes`() throws {
        let harness = try harness()
        let joined = try harness.subscribe(Self.topic)
        try harness.dispatch(#"{"hide":"abc"}"#)
        let resumed = try harness.subscribe(Self.topic, resume: "\(joined.cursor)")
        #expect(
            resumed.first.map(\.text) == [
                #"{"version":1,"changes":[{"op":"replace","path":"/length","value":3}]}"#
            ]
        )
        #expect(try harness.subscribe(Self.topic, resume: "\(resumed.cursor)").first.isEmpty)
    }

    @Test func `a computed value that stays equal sends no event`() throws {
        let harness = try harness()
        try harness.dispatch(#"{"hide":"abc"}"#)
        try harness.subscribe(Self.topic)
        try harness.dispatch(#"{"hide":"xyz"}"#)
        #expect(harness.sink.delivered.isEmpty)
    }

    @Test func `an event that writes nothing moves no cursor`() throws {
        let harness = try harness()
        try harness.subscribe(Self.topic)
        let before = try harness.session().read(.root).get().cursor
        #expect(try harness.dispatch(#""nothing""#).cursor == before)
    }

    @Test(arguments: ["hide", "glance"])
    func `an event that writes an equal value to an omitted field moves no cursor`(_ event: String) throws {
        let harness = try harness()
        let before = try harness.dispatch(#"{"\#(event)":"abc"}"#).cursor
        #expect(try harness.dispatch(#"{"\#(event)":"abc"}"#).cursor == before)
        #expect(try harness.dispatch(#"{"\#(event)":"xyz"}"#).cursor != before)
    }

    @Test func `a view of omitted fields is refused, whatever route its key paths take`() {
        #expect(
            StateView(StrongboxForwarder.self).faults.map { $0.split(separator: " ").first { $0.hasPrefix("/p") } } == [
                "/p/boxes/*/content,", "/p/rows/*/content,", "/p/rows/first/content,", "/p/named/*/content,",
                "/p/numbered/*/content,", "/p/top/content,", "/p/spare/content,", "/p/deep/*/*/content,",
            ]
        )
        #expect(AppHost(LeakyElementApp()).fault?.contains("/p/boxes/*/content") == true)
    }

    @Test func `a key path to fields beside omitted ones is served`() {
        #expect(StateView(StrongroomForwarder.self).faults.isEmpty)
    }

    @Test func `a key path with another spelling of the state's type is refused, because its route is unknown`() {
        let faults = StateView(RenamedForwarder.self).faults
        #expect(faults.count == 1)
        #expect(faults.first?.contains("from:") == true)
    }
}

@ObservableState
struct Strongbox: Identifiable, Equatable, Sendable {
    var id: String
    @ObservableStateWrapper(OmitCoding<String?>.self) @ObservationStateIgnored
    var content: String?
}

@ObservableState
struct Strongroom: PersistentState {
    var boxes: Keyed<Strongbox> = []
    var rows: [Strongbox] = []
    var named: [String: Strongbox] = [:]
    var numbered: [Int: Strongbox] = [:]
    var spare: Strongbox?
    var deep: [[Strongbox]] = []

    var top: Strongbox { rows.last ?? Strongbox(id: "") }
}

final class StrongboxView: ObservableObject {
    @Published var keyed: String?
    @Published var row: String?
    @Published var first: String?
    @Published var named: String?
    @Published var numbered: String?
    @Published var top: String?
    @Published var spare: String?
    @Published var deep: String?

    init(
        keyed: String?,
        row: String?,
        first: String?,
        named: String?,
        numbered: String?,
        top: String?,
        spare: String?,
        deep: String?
    ) {
        self.keyed = keyed
        self.row = row
        self.first = first
        self.named = named
        self.numbered = numbered
        self.top = top
        self.spare = spare
        self.deep = deep
    }
}

@StateForwarder(
    for: StrongboxView.self,
    from: LeakyElementApp.State.self,
    mapping: [
        (\LeakyElementApp.State.p.boxes[id: "a"]?.content, \StrongboxView.keyed),
        (\LeakyElementApp.State.p.rows[0].content, \StrongboxView.row),
        (\LeakyElementApp.State.p.rows.first?.content, \StrongboxView.first),
        (\LeakyElementApp.State.p.named["a"]?.content, \StrongboxView.named),
        (\LeakyElementApp.State.p.numbered[1]?.content, \StrongboxView.numbered),
        (\LeakyElementApp.State.p.top.content, \StrongboxView.top),
        (\LeakyElementApp.State.p.spare?.content, \StrongboxView.spare),
        (\LeakyElementApp.State.p.deep[0][0].content, \StrongboxView.deep),
    ]
)
struct StrongboxForwarder {}

final class StrongroomView: ObservableObject {
    @Published var id: String
    @Published var rows: [Strongbox]
    @Published var count: Int
    @Published var spare: Strongbox?

    init(id: String, rows: [Strongbox], count: Int, spare: Strongbox?) {
        self.id = id
        self.rows = rows
        self.count = count
        self.spare = spare
    }
}

@StateForwarder(
    for: StrongroomView.self,
    from: LeakyElementApp.State.self,
    mapping: [
        (\LeakyElementApp.State.p.top.id, \StrongroomView.id),
        (\LeakyElementApp.State.p.rows, \StrongroomView.rows),
        (\LeakyElementApp.State.p.rows.count, \StrongroomView.count),
        (\LeakyElementApp.State.p.spare, \StrongroomView.spare),
    ]
)
struct StrongroomForwarder {}

final class RenamedView: ObservableObject {
    @Published var count: Int

    init(count: Int) {
        self.count = count
    }
}

@StateForwarder(
    for: RenamedView.self,
    from: LeakyElementApp.State.self,
    mapping: [(\AppState<Strongroom, BasketScreen>.p.rows.count, \RenamedView.count)]
)
struct RenamedForwarder {}

struct LeakyElementApp: AppDefinition {
    typealias State = AppState<Strongroom, BasketScreen>

    let name = "leaky"
    let defaultState = State(t: BasketScreen(), p: Strongroom())
    var views: [StateView<State>] { [StateView(StrongboxForwarder.self)] }

    func reduce(into state: inout State, event: SafeEvent) {}
}
