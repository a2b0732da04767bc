// Owns the tests of observing an object, and of creating one when it is needed.

import RivuletObjects
import Testing

@Suite struct ObservedObjectTests {
    private struct CounterView {
        @ObservedObject var counter: Counter

        func onUpdate(_ action: @escaping @Sendable () -> Void) { _counter.onUpdate(action) }
    }

    private struct OwningView {
        @StateObject var counter: Counter

        init(_ make: @escaping @Sendable () -> Counter) {
            _counter = StateObject(wrappedValue: make())
        }

        func onUpdate(_ action: @escaping @Sendable () -> Void) { _counter.onUpdate(action) }
    }

    @Test func `C-15: an object is observed from the start`() {
        let log = Log<Void>()
        let counter = Counter()
        let view = CounterView(counter: counter)
        counter.count = 1
        view.onUpdate { log.add(()) }
        counter.count = 2
        #expect(log.entries.count == 1)
        #expect(view.counter === counter)
    }

    @Test func `C-15: a new object updates once, and the old object is no longer observed`() {
        let log = Log<Void>()
        let (old, new) = (Counter(), Counter())
        let view = CounterView(counter: old)
        view.onUpdate { log.add(()) }
        view.counter = new
        #expect(log.entries.count == 1)
        old.count = 1
        #expect(log.entries.count == 1)
        new.count = 1
        #expect(log.entries.count == 2)
    }

    @Test func `C-15: the projected value has the object and bindings to its fields`() {
        let log = Log<Void>()
        let view = CounterView(counter: Counter())
        view.onUpdate { log.add(()) }
        let name: Binding<String> = view.$counter.name
        name.wrappedValue = "x"
        #expect(view.counter.name == "x")
        #expect(view.$counter.wrappedValue === view.counter)
        #expect(log.entries.count == 1)
    }

    @Test func `C-15: a freed observer is no subscriber, and retains no object`() {
        weak var gone: Counter?
        let counter = Counter()
        let log = Log<Void>()
        do {
            let view = CounterView(counter: counter)
            view.onUpdate { log.add(()) }
            let own = CounterView(counter: Counter())
            own.onUpdate { log.add(()) }
            gone = own.counter
        }
        counter.count = 1
        #expect(log.entries.isEmpty)
        #expect(gone == nil)
    }

    @Test func `C-16: an object is made at the first access, once`() async {
        let made = Log<Void>()
        let view = OwningView {
            made.add(())
            return Counter()
        }
        #expect(made.entries.isEmpty)
        let ids = await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { ObjectIdentifier(view.counter) } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(made.entries.count == 1)
    }

    @Test func `C-16: a copy of the wrapper has and observes the same object`() {
        let log = Log<Void>()
        let view = OwningView { Counter() }
        let copy = view
        copy.onUpdate { log.add(()) }
        view.$counter.count.wrappedValue = 2
        #expect(copy.counter.count == 2)
        #expect(log.entries.count == 1)
    }
}
