// This file owns the tests of types that could conflict with generated code: members with the names of Swift's types,
// deprecated or conditional fields, and classes. Most of the tests only check that the code compiles, because warnings
// are errors.

import Observation
import RivuletObservation
import Testing

/// Types that redefine the plain names of Swift's types.
enum SwiftNames {
    struct Int: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct String: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct Bool: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct UInt64: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct Optional: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct Array: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct Set: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct Dictionary: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct KeyPath: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct PartialKeyPath: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct Never: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct Error: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct Observation: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct ObservedNode: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct StateField: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    struct JSONReader: Swift.Codable, Swift.Equatable, Swift.Sendable {}
    enum CodingKey {}
    enum Equatable {}
    enum AnyObject {}
    enum Hashable {}
    enum Sendable {}
    enum Codable {}

    @ObservableState
    struct State: Swift.Equatable, Swift.Sendable {
        var number = 1
        var text: Swift.String
        var own = Int()
        #if DEBUG
        var extra = 1
        #endif
    }

    @ObservableState
    struct PlainState: Swift.Equatable, Swift.Sendable {
        var number = 1
        @ObservableStateWrapper(Clamped<Swift.Int>.self, config: 0...9)
        @ObservationStateIgnored
        var level: Swift.Int = 3
    }

    @ObservableState
    enum Phase: Swift.Equatable, Swift.Sendable {
        case idle
        case running(State)
        case failed(code: Swift.Int, reason: Swift.String)
    }

    @ObservableValue
    struct Value: Swift.Equatable, Swift.Codable {
        var number = 1
        var own = String()
    }

    @AppEvent
    enum Event {
        case go
        case set(Swift.Int)
        @Sensitive case say(text: Swift.String, times: Swift.Int = 1)
    }
}

@ObservableValue
struct Aging: Codable, Equatable {
    @available(*, deprecated, message: "use current")
    var former = 1
    var current = 2
}

@ObservableState
struct AgingState: Equatable {
    @available(*, deprecated, message: "use current")
    var former = 1
    var current = 2
}

@ObservableValue
struct ConditionalValue: Codable, Equatable {
    var first = 1
    #if DEBUG
    var debugged = 2 {
        didSet { debugged = max(debugged, 2) }
    }
    #else
    var released = 3
    #endif
    #if NOTHING_OF_THE_KIND
    var missing: Missing
    #endif
    var last = 4

    func recordRead(of keyPath: KeyPath<Self, Int>) { access(keyPath: keyPath) }
}

/// A class with fields that are observed separately.
final class PanelModel {
    @Observing var title = ""
    @Observing var leaf = Leaf()
    @Observing private(set) var count: Int
    @Observing var level = 0 {
        didSet {
            let level = min(level, 9)
            self.level = level
        }
    }
    var plain = 0

    init(count: Int) {
        self.count = count
    }

    func increment() { count += 1 }
}

class BaseModel<Content> {
    @Observing var content: Content

    init(_ content: Content) {
        self.content = content
    }
}

@Suite
struct AwkwardTypeTests {
    @Test
    func `members may have the names of Swift's types`() throws {
        let state = try SwiftNames.State(jsonBytes: Array(#"{"text":"a"}"#.utf8))
        #expect(state.text == "a")
        #expect(SwiftNames.PlainState(number: 2, level: 40).level == 9)
        let failed = SwiftNames.Phase.failed(code: 1, reason: "x").jsonBytes()
        #expect(failed == Array(#"{"failed":{"code":1,"reason":"x"}}"#.utf8))
        #expect(try SwiftNames.Event(jsonBytes: Array(#"{"set":1}"#.utf8)).eventName == "set")
        #expect(SwiftNames.Event.say(text: "").isSensitive)
        final class Holder {
            var value = SwiftNames.Value()
        }
        #expect(fires(Holder(), reading: { _ = $0.value.number }, writing: { $0.value.number = 2 }))
    }

    @Test
    func `a deprecated field is a field`() {
        final class Holder {
            var value = Aging()
        }
        // Access by the protocol, because code that names a deprecated field must be deprecated itself.
        func position<Value: ObservableValue>(of keyPath: PartialKeyPath<Value>) -> Int? {
            Value._$position(of: keyPath)
        }
        #expect(position(of: \Aging.current) == 1)
        #expect(fires(Holder(), reading: { $0.value.access(keyPath: \.current) }, writing: { $0.value.current = 3 }))
        #expect(AgingState._$fields.map(\.name) == ["former", "current"])
    }

    @Test
    func `a field in #if is a field while the condition holds`() {
        final class Holder {
            var value = ConditionalValue()
        }
        let holder = Holder()
        #expect(fires(holder, reading: { _ = $0.value.last }, writing: { $0.value.last = 5 }))
        #expect(fires(holder, reading: { $0.value.recordRead(of: \.last) }, writing: { $0.value.last = 6 }))
        #if DEBUG
        #expect(fires(holder, reading: { _ = $0.value.debugged }, writing: { $0.value.debugged = 5 }))
        #expect(!fires(holder, reading: { _ = $0.value.first }, writing: { $0.value.debugged = 1 }))
        #expect(holder.value.debugged == 2)
        #expect(holder.value.jsonText == #"{"debugged":2,"first":1,"last":6}"#)
        #endif
    }

    @Test
    func `B-07: fields of a class are observed one by one`() {
        let panel = PanelModel(count: 1)
        #expect(fires(panel, reading: { _ = $0.title }, writing: { $0.title = "x" }))
        #expect(!fires(panel, reading: { _ = $0.title }, writing: { $0.title = "x" }))
        #expect(!fires(panel, reading: { _ = $0.title }, writing: { $0.increment() }))
        #expect(fires(panel, reading: { _ = $0.count }, writing: { $0.increment() }))
        #expect(panel.count == 3)
        #expect(!fires(panel, reading: { _ = $0.leaf }, writing: { $0.leaf.g = 1 }))
        #expect(fires(panel, reading: { _ = $0.leaf.g }, writing: { $0.leaf.g = 2 }))
        #expect(fires(panel, reading: { _ = $0.leaf }, writing: { $0.leaf = Leaf() }))
        panel.level = 50
        #expect(panel.level == 9)
        let base = BaseModel(Leaf())
        #expect(!fires(base, reading: { _ = $0.content }, writing: { $0.content.g = 1 }))
    }
}

extension ConditionalValue {
    fileprivate var jsonText: String {
        var writer = JSONWriter()
        CodableJSON.encode(self, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
