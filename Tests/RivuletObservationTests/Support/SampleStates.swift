// This file owns the states of every shape, shared by the tests of this module.

public import RivuletJSON
public import RivuletObservation

@ObservableState
struct Address: Hashable, Sendable {
    var city = "Bern"
    var zip = 3000
}

/// A state with required fields, fields of every access level, and members that are no fields.
@ObservableState
struct Profile: Hashable, Sendable {
    enum Role: String, JSONCodable, Sendable { case admin, guest }

    static var shared: Int { 7 }
    let constant = 1
    var id: String
    var role = Role.guest
    private(set) var visits = 0
    var address = Address()
    var `default`: Bool = false
    var nickname: String?
    @ObservationStateIgnored var cache = 0
    var label: String { "\(id):\(visits)" }

    mutating func visit() { visits += 1 }
}

/// Fields in wrappers, one of them without an initial value.
@ObservableState
struct Wrapped: Equatable, Sendable {
    @ObservableStateWrapper(Clamped.self, config: 0...100)
    @ObservationStateIgnored
    var percent: Int = 150
    @ObservableStateWrapper(Clamped<Double>.self, config: 0.0...1.0)
    @ObservationStateIgnored
    var share: Double
    @ObservableStateWrapper(OmitCoding<[String]>.self)
    @ObservationStateIgnored
    var secrets: [String] = []
    @ObservableStateWrapper(Box<Address>.self)
    @ObservationStateIgnored
    var address: Address
    @ObservableStateWrapper(PresentationState<Address>.self, projected: true)
    @ObservationStateIgnored
    var alert: Address?
    @ObservableStateWrapper(Shortened.self)
    @ObservationStateIgnored
    var name: String = ""

    init(share: Double = 2, address: Address = Address()) {
        self.share = share
        self.address = address
    }
}

/// A wrapper that is created again after every edit.
struct Shortened: ObservableWrapper, Equatable, Sendable {
    var wrappedValue: String

    static func makeWrapper(from value: String, config: Void) -> Shortened {
        Shortened(wrappedValue: String(value.prefix(3)))
    }
}

/// A type that is only Codable.
struct Plain: Codable, Equatable, Sendable {
    var x = 1
    var y: [String: Int] = ["b": 1, "a": 2]
}

/// A public and generic state.
@ObservableState
public struct PublicState<Value: JSONCodable & Codable & Sendable & Equatable>: Equatable, Sendable, Codable {
    /// Required, because a type parameter has no default.
    public var value: Value
    /// Written in this module only.
    public internal(set) var values: [Value] = []
    /// Never on disk.
    @Transient public var passing: Value?
    var plain = Plain()
    @ObservableStateWrapper(Box<Plain>.self)
    @ObservationStateIgnored
    var boxed: Plain = Plain()
    /// On the heap.
    @ObservableStateWrapper(Box<[Value]>.self)
    @ObservationStateIgnored
    public var many: [Value] = []
}

/// A state that contains itself, with a transient field in the elements of an array.
@ObservableState
struct Tree: Equatable, Sendable {
    var name = ""
    @Transient var isOpen = false
    var children: [Tree] = []
    @ObservableStateWrapper(PresentationState<Tree>.self)
    @ObservationStateIgnored
    var shown: Tree?
    var ratio: Double?
}

/// A feature as apps write it: an enum that contains a state and the types of the state's fields.
///
/// The generated extensions are outside the enum, so they do not see the short names of these types.
enum Feature {
    enum Filter: String, JSONCodable, Codable, Sendable { case all, open }

    struct Upper: ObservableWrapper, Equatable, Sendable {
        var wrappedValue: String

        static func makeWrapper(from value: String, config: Int) -> Upper {
            Upper(wrappedValue: String(value.uppercased().prefix(config)))
        }
    }

    static let nameMax = 5

    @AppEvent
    enum Event: Equatable {
        case setFilter(Filter)
        case rename(Filter, to: String = "\(nameMax)")
    }

    @ObservableState
    enum Mode: Equatable, Sendable {
        case idle
        case filtering(Filter)
    }

    @ObservableState
    struct State: Equatable, Sendable {
        var id: Filter
        var filter: Filter = .all
        var other = Filter.open
        @ObservableStateWrapper(Upper.self, config: nameMax)
        @ObservationStateIgnored
        var name: String
        @ObservableStateWrapper(Upper.self, config: nameMax)
        @ObservationStateIgnored
        var title: String = "title"
    }
}
