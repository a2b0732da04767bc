// This file owns the measured states, tracked and plain.

import RivuletObservation

@ObservableState
struct Address: Equatable, Sendable {
    var city = "Bern"
    var zip = 3000
}

@ObservableState
struct Profile: Equatable, Sendable {
    var name = "Ada"
    var age = 36
    var address = Address()
}

@ObservableState
struct Item: Equatable, Sendable, Identifiable {
    var id = 0
    var title = "An item"
    var done = false
}

@ObservableState
struct Tracked: Equatable, Sendable {
    var count = 0
    var title = "A title that does not fit in a small string"
    var list: [Int] = []
    var profile = Profile()
    var items = Keyed<Item>()
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...1_000_000_000)
    @ObservationStateIgnored
    var level: Int = 0
    @ObservableStateWrapper(Box<[Int]>.self)
    @ObservationStateIgnored
    var boxed: [Int] = []
}

struct PlainAddress: Equatable, Sendable {
    var city = "Bern"
    var zip = 3000
}

struct PlainProfile: Equatable, Sendable {
    var name = "Ada"
    var age = 36
    var address = PlainAddress()
}

struct PlainItem: Equatable, Sendable {
    var id = 0
    var title = "An item"
    var done = false
}

struct Plain: Equatable, Sendable {
    var count = 0
    var title = "A title that does not fit in a small string"
    var list: [Int] = []
    var profile = PlainProfile()
    var items: [Int: PlainItem] = [:]
    var level = 0
    var boxed: [Int] = []
}

@ObservableValue
struct Value {
    var count = 0
    var title = ""
}
