// This file owns the states to which the tests of coercions write new values.

import RivuletJSON
import RivuletObservation

/// A field with a default that is out of its range.
@ObservableState
struct Dial: Equatable, Sendable {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...10)
    @ObservationStateIgnored
    var turn: Int = 30
}

/// Fields with and without defaults, in wrappers of all kinds.
@ObservableState
struct Gauge: Equatable, Sendable, Identifiable {
    var id: Int
    @ObservableStateWrapper(Clamped.self, config: 0...100)
    @ObservationStateIgnored
    var level: Int = 50
    @ObservableStateWrapper(Shortened.self)
    @ObservationStateIgnored
    var name: String
    var dial = Dial()

    /// A gauge with no value that its wrappers change.
    static func plain(_ id: Int) -> Gauge { Gauge(id: id, name: "") }
}

/// A gauge for one type of value.
@ObservableState
struct Slot<Value: JSONCodable & Codable & Comparable & Sendable>: Equatable, Sendable {
    var limit: Value
    @ObservableStateWrapper(Raised<Value>.self)
    @ObservationStateIgnored
    var value: Value
}

/// A wrapper of a generic state's field.
struct Raised<Value: Comparable & Sendable>: ObservableWrapper, Equatable, Sendable {
    var wrappedValue: Value

    static func makeWrapper(from value: Value, config: Void) -> Raised {
        let smallest = (0 as? Value) ?? value
        return Raised(wrappedValue: max(value, smallest))
    }
}

@ObservableState
enum Display: Equatable, Sendable {
    case off
    case gauge(Gauge)
    case optional(Gauge?)
    case pair(Gauge, Dial)
}

/// Every position at which a new value can be put.
@ObservableState
struct Panel: Equatable, Sendable {
    var gauge = Gauge.plain(0)
    @Replaceable var second = Gauge.plain(0)
    var gauges = Keyed<Gauge>()
    var optional: Gauge?
    var display = Display.off
    @ObservableStateWrapper(Box<Gauge>.self)
    @ObservationStateIgnored
    var boxed: Gauge = .plain(0)
    @ObservableStateWrapper(PresentationState<Gauge>.self)
    @ObservationStateIgnored
    var shown: Gauge?
    var slot = Slot(limit: 1, value: 1)
    var text = Slot(limit: "", value: "")
    var list: [Gauge] = []
    var dials: [Dial] = []
    var table: [String: [Gauge?]] = [:]
}
