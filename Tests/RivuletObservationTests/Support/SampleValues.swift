// This file owns the observable values of the tests, and the owners that hold them.

import Observation
public import RivuletObservation
import Synchronization

@ObservableValue
struct Leaf: Equatable, Hashable, Codable, Sendable {
    var g = 0
    var label = "leaf"
}

@ObservableValue
struct Counted: Equatable, Codable, Sendable {
    var count = 0
    @Observing var title = ""
    var child = Leaf()
    var maybe: Leaf?
    var items: [Leaf] = []
    @Ignoring var cache = 0
    let limit: Int
    static let defaultValue = 1
    var double: Int { count * 2 }

    init(count: Int = 0, limit: Int = 9) {
        self.count = count
        self.limit = limit
    }
}

/// A state with a value in it, and a value with a state in it.
@ObservableState
struct LeafHolder: Equatable {
    var leaf = Leaf()
}

@ObservableValue
struct AddressHolder {
    var address = Address()
}

/// A plain owner, as a store or a view model is.
final class CountedOwner {
    var state = Counted()
}

/// An owner that Swift's own macro makes observable, with the property that it must not observe.
@Observable
final class ObservableOwner {
    @ObservationIgnored var state = Counted()
    var coarse = Counted()
}

/// Objects with and without an `==`.
final class PlainObject {}

final class EqualObject: Equatable {
    static func == (first: EqualObject, second: EqualObject) -> Bool { true }
}

/// A value with a field of each kind of comparison.
@ObservableValue
struct Compared {
    var number = 1
    var plainObject = PlainObject()
    var equalObject = EqualObject()
    var closure: () -> Void = {}
}

/// A value that decides itself which writes notify observers, and has handwritten members under generated names.
@ObservableValue
struct OwnMembers {
    var temperature = 20.0
    var name = "n"
    @Ignoring var note = ""

    func copy() -> Self {
        var copy = OwnMembers()
        copy.note = "mine"
        return copy
    }

    private func shouldNotifyObservers(_ old: Double, _ new: Double) -> Bool { abs(old - new) >= 1 }

    private func shouldNotifyObservers<Value>(_ old: Value, _ new: Value) -> Bool where Value: Equatable { true }
}

/// A value with property observers on its fields, which work as in a plain struct.
@ObservableValue
struct Watched {
    @Ignoring var log: [String] = []
    var level = 0 {
        willSet { log.append("will \(newValue)") }
        didSet { log.append("did \(oldValue)") }
    }
    var clamped = 0 {
        didSet { clamped = min(clamped, 10) }
    }
}

/// A public, generic value with a lazy member that is not tracked.
@ObservableValue
public struct OpenValue<Element: Sendable & Equatable>: Sendable {
    /// A field with a keyword as its name.
    public var `default`: Element
    /// A field that only members write.
    public private(set) var writes = 0
    @Ignoring lazy var cache = 1

    /// Writes both fields.
    public mutating func write(_ element: Element) {
        `default` = element
        writes += 1
    }
}

/// A value with a computed member, which observers reach by its key path only.
@ObservableValue
struct External: Sendable {
    static let outside = Mutex(0)
    var count = 0
    var outside: Int {
        get {
            access(keyPath: \.outside)
            return Self.outside.withLock { $0 }
        }
        nonmutating set {
            withMutation(keyPath: \.outside) { Self.outside.withLock { $0 = newValue } }
        }
    }

    func read() { access(keyPath: \.count) }

    func touch() { withMutation(keyPath: \.count) {} }
}
