// This file owns the states that the randomised oracle writes to: every kind of field, nested in every way.

import RivuletJSON
import RivuletObservation

@ObservableState
struct OracleInner: Equatable, Sendable {
    var number = 0
    var text = ""
    var list: [Int] = []
    @ObservableStateWrapper(Clamped<Int>.self, config: -5...5)
    @ObservationStateIgnored
    var clamped: Int = 0
    @ObservableStateWrapper(OmitCoding<Int>.self)
    @ObservationStateIgnored
    var omitted: Int = 0
    @Transient var seen = 0
    var real = 0.5
}

@ObservableState
struct OracleMiddle: Equatable, Sendable {
    var first = OracleInner()
    var second = OracleInner()
    var maybe: OracleInner?
    var text = "m"
    var mode = OracleMode.idle
    var maybeMode: OracleMode?
}

/// Cases with payloads of every kind.
///
/// Two cases have the same payload type.
@ObservableState
indirect enum OracleMode: Equatable, Sendable {
    case idle
    case counting(Int)
    case editing(OracleInner)
    case reviewing(OracleInner)
    case maybe(OracleInner?)
    case failed(code: Int, inner: OracleInner)
    case list([OracleInner])
    case nested(OracleMode)
    case tag(OracleTag)
    case keyed(Keyed<OracleElement>)
}

@ObservableState
struct OracleNode: Equatable, Sendable {
    var number = 1
    var text = "n"
    @ObservableStateWrapper(Box<[String]>.self)
    @ObservationStateIgnored
    var boxedList: [String] = []
    @ObservableStateWrapper(Box<OracleMiddle>.self)
    @ObservationStateIgnored
    var boxed: OracleMiddle = OracleMiddle()
    var inner = OracleInner()
    var sibling = OracleInner()
    var middle = OracleMiddle()
    var maybe: OracleMiddle?
    @ObservableStateWrapper(PresentationState<OracleNode>.self, projected: true)
    @ObservationStateIgnored
    var child: OracleNode?
    @ObservableStateWrapper(Even.self)
    @ObservationStateIgnored
    var even: OracleInner = OracleInner()
    var items: [OracleInner] = []
    var table: [String: OracleInner] = [:]
    @Transient var passing = OracleInner()
    @Replaceable var section = OracleMiddle()
    var tag: OracleTag = OracleTag()
    var keyed: Keyed<OracleElement> = []
    @ObservableStateWrapper(Box<Keyed<OracleElement>>.self)
    @ObservationStateIgnored
    var boxedKeyed: Keyed<OracleElement> = []
    var maybeKeyed: Keyed<OracleElement>?
    @Transient var passingKeyed: Keyed<OracleElement> = []
    var groups: Keyed<OracleGroup> = []
}

/// An element of a keyed collection.
///
/// Its ids have several spellings.
@ObservableState
struct OracleElement: Equatable, Sendable, Identifiable {
    var id = ""
    var text = ""
    var inner = OracleInner()
    @Transient var seen = 0
}

/// An element with a nested collection.
@ObservableState
struct OracleGroup: Equatable, Sendable, Identifiable {
    var id = 0
    var elements: Keyed<OracleElement> = []
    @ObservableStateWrapper(Clamped<Int>.self, config: -5...5)
    @ObservationStateIgnored
    var level: Int = 0
}

/// A wrapper that is created again after every edit of its nested state, and makes the state's number even.
struct Even: ObservableWrapper, Equatable, Sendable {
    var wrappedValue: OracleInner

    static func makeWrapper(from value: OracleInner, config: Void) -> Even {
        var value = value
        if value.number % 2 != 0 { value.number += 1 }
        return Even(wrappedValue: value)
    }
}

/// A leaf that is only Codable and has an `==` that is always true.
struct OracleTag: Codable, Equatable, Sendable {
    var a = 0
    var b = ""

    static func == (first: OracleTag, second: OracleTag) -> Bool { true }
}

typealias OracleRoot = Halves<OracleNode, OracleNode>
