// This file owns the tests of states with unusual shapes: conditional fields, names that generated code also uses,
// generics, access.

import RivuletJSON
import RivuletObservation
import Testing

/// Every build has exactly one of the two branches, by `os(Linux)`.
@ObservableState
struct Conditional: Equatable, Sendable {
    var first = 1
    #if os(Linux)
    var platform = "linux"
    #if !os(Linux)
    var never = 0
    #endif
    #else
    var platform = 0
    var unknown: Int
    #endif
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...9)
    @ObservationStateIgnored
    var last: Int = 5
    #if RIVULET_NEVER
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...9)
    @ObservationStateIgnored
    var off: Int = 5
    #elseif os(Linux) || os(macOS)
    var child = Address()
    #endif
}

@ObservableState
struct OnlyNever: Equatable, Sendable {
    #if RIVULET_NEVER
    var never = 0
    #endif
}

/// Fields with the names that generated code uses for its parameters, variables and members.
@ObservableState
struct Clashing: Equatable, Sendable {
    var name = 1
    var reader = 2
    var writer = 3
    var path = 4
    var edit = 5
    var old = 6
    var new = 7
    var collector = 8
    var fields = 9
    var json = 10
    var newValue = 11
    var initialValue = 12
    var wasAbsent = 13
    // swift-format-ignore: NoLeadingUnderscores
    var _x = 14
    var `init` = 15
    var `self` = 16
    var `switch`: Int
    var `two words` = 17
    @ObservableStateWrapper(PresentationState<Int>.self, projected: true)
    @ObservationStateIgnored
    var `in a wrapper`: Int? = 18
}

enum Outer<Value: JSONCodable & Codable & Equatable & Sendable> {
    @ObservableState
    struct Nested: Equatable, Sendable {
        var value: Value
        private(set) var isSet = false
        private var secret = 1
        fileprivate(set) var half = 2

        init(value: Value) { self.value = value }

        mutating func set(_ value: Value) {
            self.value = value
            isSet = true
            secret += 1
        }
    }
}

@available(macOS 15, *)
@ObservableState
struct Available: Equatable, Sendable {
    @available(macOS 15, *) var field = 1
    let constant = 1
    static let shared = Available(spelledOut: 0)
    static var computed: Int { 1 }
    var double: Int { field * 2 }
    var stored: Int {
        get { field }
        set { field = newValue }
    }
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    var unwrapped: String!
    var spelledOut: Optional<Int>
    var nested: [String: [Address?]] = [:]
    var character: [Int: Set<Int>]? = nil
}

@Suite
struct StateShapeTests {
    @Test
    func `conditional fields are fields at their positions in the source`() throws {
        let names = ["first", "platform", "last", "child"]
        #expect(Conditional._$fields.map(\.name) == names)
        var state = Conditional()
        #expect(state.json == #"{"first":1,"platform":"linux","last":5,"child":{"city":"Bern","zip":3000}}"#)
        let recording = ChangeRecorder.record(&state) { state in
            state.platform += "!"
            state.last = 90
            state.child.zip = 1
        }
        #expect(recording.changes.map(\.text) == [#"/platform="linux!""#, "/last=9", "/child/zip=1"])
        #expect(recording.coercions.map(\.path) == ["/last"])
        #expect(try Conditional(jsonBytes: state.jsonBytes()) == state)
        let derived = state.observe { $0.child.zip + $0.last }
        #expect(derived.keyPaths == ["/child/zip", "/last"])
    }

    @Test
    func `a state with all its fields disabled by #if is empty`() throws {
        #expect(OnlyNever().json == "{}")
        #expect(OnlyNever._$fields.isEmpty)
        #expect(try OnlyNever(jsonBytes: [UInt8]("{}".utf8)) == OnlyNever())
    }

    @Test
    func `fields may have the names of generated parameters, keywords, and names of several words`() throws {
        var state = Clashing(switch: 1)
        let recording = ChangeRecorder.record(&state) { state in
            state.name = 0
            state.reader = 0
            state.`self` += 1
            state.`switch` = 0
            state.`two words` = 0
            state.`in a wrapper` = 0
            state.`$in a wrapper`.dismiss()
        }
        let texts = ["/name=0", "/reader=0", "/self=17", "/switch=0", "/two words=0", "/in a wrapper=null"]
        #expect(recording.changes.map(\.text) == texts)
        #expect(try Clashing(jsonBytes: state.jsonBytes()) == state)
        #expect(state.json.hasSuffix(#""two words":0,"in a wrapper":null}"#))
    }

    @Test
    func `private fields are part of the state`() throws {
        var state = Outer<String>.Nested(value: "a")
        let recording = ChangeRecorder.record(&state) { $0.set("b") }
        #expect(recording.changes.map(\.text) == ["/value=\"b\"", "/isSet=true", "/secret=2"])
        let copy = try Outer<String>.Nested(jsonBytes: state.jsonBytes())
        #expect(copy == state)
        #expect(copy.hashValueOfJSON == state.hashValueOfJSON)
    }

    @Test
    func `only stored variables are fields`() throws {
        var state = Available(spelledOut: 1)
        #expect(
            Available._$fields.map(\.name) == ["field", "unwrapped", "spelledOut", "nested", "character"]
        )
        let recording = ChangeRecorder.record(&state) { $0.stored = 5 }
        #expect(recording.changes.map(\.text) == ["/field=5"])
        state.nested["a"] = [nil, Address()]
        #expect(try Available(jsonBytes: state.jsonBytes()) == state)
    }
}

extension ObservableState {
    fileprivate var hashValueOfJSON: Int { jsonBytes().hashValue }
}
