// Checks the changes that one step of an app makes to its state.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletObservation
import Testing

@Suite struct EventEngineTests {
    private let engine = EventEngine(TallyApp())

    @Test func `an event changes the state and reports exactly the paths that it changed`() throws {
        var state = engine.definition.defaultState
        let step = try engine.apply([.add(3)], to: &state)
        #expect(state.p.count == 3)
        #expect(step.recording.changes.map(\.path) == ["/p/count", "/t/lastEvent"])
        #expect(step.recording.changes.map(\.isTransient) == [false, true])
    }

    @Test func `a rejection after a write restores the state and names the event`() {
        var state = engine.definition.defaultState
        let rejection = RejectionError("title must not be empty")
        #expect(throws: RejectedEventError(index: 1, eventName: "rename", rejection: rejection)) {
            try engine.apply([.add(1), .rename("")], to: &state)
        }
        #expect(state == engine.definition.defaultState)
    }

    @Test func `several events are one transaction with their net changes`() throws {
        var state = engine.definition.defaultState
        let step = try engine.apply([.add(3), .add(-3), .mark(1), .mark(2)], to: &state)
        #expect(step.recording.changes.map(\.path) == ["/p/marks", "/t/lastEvent"])
    }

    @Test func `a value that a wrapper changed is reported as a coercion`() throws {
        var state = engine.definition.defaultState
        let step = try engine.apply([.set(250)], to: &state)
        #expect(state.p.count == 100)
        #expect(
            step.recording.coercions == [Coercion(path: "/p/count", from: Array("250".utf8), to: Array("100".utf8))]
        )
    }

    @Test func `an omitted field is in no change and in no JSON`() throws {
        var state = engine.definition.defaultState
        let step = try engine.apply([.note("secret")], to: &state)
        #expect(state.p.note == "secret")
        #expect(step.recording.changes.map(\.path) == ["/t/lastEvent"])
        var writer = JSONWriter()
        state.encodeJSON(into: &writer)
        #expect(!String(decoding: writer.bytes, as: UTF8.self).contains("secret"))
    }

    @Test func `effects come in the order of their events`() throws {
        var state = engine.definition.defaultState
        let step = try engine.apply([.chain(2), .add(1), .slow], to: &state)
        #expect(step.effects.map(\.eventName) == ["chain", "slow"])
        guard case .dispatch([.chain(1)]) = step.effects.first?.effect.operation else {
            Issue.record("the first effect is not chain's: \(step.effects)")
            return
        }
    }

    // MARK: - Reducers with effects

    private struct Broken: Error {}

    /// One reducer of each form.
    ///
    /// The second reducer fails with `add(13)`, and rejects `add(14)`.
    private struct ManyReducers: AppDefinition {
        let name = "many"
        let defaultState = TallyApp.State(t: Screen(), p: Tally())

        struct Doubling: EffectReducer {
            func reduce(into state: inout TallyApp.State, event: TallyEvent) throws -> Effect<TallyEvent> {
                guard case .add(let amount) = event else { return .none }
                state.p.count *= 2
                if amount == 13 { throw Broken() }
                if amount == 14 { throw RejectionError("not 14") }
                return .dispatch(.mark(2))
            }
        }

        var reducers: [AnyReducer<TallyApp.State>] {
            [
                AnyReducer(TallyEvent.self) { state, event in try TallyApp().reduce(into: &state, event: event) },
                AnyReducer(Doubling()),
                AnyReducer(effectsOf: TallyEvent.self) { state, _ in
                    .dispatch(.mark(state.p.count))
                },
            ]
        }

        func reduce(into state: inout TallyApp.State, event: TallyEvent) {}

        func effect(of event: TallyEvent, state: TallyApp.State) -> Effect<TallyEvent> { .dispatch(.mark(4)) }
    }

    /// The events of a tree of `merge` and `dispatch`.
    private func dispatched(_ effect: Effect<TallyEvent>) -> [TallyEvent] {
        switch effect.operation {
        case .dispatch(let events): events
        case .merge(let effects): effects.flatMap(dispatched)
        default: []
        }
    }

    @Test func `D-08, D-15: effects of an event come in the order of the reducers, the app's own last`() throws {
        var state = ManyReducers().defaultState
        let step = try EventEngine(ManyReducers()).apply([.add(3), .nothing], to: &state)
        #expect(step.effects.map { dispatched($0.effect) } == [[.mark(2), .mark(6), .mark(4)], [.mark(6), .mark(4)]])
    }

    @Test func `a reducer's error that is no rejection restores the state and names the event`() throws {
        let engine = EventEngine(ManyReducers())
        var state = engine.definition.defaultState
        let failure = #expect(throws: ReducerError.self) { try engine.apply([.add(1), .add(13)], to: &state) }
        #expect(failure?.eventName == "add")
        #expect(failure?.error is Broken)
        #expect(state == engine.definition.defaultState)
        #expect(throws: RejectedEventError.self) { try engine.apply([.add(14)], to: &state) }
    }

    @Test func `a reducer's effect with another event type is a failure`() {
        struct Foreign: AppDefinition {
            let name = "foreign"
            let defaultState = TallyApp.State(t: Screen(), p: Tally())
            var reducers: [AnyReducer<TallyApp.State>] { [AnyReducer(Reducer())] }

            struct Reducer: EventReducer {
                func reduce(
                    into state: inout TallyApp.State,
                    queuedEvent: QueuedEvent,
                    effects: inout ReducerEffects
                ) { effects.add(.dispatch(Marble.mark("x"))) }
            }

            func reduce(into state: inout TallyApp.State, event: TallyEvent) {}
        }
        var state = Foreign().defaultState
        #expect(throws: ReducerError.self) { try EventEngine(Foreign()).apply([.nothing], to: &state) }
    }

    @Test func `an event's JSON forms are also its Codable form`() throws {
        let value = try JSONValue(parsing: Array(#"{"bounds":{"low":1,"high":2}}"#.utf8))
        var reader = JSONReader(Array(#"{"bounds":{"low":1,"high":2}}"#.utf8))
        #expect(try TallyEvent(json: &reader) == .bounds(low: 1, high: 2))
        #expect(value["bounds"] != nil)
    }
}
