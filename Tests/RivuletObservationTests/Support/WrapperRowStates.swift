// This file owns the states and wrappers of the tests of rows.

import RivuletJSON
import RivuletObservation
import Synchronization

/// A wrapper that counts the writes of its value since it was created.
struct WriteCounted: ObservableWrapperProjected, Equatable, Sendable {
    typealias ProjectedValue = WriteCounted

    var wrappedValue: Int { didSet { writes += 1 } }
    var writes = 0

    var projectedValue: WriteCounted {
        get { self }
        set { self = newValue }
    }

    static func makeWrapper(from value: Int, config: Void) -> WriteCounted { WriteCounted(wrappedValue: value) }
}

/// A wrapper with a configuration and a projected value.
struct Scaled: ObservableWrapperProjected, Equatable, Sendable {
    var wrappedValue: Int
    let factor: Int

    var projectedValue: Int {
        get { wrappedValue * factor }
        set { wrappedValue = newValue / factor }
    }

    typealias ProjectedValue = Int

    static func makeWrapper(from value: Int, config: Int) -> Scaled { Scaled(wrappedValue: value, factor: config) }
}

/// A range that grows at each access.
enum GrowingRange {
    private static let upper = Mutex(0)

    static var next: ClosedRange<Int> {
        0...upper.withLock { upper in
            upper += 1
            return upper
        }
    }
}

/// Every overload of the macro.
@ObservableState
struct Overloads: Equatable, Sendable {
    @ObservableStateWrapper(Box<Int>.self)
    @ObservationStateIgnored
    var plain: Int = 1
    @ObservableStateWrapper(Box<Int>.self, "more", 2)
    @ObservationStateIgnored
    var positional: Int = 2
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...9)
    @ObservationStateIgnored
    var configured: Int = 3
    @ObservableStateWrapper(Clamped.self, config: 0...9)
    @ObservationStateIgnored
    var inferred: Int = 4
    @ObservableStateWrapper(WriteCounted.self, projected: true)
    @ObservationStateIgnored
    var projected: Int = 5
    /// Public, while `$both` is internal.
    @ObservableStateWrapper(Scaled.self, projected: true, config: 10)
    @ObservationStateIgnored
    public var both: Int = 6
    @ObservableStateWrapper(WriteCounted.self, projected: false)
    @ObservationStateIgnored
    var unprojected: Int = 7
}

/// A range that is evaluated at every write.
///
/// The range is in a state of its own, because each evaluation changes it.
@ObservableState
struct Growing: Equatable, Sendable {
    @ObservableStateWrapper(Clamped<Int>.self, config: GrowingRange.next)
    @ObservationStateIgnored
    var value: Int
}

/// Fields without an initial value, and the ways to set one.
@ObservableState
struct Injected: Equatable, Sendable {
    @ObservableStateWrapper(Box<Address>.self)
    @ObservationStateIgnored
    var byStorage: Address
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...100)
    @ObservationStateIgnored
    var byProperty: Int
    @ObservableStateWrapper(Box<String?>.self)
    @ObservationStateIgnored
    var question: String?
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    @ObservableStateWrapper(Box<String?>.self)
    @ObservationStateIgnored
    var exclamation: String!
    @ObservableStateWrapper(Box<Int?>.self)
    @ObservationStateIgnored
    var spelledOut: Optional<Int>

    init(address: Address, number: Int, spelledOut: Int?) {
        _byStorage = Box.makeWrapper(from: address)
        byProperty = number
        self.spelledOut = spelledOut
    }
}

/// Wrappers on optionals, collections and nested states.
@ObservableState
struct Collections: Equatable, Sendable {
    @ObservableStateWrapper(OmitCoding<Set<String>?>.self)
    @ObservationStateIgnored
    var hidden: Set<String>?
    @ObservableStateWrapper(Box<[String: [Int]]>.self)
    @ObservationStateIgnored
    var table: [String: [Int]] = [:]
    @ObservableStateWrapper(Box<[Address]>.self)
    @ObservationStateIgnored
    var addresses: [Address] = []
    @ObservableStateWrapper(Box<Address?>.self)
    @ObservationStateIgnored
    var optional: Address? = Address()
    @ObservableStateWrapper(Box<Screen>.self)
    @ObservationStateIgnored
    var screen: Screen = Screen()
    @ObservableStateWrapper(Box<[Int]>.self)
    @ObservationStateIgnored
    var many: [Int] = []
}
