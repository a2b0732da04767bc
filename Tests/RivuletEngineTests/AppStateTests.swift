// Checks the two-part state, with tracked halves and with plain ones.

import CounterFixture
import Observation
import RivuletEngine
import RivuletJSON
import RivuletObservation
import Synchronization
import Testing

private struct Saved: PersistentState {
    var count = 0
    var words: [String] = []
}

private struct Shown: Equatable, Sendable {
    var last: String?
}

private enum Deed: AppEvent, Equatable {
    case add(Int)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

private struct Stranger: AppEvent {
    var persist: Bool { true }
    var isUIEvent: Bool { false }
}

/// Events with the default answers.
@AppEvent
enum Signal {
    case short, long
}

/// Events with answers of their own.
@AppEvent
enum Blink {
    case on

    var persist: Bool { false }
    var isUIEvent: Bool { false }
}

@Suite struct AppStateTests {
    private typealias DeedState = AppState<Saved, Shown>

    @Test func `D-01: halves may be plain values`() {
        var state = AppState(t: Shown(), p: Saved())
        let before = state
        state.p.count += 1
        state.p.words.append("a")
        state.t.last = "a"
        #expect(state != before)
        state.p = Saved()
        state.t = Shown()
        #expect(state == before)
        state[keyPath: \DeedState.p.count] = 4
        #expect(state.p.count == 4)
    }

    @Test func `D-01: an AppState is a tracked state if both halves are`() throws {
        #expect(DeedState.self as Any.Type as? any ObservableState.Type == nil)
        #expect(TallyApp.State.self as Any.Type as? any ObservableState.Type != nil)
        var state = TallyApp().defaultState
        let recording = ChangeRecorder.record(&state) { state in
            state.p.limits.low = 3
            state.t.lastEvent = "x"
        }
        #expect(recording.changes.map(\.path) == ["/p/limits/low", "/t/lastEvent"])
        #expect(recording.changes.map(\.isTransient) == [false, true])
        let replaced = ChangeRecorder.record(&state) { $0.p = Tally() }
        #expect(replaced.changes.map(\.path) == ["/p/limits"])
        #expect(TallyApp.State._$fields.map(\.name) == ["p", "t"])
        #expect(TallyApp.State._$fields.map(\.isTransient) == [false, true])
    }

    @Test func `D-01: an AppState's JSON has both halves, and its JSON on disk only the stored half`() throws {
        var state = AppState(t: Screen(), p: Tally())
        state.p.title = "T"
        state.t.lastEvent = "x"
        let bytes = state.jsonBytes()
        #expect(try TallyApp.State(jsonBytes: bytes) == state)
        #expect(try JSONValue(parsing: state.jsonBytes(includesTransient: false))["t"] == nil)
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(#""t":{"lastEvent":"x"}}"#))
        for (document, missing) in [(#"{"t":{}}"#, "p"), (#"{"p":{}}"#, "t"), ("{}", "p")] {
            let error = #expect(throws: JSONError.self) { try TallyApp.State(jsonBytes: Array(document.utf8)) }
            #expect(error?.detail.contains("\"\(missing)\"") == true)
        }
    }

    /// Writes to the state as generic code does, which knows only the protocols of the halves.
    private func edit<P: PersistentState, T>(_ state: inout AppState<P, T>, _ edit: (inout P) -> Void, p: P?) {
        edit(&state.p)
        if let p { state.p = p }
    }

    @Test func `a write by generic code over any halves is recorded like any other`() {
        var state = TallyApp().defaultState
        let edited = ChangeRecorder.record(&state) { state in
            state.p.title = "first"
            edit(&state, { $0.count = 7 }, p: nil)
            state.p.ratio = 0.25
        }
        #expect(edited.changes.map(\.path) == ["/p/count", "/p/title", "/p/ratio"])
        let replaced = ChangeRecorder.record(&state) { state in edit(&state, { $0.count = 1 }, p: Tally()) }
        #expect(replaced.changes.map(\.path) == ["/p/count", "/p/title", "/p/ratio"])
    }

    @Test func `observers of a field are notified of direct writes and of writes by generic code`() {
        let owner = ObservedState(TallyApp().defaultState)
        let told = Mutex(0)
        func watch() {
            withObservationTracking {
                _ = owner.state.p.count
            } onChange: {
                told.withLock { $0 += 1 }
            }
        }
        watch()
        owner.state.p.count = 1
        #expect(told.withLock { $0 } == 1)
        watch()
        owner.state.p.title = "not watched"
        #expect(told.withLock { $0 } == 1)
        edit(&owner.state, { $0.count = 2 }, p: nil)
        #expect(told.withLock { $0 } == 2)
    }

    @Test func `D-02: the version of a stored half has a default`() {
        struct Newer: PersistentState {
            var version: Int { 3 }
        }
        #expect(Saved().version == 1)
        #expect(Newer().version == 3)
    }

    @Test func `D-03: an app without a transient half has EmptyTransient`() {
        let state = AppState(t: EmptyTransient(), p: Saved(count: 2))
        #expect(state.t == EmptyTransient())
        #expect(AppState(t: EmptyTransient(), p: Tally()).jsonBytes().suffix(8) == Array(#","t":{}}"#.utf8))
    }

    @Test func `D-05: an enum with @AppEvent has defaults, which it may replace`() {
        #expect(Signal.long.persist && Signal.long.isUIEvent)
        #expect(!Blink.on.persist && !Blink.on.isUIEvent)
    }

    @Test func `D-05, D-06: a queued event has its event and the uptime at which it was queued`() {
        let first = QueuedEvent(event: Deed.add(1))
        let second = QueuedEvent(event: Stranger())
        #expect(first.event as? Deed == .add(1))
        #expect(first.event.persist && first.event.isUIEvent)
        #expect(second.event is Stranger && !second.event.isUIEvent)
        #expect(first.timestamp > 0 && first.timestamp <= second.timestamp)
        let named: EnqueuedEvent = second
        #expect(named.enqueuedAt == second.timestamp)
    }
}
