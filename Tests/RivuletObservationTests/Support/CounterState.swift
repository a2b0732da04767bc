// This file owns the states of the `counter` example for the tests of this module.

import RivuletJSON
import RivuletObservation

@ObservableState
struct CounterLimits: Equatable, Sendable {
    var warnAt = 80
    var label = "near the top"
}

@ObservableState
struct CounterWarning: Equatable, Sendable {
    var text: String
}

@ObservableState
struct CounterPersistent: Equatable, Sendable, Codable {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...100)
    @ObservationStateIgnored
    var count: Int = 0
    @ObservableStateWrapper(Clamped<Int>.self, config: 1...10)
    @ObservationStateIgnored
    var step: Int = 1
    var title = "Counter"
    @ObservableStateWrapper(OmitCoding<String?>.self)
    @ObservationStateIgnored
    var note: String?
    @ObservableStateWrapper(Box<[Int]>.self)
    @ObservationStateIgnored
    var history: [Int] = []
    var limits = CounterLimits()
}

@ObservableState
struct CounterTransient: Equatable, Sendable {
    var lastEvent: String?
    @ObservableStateWrapper(PresentationState<CounterWarning>.self, projected: true)
    @ObservationStateIgnored
    var warning: CounterWarning?
}

/// The shape of the engine's `AppState`.
@ObservableState
struct Halves<
    Persistent: ObservableState & Equatable & Sendable,
    Transient: ObservableState & Equatable & Sendable
>: Equatable, Sendable {
    @Replaceable var p: Persistent
    @Transient @Replaceable var t: Transient

    init(t: Transient, p: Persistent) {
        self.p = p
        self.t = t
    }
}

typealias CounterState = Halves<CounterPersistent, CounterTransient>

extension Halves where Persistent == CounterPersistent, Transient == CounterTransient {
    init() {
        self.init(t: CounterTransient(), p: CounterPersistent())
    }
}
