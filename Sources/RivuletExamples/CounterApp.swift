import Rivulet

/// The stored half of a counter, which survives restarts.
@ObservableState
struct Counter: PersistentState {
    @Wrapped(Clamped.self, 0...100) var count = 0
    @Wrapped(Clamped.self, 1...10) var step = 1
    var title = "Counter"
    @Wrapped(Omitted.self) var note: String?
    @Wrapped(Boxed.self) var history: [Int] = []
    var limits = Limits()
}

/// The count at which a counter warns, and the text of the warning.
@ObservableState
struct Limits: Equatable, Sendable {
    var warnAt = 80
    var label = "near the top"
}

/// The half of a counter that is in memory only.
@ObservableState
struct CounterScreen: Equatable, Sendable {
    var lastEvent: String?
    @Wrapped(Presented.self, projected: true) var warning: Warning?
}

/// A presented warning.
@ObservableState
struct Warning: Equatable, Sendable {
    var text: String
}

/// The events of a counter.
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
}

/// The counter app.
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
            guard !title.isEmpty else { throw RejectionError("title must not be empty") }
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

    /// Records the last ten counts, and shows a warning when the count reaches the limit from below.
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
