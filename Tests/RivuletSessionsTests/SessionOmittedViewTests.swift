// Part of Rivulet. See README.md for the architecture.
// Checks views of what is computed from fields in no JSON.

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
    func `an event that writes nothing but an omitted field brings views up to date`(_ event: String) throws {
        let harness = try harness()
        try harness.subscribe(Self.topic)
        let before = try harness.session().read(.root).get().cursor
        let answer = try harness.dispatch(#"{"\#(event)":"abc"}"#)
        #expect(
            harness.sink.delivered.map(\.event.text) == [
                #"{"version":1,"changes":[{"op":"replace","path":"/length","value":3}]}"#
            ]
        )
        // The step of a transient change: no version, and no change of the state that a client could see.
        #expect(answer.changes.isEmpty)
        #expect(answer.version == 1)
        #expect(answer.cursor != before)
        #expect(harness.sink.delivered.map(\.event.cursor) == [answer.cursor])
        #expect(try harness.session().read(.root).get().cursor == answer.cursor)
    }

    @Test func `streams of the state hear nothing of it, and resume from before it with nothing`() throws {
        let harness = try harness()
        let joined = try harness.subscribe(StreamTopic(paths: []))
        try harness.dispatch(#"{"hide":"abc"}"#)
        #expect(harness.sink.delivered.isEmpty)
        #expect(try harness.subscribe(StreamTopic(paths: []), resume: "\(joined.cursor)").first.isEmpty)
    }

    @Test func `a reader of the view resumes with what it missed`() throws {
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

    @Test func `a value that comes out the same tells nothing`() throws {
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

    @Test func `a view of an omitted field behind a subscript is refused, and says which`() {
        #expect(AppHost(LeakyElementApp()).fault?.contains("/p/boxes/*/content") == true)
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
}

final class StrongboxView: ObservableObject {
    @Published var content: String?

    init(content: String?) {
        self.content = content
    }
}

@StateForwarder(
    for: StrongboxView.self,
    from: LeakyElementApp.State.self,
    mapping: [(\LeakyElementApp.State.p.boxes[id: "a"]?.content, \StrongboxView.content)]
)
struct StrongboxForwarder {}

struct LeakyElementApp: AppDefinition {
    typealias State = AppState<Strongroom, BasketScreen>

    let name = "leaky"
    let defaultState = State(t: BasketScreen(), p: Strongroom())
    var views: [StateView<State>] { [StateView(StrongboxForwarder.self)] }

    func reduce(into state: inout State, event: SafeEvent) {}
}
