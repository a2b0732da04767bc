// Checks the calls of reducers of both forms.

import CounterFixture
import RivuletEngine
import RivuletObservation
import Testing

@Suite struct AnyReducerTests {
    /// A reducer in WAVE's by-value form.
    private struct Doubling: EventReducer {
        func reduce(state: TallyApp.State, queuedEvent: QueuedEvent) -> TallyApp.State {
            var state = state
            state.p.count *= 2
            return state
        }
    }

    private struct Stranger: AppEvent {
        var persist: Bool { true }
        var isUIEvent: Bool { false }
    }

    @Test func `a by-value reducer reports its changes like one that edits in place`() throws {
        var state = TallyApp().defaultState
        state.p.count = 4
        let reducer = AnyReducer(Doubling())
        let recording = try ChangeRecorder.record(&state) { state in
            try reducer.reduce(into: &state, queuedEvent: QueuedEvent(event: TallyEvent.nothing))
        }
        #expect(state.p.count == 8)
        #expect(recording.changes.map(\.path) == ["/p/count"])
    }

    @Test func `an event of another type changes nothing`() throws {
        var state = TallyApp().defaultState
        let reducer = AnyReducer<TallyApp.State>(TallyEvent.self) { state, _ in state.p.count = 1 }
        try reducer.reduce(into: &state, queuedEvent: QueuedEvent(event: Stranger()))
        #expect(state.p.count == 0)
        try reducer.reduce(into: &state, queuedEvent: QueuedEvent(event: TallyEvent.nothing))
        #expect(state.p.count == 1)
    }
}
