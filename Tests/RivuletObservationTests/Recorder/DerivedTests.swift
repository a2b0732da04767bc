// This file owns the tests of derived values: their dependencies, and the moments at which they are computed again.

import RivuletJSON
import RivuletObservation
import SeededRandom
import Synchronization
import Testing

@Suite
struct DerivedTests {
    private var state = Screen()

    /// Edits the state and returns the changes.
    private mutating func edit(_ body: (inout Screen) -> Void) -> [StateChange] {
        ChangeRecorder.record(&state, body).changes
    }

    /// Edits the state and updates a value.
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
    mutating func `a derived value is computed again only when a field that it read has changed`() {
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
    mutating func `the key paths of a derived value change with the state`() {
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
    mutating func `a derived value that reads a whole nested state depends on all its fields`() {
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
    mutating func `a derived value that reads nil depends on the optional`() {
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
    func `a derived value that iterates depends on the order and on the fields that it reads`() {
        var state = Backlog()
        state.tasks = [BacklogItem(id: "a", title: "x"), BacklogItem(id: "b")]
        var count = state.observe { $0.tasks.count }
        var open = state.observe { state in state.tasks.count { !$0.isDone } }
        var first = state.observe { $0.tasks[id: "a"]?.title }
        var all = state.observe { $0.tasks }
        #expect(count.keyPaths == ["/tasks"])
        #expect(open.keyPaths == ["/tasks", "/tasks/a/isDone", "/tasks/b/isDone"])
        #expect(first.keyPaths == ["/tasks/a/title"])
        func touched(_ body: (inout Backlog) -> Void) -> [Bool] {
            let changes = ChangeRecorder.record(&state, body).changes
            return [
                count.update(to: state, after: changes), open.update(to: state, after: changes),
                first.update(to: state, after: changes), all.update(to: state, after: changes),
            ]
        }
        #expect(touched { $0.tasks[id: "a"]?.title = "y" } == [false, false, true, true])
        #expect(touched { $0.tasks[id: "b"]?.isDone = true } == [false, true, false, true])
        #expect(touched { $0.tasks.append(BacklogItem(id: "c")) } == [true, true, false, true])
        #expect(touched { $0.tasks.move(id: "c", to: 0) } == [true, true, false, true])
        #expect(touched { $0.tasks[id: "a"] = nil } == [true, true, true, true])
        #expect(touched { $0.tasks[id: "a"] = BacklogItem(id: "a", title: "z") } == [true, true, true, true])
        #expect(touched { $0.tasks = [] } == [true, true, true, true])
        #expect(touched { $0.other += 1 } == [false, false, false, false])
        #expect((count.value, open.value, first.value, all.value) == (0, 0, nil, []))
    }

    @Test
    func `an update is the same as a new computation, whatever has changed`() {
        var random = SeededGenerator(seed: 7)
        var state = Backlog()
        let computations: [@Sendable (Backlog) -> String] = [
            { "\($0.tasks.count)" },
            { state in state.tasks.filter { $0.isDone }.map(\.id).joined() },
            { $0.tasks.first?.title ?? "" },
            { String(decoding: $0.tasks.jsonBytes(), as: UTF8.self) },
            { $0.tasks[id: "3"]?.title ?? "none" },
            { "\($0.tasks.contains(id: "5")) \($0.tasks.index(id: "2") ?? -1)" },
        ]
        var derived = computations.map { state.observe($0) }
        for _ in 0..<600 {
            let id = "\(Int.random(in: 0..<8, using: &random))"
            let changes = ChangeRecorder.record(&state) { state in
                switch Int.random(in: 0..<7, using: &random) {
                case 0: state.tasks.append(BacklogItem(id: id, title: id))
                case 1: state.tasks[id: id] = nil
                case 2: state.tasks.move(id: id, to: Int.random(in: 0..<4, using: &random))
                case 3: state.tasks[id: id]?.isDone.toggle()
                case 4: state.tasks[id: id]?.title += "!"
                case 5: state.tasks[id: id] = BacklogItem(id: id, isDone: true)
                default: state.other += 1
                }
            }.changes
            for index in derived.indices {
                derived[index].update(to: state, after: changes)
                #expect(derived[index].value == computations[index](state))
            }
        }
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
    func `computing a derived value does not change the state`() {
        let before = state
        let derived = state.observe { $0.address }
        #expect(derived.value == before.address)
        #expect(state._$node == nil)
    }

    @Test
    func `a comparison is a read of the whole state, unless a field in a wrapper differs`() {
        let shelf = NovelShelf()
        func read(_ other: Novel) -> [String] { shelf.observe { ($0.book.title, $0.book == other) }.keyPaths }
        #expect(read(Novel(title: "Emma")) == ["/book", "/book/title"])
        #expect(read(Novel()) == ["/book", "/book/title"])
        #expect(read(Novel(stars: 3)) == ["/book/title"])
    }
}

/// A state with a nested state that has a wrapper.
@ObservableState
struct NovelShelf: Equatable, Sendable {
    var book = Novel()
}

/// The nested state.
@ObservableState
struct Novel: Equatable, Sendable {
    var title = ""
    @ObservableStateWrapper(Clamped<Int>.self, config: 1...5)
    @ObservationStateIgnored
    var stars: Int = 1
}

/// A state with a collection.
@ObservableState
struct Backlog: Equatable, Sendable {
    var tasks: Keyed<BacklogItem> = []
    var other = 0
}

/// An element of the collection.
@ObservableState
struct BacklogItem: Equatable, Sendable, Identifiable {
    var id = ""
    var title = ""
    var isDone = false
}

/// A counter of the calls of escaping closures.
private final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func increment() { value.withLock { $0 += 1 } }
}
