// Owns the samples of Documentation/Effects.md, compiled and run.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import RivuletTestClock
import Testing

// DocumentationTests checks that this file has every sample of that page, line by line.

@ObservableState
struct Search: PersistentState {
    var text = ""
    var hits: [String] = []
    var failures = 0
    var seconds = 0
}

@AppEvent
enum SearchEvent: Equatable {
    case type(String)
    case found([String])
    case failed
    case watch
    case unwatch
    case second

    var persist: Bool { false }
    var isUIEvent: Bool { true }
}

struct SearchApp: AppDefinition {
    typealias State = AppState<Search, EmptyTransient>

    let name = "search"
    let defaultState = State(t: EmptyTransient(), p: Search())
    var find: @Sendable (String) async throws -> [String]

    func reduce(into state: inout State, event: SearchEvent) {
        switch event {
        case .type(let text): state.p.text = text
        case .found(let hits): state.p.hits = hits
        case .failed: state.p.failures += 1
        case .second: state.p.seconds += 1
        case .watch, .unwatch: break
        }
    }

    func effect(of event: SearchEvent, state: State) -> Effect<SearchEvent> {
        switch event {
        case .type(let text):
            .run { [find] dispatch in
                dispatch(.found(try await find(text)))
            } catch: { _, dispatch in
                dispatch(.failed)
            }
            .debounce(id: "search", for: .milliseconds(300))
        case .watch: .every(.seconds(1), id: "watch", .second)
        case .unwatch: .merge(.cancel(id: "watch"), .cancel(id: "search"))
        case .found, .failed, .second: .none
        }
    }

    func effect(whenLoaded state: State) -> Effect<SearchEvent> {
        state.p.text.isEmpty ? .none : .dispatch(.type(state.p.text))
    }
}

struct Counting: EffectReducer {
    func reduce(into state: inout SearchApp.State, event: SearchEvent) throws -> Effect<SearchEvent> {
        guard case .second = event, state.p.seconds >= 60 else { return .none }
        return .dispatch(.unwatch)
    }
}

@Suite struct DocumentedEffectsTests {
    /// Runs the works of an effect by hand.
    private func play(_ effect: Effect<SearchEvent>, for duration: Duration) -> [SearchEvent] {
        final class Host: EffectHost {
            var events: [SearchEvent] = []
            func enqueue(_ event: SearchEvent, from source: EffectSource) -> EffectError? {
                events.append(event)
                if let tick = source.tick { ticks.append(tick) }
                return nil
            }
            var ticks: [EffectTaskID] = []
            var driver: EffectDriver<SearchEvent>?
            func drive() {
                for tick in ticks { driver?.tickDidEnd(tick) }
                ticks = []
            }
        }
        let clock = ManualClock()
        let executor = ManualExecutor()
        let host = Host()
        let driver = EffectDriver<SearchEvent>(
            EffectSurroundings(
                executor: executor,
                clock: EffectClock(clock),
                taskExecutor: executor,
                limits: EngineLimits()
            ),
            host: host
        ) { fault, eventName in Issue.record("\(eventName): \(fault)") }
        host.driver = driver
        driver.begin([EventEffect(eventName: "test", effect: effect)])
        clock.advance(by: duration, running: executor)
        driver.stop()
        host.driver = nil
        return host.events
    }

    private struct Offline: Error {}

    private let app = SearchApp { text in
        guard text != "offline" else { throw Offline() }
        return ["\(text)!"]
    }

    @Test(arguments: [(SearchEvent.type("a"), [SearchEvent.found(["a!"])]), (.type("offline"), [.failed])])
    func `the sample searches after the typing has stopped, and handles an error`(
        _ event: SearchEvent,
        _ expected: [SearchEvent]
    ) {
        let effect = app.effect(of: event, state: app.defaultState)
        #expect(play(effect, for: .milliseconds(299)).isEmpty)
        #expect(play(effect, for: .milliseconds(300)) == expected)
    }

    @Test func `the sample's timer ticks every second until it is cancelled`() {
        let watch = app.effect(of: .watch, state: app.defaultState)
        let unwatch = app.effect(of: .unwatch, state: app.defaultState)
        #expect(play(watch, for: .seconds(3)) == [.second, .second, .second])
        #expect(play(.merge(watch, .after(.milliseconds(2_500), unwatch)), for: .seconds(9)) == [.second, .second])
    }

    @Test func `the sample's reducer ends the timer after a minute`() throws {
        var state = app.defaultState
        state.p.seconds = 60
        guard case .dispatch([.unwatch]) = try Counting().reduce(into: &state, event: .second).operation else {
            Issue.record("the timer does not end")
            return
        }
    }

    @Test func `a manual clock moves only when the test advances it`() {
        let clock = ManualClock()
        let executor = ManualExecutor()
        let sleeper = Task(executorPreference: executor) { try await clock.sleep(for: .seconds(2)) }
        clock.advance(by: .seconds(1), running: executor)
        #expect(clock.deadlines == [ManualClock.Instant(offset: .seconds(2))])
        clock.advance(by: .seconds(1), running: executor)
        #expect(clock.deadlines.isEmpty)
        sleeper.cancel()
    }
}
