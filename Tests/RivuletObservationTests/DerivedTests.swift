// Part of Rivulet. See README.md for the architecture.
// This file owns the tests of derived values: what they depend on, and when they are computed again.

import RivuletObservation
import Synchronization
import Testing

@Suite
struct DerivedTests {
    private var state = Screen()

    /// Edits the state and gives what changed.
    private mutating func edit(_ body: (inout Screen) -> Void) -> [StateChange] {
        ChangeRecorder.record(&state, body).changes
    }

    /// Edits the state and brings a value up to date.
    private mutating func update<Value>(_ derived: inout Derived<Screen, Value>, _ body: (inout Screen) -> Void) -> Bool
    {
        let changes = edit(body)
        return derived.update(to: state, after: changes)
    }

    @Test
    func `a value depends on the key paths that it reads`() {
        #expect(state.observe { $0.count }.keyPaths == ["/count"])
        #expect(state.observe { $0.address.city.count + $0.count }.keyPaths == ["/address/city", "/count"])
        #expect(state.observe { $0.percent + $0.boxed.zip }.keyPaths == ["/boxed/zip", "/percent"])
        #expect(state.observe { _ in 1 }.keyPaths.isEmpty)
    }

    @Test
    mutating func `it is computed again only when something that it read has changed`() {
        let counter = Counter()
        var derived = state.observe { state in
            counter.increment()
            return "\(state.address.city) \(state.count)"
        }
        let firstUpdate = update(&derived) { $0.title = "other" }
        #expect(!firstUpdate)
        let secondUpdate = update(&derived) { $0.address.zip = 1 }
        #expect(!secondUpdate)
        let thirdUpdate = update(&derived) { $0.count += 0 }
        #expect(!thirdUpdate)
        #expect(counter.count == 1)
        let fourthUpdate = update(&derived) { $0.address.city = "Ulm" }
        #expect(fourthUpdate)
        let fifthUpdate = update(&derived) { $0.address = Address(city: "Rom") }
        #expect(fifthUpdate)
        #expect(derived.value == "Rom 0")
        let sixthUpdate = update(&derived) { $0 = Screen(count: 7) }
        #expect(sixthUpdate)
        #expect(derived.value == "Bern 7")
        #expect(counter.count == 4)
    }

    @Test
    mutating func `what it depends on may change with the state`() {
        var derived = state.observe { $0.count == 0 ? $0.title : $0.address.city }
        #expect(derived.keyPaths == ["/count", "/title"])
        let firstUpdate = update(&derived) { $0.address.city = "Ulm" }
        #expect(!firstUpdate)
        let secondUpdate = update(&derived) { $0.count = 1 }
        #expect(secondUpdate)
        #expect(derived.value == "Ulm")
        #expect(derived.keyPaths == ["/address/city", "/count"])
    }

    @Test
    mutating func `a nested state that is taken as a whole counts with all its fields`() {
        var whole = state.observe { $0.address }
        var compared = state.observe { $0.address == Address() }
        var encoded = state.observe { $0.address.city + String(decoding: $0.address.jsonBytes(), as: UTF8.self) }
        let changes = edit { $0.address.zip = 1 }
        let firstUpdate = whole.update(to: state, after: changes)
        #expect(firstUpdate)
        let secondUpdate = compared.update(to: state, after: changes)
        #expect(secondUpdate)
        let thirdUpdate = encoded.update(to: state, after: changes)
        #expect(thirdUpdate)
        #expect(whole.value.zip == 1)
        #expect(!compared.value)
    }

    @Test
    mutating func `a value that is not there counts`() {
        var derived = state.observe { $0.alert?.city ?? "none" }
        #expect(derived.keyPaths == ["/alert"])
        let firstUpdate = update(&derived) { $0.alert = Address() }
        #expect(firstUpdate)
        #expect(derived.keyPaths == ["/alert/city"])
        let secondUpdate = update(&derived) { $0.alert?.zip = 1 }
        #expect(!secondUpdate)
        let thirdUpdate = update(&derived) { $0.alert = nil }
        #expect(thirdUpdate)
        #expect(derived.value == "none")
    }

    @Test
    func `a value that reads an omitted field is computed again every time`() {
        var wrapped = Wrapped()
        var derived = wrapped.observe { $0.secrets.count }
        wrapped.secrets.append("x")
        let firstUpdate = derived.update(to: wrapped, after: [])
        #expect(firstUpdate)
        #expect(derived.value == 1)
    }

    @Test
    func `reading leaves no trace in the state`() {
        let before = state
        let derived = state.observe { $0.address }
        #expect(derived.value == before.address)
        #expect(state._$place == nil)
    }
}

/// Counts calls from closures that escape.
private final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func increment() { value.withLock { $0 += 1 } }
}
