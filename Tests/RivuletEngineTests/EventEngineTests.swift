// Part of Rivulet. See README.md for the architecture.
// Checks what one step of an app does to its state.

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

    @Test func `a rejection after a write puts the state back`() {
        var state = engine.definition.defaultState
        #expect(throws: EventRejection("title must not be empty")) {
            try engine.apply([.add(1), .rename("")], to: &state)
        }
        #expect(state == engine.definition.defaultState)
    }

    @Test func `several events are one transaction whose changes are net`() throws {
        var state = engine.definition.defaultState
        let step = try engine.apply([.add(3), .add(-3), .mark(1), .mark(2)], to: &state)
        #expect(step.recording.changes.map(\.path) == ["/p/marks", "/t/lastEvent"])
    }

    @Test func `what a wrapper changed in a written value is told`() throws {
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
        #expect(step.effects.count == 2)
        guard case .dispatch([.chain(1)]) = step.effects.first else {
            Issue.record("the first effect is not chain's: \(step.effects)")
            return
        }
    }

    @Test func `an event's JSON forms are also its Codable form`() throws {
        let value = try JSONValue(parsing: Array(#"{"bounds":{"low":1,"high":2}}"#.utf8))
        var reader = JSONReader(Array(#"{"bounds":{"low":1,"high":2}}"#.utf8))
        #expect(try TallyEvent(json: &reader) == .bounds(low: 1, high: 2))
        #expect(value["bounds"] != nil)
    }
}
