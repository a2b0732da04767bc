// This file owns the protocol of ObservedShapes and PlainShapes. Both have the same source: property observers of every
// shape.

/// The members that both types have.
protocol ObserverShapes {
    var log: [String] { get set }
    var name: String { get set }
    var maybe: Int? { get set }
    var count: Int { get set }
    var level: Int { get set }
    var item: Int { get set }
    var phase: Int { get set }
    var guarded: Int? { get set }
    var total: Int { get set }
    var number: Int { get set }
    var clash: Int { get set }
    var error: String { get set }
    var oldValue: Int { get set }
    var newValue: Int { get set }
    var items: [Int] { get set }
    var compared: [Int] { get set }
    var deep: Int { get set }
    var called: Int { get set }
    var deferred: Int { get set }
    var stepped: Int { get set }
    var keyed: Int { get set }
    var accessed: Int { get set }
    var copied: Int { get set }
    var pair: Int { get set }
    var swapped: Int { get set }
    var text: String { get set }
    var scoped: Int { get set }
    var queue: [Int] { get set }
    var wrapped: Int { get set }
    var captured: Int { get set }
    var chosen: Int { get set }
    var label: String { get set }
    var inner: Inner? { get set }
    var inPlace: Inner { get set }
    var `default`: Int { get set }
    var sequence: Int { get set }
    var thrown: Int { get set }

    init()
    mutating func step()
}

struct Stop: Error {}

struct Inner: Equatable {
    var value = 1
}

struct Other {
    var label = "other"
}
