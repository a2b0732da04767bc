// Checks view objects of sessions: their values, and the events of their streams.

import RivuletEngine
import RivuletJSON
import RivuletObjects
import RivuletObservation
import RivuletSessions
import Testing

@ObservableState
struct Basket: PersistentState {
    var name = "basket"
    var fruits: Keyed<Fruit> = []
    var place = Place()
    @ObservableStateWrapper(OmitCoding<String?>.self) @ObservationStateIgnored
    var secret: String?
}

@ObservableState
struct Fruit: Identifiable, Equatable, Sendable {
    var id: String
    var weight = 1
}

@ObservableState
struct Place: Equatable, Sendable {
    var street = ""
    var number = 0
}

@ObservableState
struct BasketScreen: Equatable, Sendable {
    var visits = 0
}

@AppEvent
enum BasketEvent {
    case rename(String)
    case add(String)
    case weigh(String, Int)
    case move(street: String, number: Int)
    case visit
    case clear

    var persist: Bool { if case .visit = self { false } else { true } }
    var isUIEvent: Bool { true }
}

extension AppState<Basket, BasketScreen> {
    var weight: Int {
        Computations.count += 1
        return p.fruits.reduce(0) { $0 + $1.weight }
    }
}

/// The number of computations of a computed field in the current test.
enum Computations {
    @TaskLocal static var counter = Counter()
    static var count: Int {
        get { counter.count }
        set { counter.count = newValue }
    }

    final class Counter: @unchecked Sendable {
        // SAFETY: only the test's own thread uses it.
        var count = 0
    }
}

final class BasketView: ObservableObject {
    @Published var fruits: Keyed<Fruit>
    @Published var place: Place
    @Published var weight: Int
    @Published var visits: Int

    init(fruits: Keyed<Fruit>, place: Place, weight: Int, visits: Int) {
        self.fruits = fruits
        self.place = place
        self.weight = weight
        self.visits = visits
    }
}

@StateForwarder(
    for: BasketView.self,
    from: BasketApp.State.self,
    mapping: [
        (\BasketApp.State.p.fruits, \BasketView.fruits),
        (\BasketApp.State.p.place, \BasketView.place),
        (\BasketApp.State.weight, \BasketView.weight),
        (\BasketApp.State.t.visits, \BasketView.visits),
    ]
)
struct BasketForwarder {}

struct BasketApp: AppDefinition {
    typealias State = AppState<Basket, BasketScreen>

    let name = "tally"
    let defaultState = State(t: BasketScreen(), p: Basket())

    var views: [StateView<State>] { [StateView(BasketForwarder.self)] }

    func reduce(into state: inout State, event: BasketEvent) {
        switch event {
        case .rename(let name): state.p.name = name
        case .add(let id): state.p.fruits.append(Fruit(id: id))
        case .weigh(let id, let weight): state.p.fruits[id: id]?.weight = weight
        case .move(let street, let number):
            state.p.place.street = street
            state.p.place.number = number
        case .visit: state.t.visits += 1
        case .clear: state = defaultState
        }
    }
}

@Suite struct SessionViewTests {
    private func harness(_ events: String...) throws -> SessionHarness {
        let harness = try SessionHarness()
        harness.deploy(BasketApp())
        for event in events { try harness.dispatch(event) }
        return harness
    }

    private func view(_ harness: SessionHarness, _ name: String? = "BasketView") throws -> String {
        String(decoding: try harness.session().readView(name).get().value, as: UTF8.self)
    }

    /// The events that streams of the view got since the last call.
    private func delivered(_ harness: SessionHarness) -> [String] {
        defer { harness.sink.delivered = [] }
        return harness.sink.delivered.map(\.event.text)
    }

    @Test func `a view is an object with the mapped fields of the current state`() throws {
        let harness = try harness(#"{"add":"fig"}"#, #"{"weigh":{"_0":"fig","_1":7}}"#)
        let expected = #"{"fruits":[{"id":"fig","weight":7}],"place":{"street":"","number":0},"weight":7,"visits":0}"#
        #expect(try view(harness) == expected)
        #expect(try view(harness, nil) == #"{"BasketView":\#(expected)}"#)
    }

    @Test func `an unknown view is an error, and no stream`() throws {
        let harness = try harness()
        #expect(throws: SessionError.self) { try harness.session().readView("Nope").get() }
        harness.ask(StreamTopic(view: "Nope", paths: []))
        _ = try harness.wait { harness.sink.refused.first }
        #expect(harness.sink.joined.isEmpty)
    }

    @Test func `a field of a view changes as finely as its source`() throws {
        let harness = try harness(#"{"add":"fig"}"#)
        try harness.subscribe(StreamTopic(view: "BasketView", paths: []))
        try harness.dispatch(#"{"weigh":{"_0":"fig","_1":7}}"#)
        try harness.dispatch(#"{"add":"pear"}"#)
        try harness.dispatch(#"{"move":{"street":"Lane","number":3}}"#)
        #expect(
            delivered(harness) == [
                #"{"version":2,"changes":[{"op":"replace","path":"/fruits/fig/weight","value":7},"#
                    + #"{"op":"replace","path":"/weight","value":7}]}"#,
                #"{"version":3,"changes":[{"op":"add","path":"/fruits/pear","index":1,"value":{"id":"pear","weight":1}},"#
                    + #"{"op":"replace","path":"/weight","value":8}]}"#,
                #"{"version":4,"changes":[{"op":"replace","path":"/place/street","value":"Lane"},"#
                    + #"{"op":"replace","path":"/place/number","value":3}]}"#,
            ]
        )
    }

    @Test func `a change of fields that a view does not read sends no event and computes nothing`() throws {
        let counter = Computations.Counter()
        try Computations.$counter.withValue(counter) {
            let harness = try harness(#"{"add":"fig"}"#)
            try harness.subscribe(StreamTopic(view: "BasketView", paths: []))
            let before = counter.count
            try harness.dispatch(#"{"rename":"x"}"#)
            try harness.dispatch(#"{"move":{"street":"","number":0}}"#)
            try harness.dispatch(#""visit""#)
            #expect(counter.count == before)
            #expect(delivered(harness) == [#"{"version":2,"changes":[{"op":"replace","path":"/visits","value":1}]}"#])
            try harness.dispatch(#"{"weigh":{"_0":"fig","_1":2}}"#)
            #expect(counter.count > before)
        }
    }

    @Test func `a computed field that stays equal sends no event`() throws {
        let harness = try harness(#"{"add":"fig"}"#, #"{"add":"pear"}"#, #"{"weigh":{"_0":"fig","_1":2}}"#)
        try harness.subscribe(StreamTopic(view: "BasketView", paths: [JSONPointer(tokens: ["weight"])]))
        try harness.dispatch(#"[{"weigh":{"_0":"fig","_1":1}},{"weigh":{"_0":"pear","_1":2}}]"#)
        #expect(delivered(harness) == [])
    }

    @Test func `a replaced state sends a change for each watched part that differs`() throws {
        let harness = try harness(#"{"add":"fig"}"#, #"{"move":{"street":"Lane","number":3}}"#)
        try harness.subscribe(
            StreamTopic(
                view: "BasketView",
                paths: [JSONPointer(tokens: ["place", "street"]), JSONPointer(tokens: ["visits"])]
            )
        )
        try harness.dispatch(#""clear""#)
        #expect(
            delivered(harness) == [#"{"version":3,"changes":[{"op":"replace","path":"/place/street","value":""}]}"#]
        )
    }

    @Test func `streams of a view and streams of the state are separate groups`() throws {
        let harness = try harness()
        let whole = try harness.subscribe(StreamTopic(view: "BasketView", paths: []))
        let state = try harness.subscribe(StreamTopic(paths: []))
        let again = try harness.subscribe(StreamTopic(view: "BasketView", paths: []))
        #expect(whole.group != state.group && whole.group == again.group)
    }

    @Test func `a reader of a view resumes with the missed changes`() throws {
        let harness = try harness(#"{"add":"fig"}"#)
        let topic = StreamTopic(view: "BasketView", paths: [])
        let joined = try harness.subscribe(topic)
        try harness.dispatch(#"{"weigh":{"_0":"fig","_1":7}}"#)
        try harness.dispatch(#"{"rename":"x"}"#)
        let resumed = try harness.subscribe(topic, resume: "\(joined.cursor)")
        #expect(
            resumed.first.map(\.text) == [
                #"{"version":3,"changes":[{"op":"replace","path":"/fruits/fig/weight","value":7},"#
                    + #"{"op":"replace","path":"/weight","value":7}]}"#
            ]
        )
        let current = try harness.subscribe(topic, resume: "\(resumed.cursor)")
        #expect(current.first.isEmpty)
    }

    @Test func `a reader with a position that is no longer in memory gets all watched values`() throws {
        let harness = try harness(#"{"add":"fig"}"#)
        let topic = StreamTopic(view: "BasketView", paths: [JSONPointer(tokens: ["weight"])])
        let joined = try harness.subscribe(topic)
        try harness.dispatch(#"{"weigh":{"_0":"fig","_1":7}}"#)
        harness.restart()
        let resumed = try harness.subscribe(topic, resume: "\(joined.cursor)")
        #expect(
            resumed.first.map(\.text) == [#"{"version":2,"changes":[{"op":"replace","path":"/weight","value":7}]}"#]
        )
    }

    @Test func `a view is not updated for a stream that was refused`() throws {
        let counter = Computations.Counter()
        try Computations.$counter.withValue(counter) {
            let harness = try SessionHarness(limits: SessionLimits(streamsPerSessionMax: 0))
            harness.deploy(BasketApp())
            harness.ask(StreamTopic(view: "BasketView", paths: []))
            _ = try harness.wait { harness.sink.refused.first }
            try harness.dispatch(#"{"add":"fig"}"#)
            #expect(counter.count == 0)
        }
    }

    @Test func `a cursor of another history resets`() throws {
        let harness = try harness(#"{"add":"fig"}"#)
        let joined = try harness.subscribe(
            StreamTopic(view: "BasketView", paths: [JSONPointer(tokens: ["weight"])]),
            resume: "aaaaaaaa.1.bbbb-0"
        )
        #expect(joined.first.map(\.name) == [.reset])
    }

    @Test func `a view that would show an omitted field is refused, and the error names the field`() {
        #expect(AppHost(LeakyApp()).fault?.contains("/p/secret") == true)
    }
}

final class LeakyView: ObservableObject {
    @Published var secret: String?

    init(secret: String?) {
        self.secret = secret
    }
}

@StateForwarder(
    for: LeakyView.self,
    from: BasketApp.State.self,
    mapping: [(\BasketApp.State.p.secret, \LeakyView.secret)]
)
struct LeakyForwarder {}

struct LeakyApp: AppDefinition {
    let name = "leaky"
    let defaultState = BasketApp.State(t: BasketScreen(), p: Basket())
    var views: [StateView<BasketApp.State>] { [StateView(LeakyForwarder.self)] }

    func reduce(into state: inout BasketApp.State, event: BasketEvent) {}
}
