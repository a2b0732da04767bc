import Rivulet

/// What a counter keeps across restarts.
@ObservableState
struct Counter: PersistentState {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...100) @ObservationStateIgnored
    var count: Int = 0
    @ObservableStateWrapper(Clamped<Int>.self, config: 1...10) @ObservationStateIgnored
    var step: Int = 1
    var title = "Counter"
    @ObservableStateWrapper(OmitCoding<String?>.self) @ObservationStateIgnored
    var note: String?
    @ObservableStateWrapper(Box<[Int]>.self) @ObservationStateIgnored
    var history: [Int] = []
    var limits = Limits()
}

/// When a counter warns, and with what words.
@ObservableState
struct Limits: Equatable, Sendable {
    var warnAt = 80
    var label = "near the top"
}

/// What a counter shows while it is in memory.
@ObservableState
struct CounterScreen: Equatable, Sendable {
    var lastEvent: String?
    @ObservableStateWrapper(PresentationState<Warning>.self, projected: true) @ObservationStateIgnored
    var warning: Warning?
}

/// A presented warning.
@ObservableState
struct Warning: Equatable, Sendable {
    var text: String
}

/// What can happen to a counter.
@AppEvent
enum CounterEvent: Equatable {
    case increment, decrement
    case setCount(Int)
    case setStep(Int)
    case rename(String)
    @Sensitive case setNote(String?)
    case setLimits(warnAt: Int, label: String)
    case setWarnAt(Int)
    case dismissWarning
    case touch
    case noop
    case reset

    var persist: Bool { self != .touch }
    var isUIEvent: Bool { true }
}

/// The counter, as the server hosts it.
struct CounterApp: AppDefinition {
    typealias State = AppState<Counter, CounterScreen>

    let name = "counter"
    let defaultState = State(t: CounterScreen(), p: Counter())

    var views: [StateView<State>] { [StateView(CounterForwarder.self)] }

    var bindings: [StateBinding<CounterEvent>] {
        [
            StateBinding("/p/count", CounterEvent.setCount),
            StateBinding("/p/step", CounterEvent.setStep),
            StateBinding("/p/title", CounterEvent.rename),
            StateBinding("/p/limits/warnAt", CounterEvent.setWarnAt),
        ]
    }

    func reduce(into state: inout State, event: CounterEvent) throws {
        let before = state.p.count
        switch event {
        case .increment: state.p.count += state.p.step
        case .decrement: state.p.count -= state.p.step
        case .setCount(let count): state.p.count = count
        case .setStep(let step): state.p.step = step
        case .rename(let title):
            guard !title.isEmpty else { throw EventRejection("title must not be empty") }
            state.p.title = title
        case .setNote(let note): state.p.note = note
        case .setLimits(let warnAt, let label):
            state.p.limits.warnAt = warnAt
            state.p.limits.label = label
        case .setWarnAt(let warnAt): state.p.limits.warnAt = warnAt
        case .dismissWarning: state.t.warning = nil
        case .touch: break
        case .noop: return
        case .reset: state = defaultState
        }
        state.t.lastEvent = event.eventName
        if event != .reset { follow(state.p.count, from: before, in: &state) }
    }

    /// Keeps the last ten counts, and warns when the limit is reached from below.
    private func follow(_ count: Int, from before: Int, in state: inout State) {
        guard count != before else { return }
        state.p.history.append(count)
        if state.p.history.count > 10 { state.p.history.removeFirst() }
        if before < state.p.limits.warnAt, count >= state.p.limits.warnAt {
            state.t.warning = Warning(text: "\(count) is \(state.p.limits.label)")
        }
    }

    func effect(of event: CounterEvent, state: State) -> Effect<CounterEvent> {
        event == .increment && state.p.count == 100 ? .dispatch(.rename("Full")) : .none
    }
}
