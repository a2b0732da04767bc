// Owns the tests of published fields: the notifications of a write, and their times.

import RivuletObjects
import Synchronization
import Testing

@Suite struct PublishedTests {
    /// An object with an initial value that records each of its evaluations.
    private final class Declared: ObservableObject {
        static let evaluations = Log<Int>()
        @Published var number: Int = Declared.make()
        @Published var text = String(repeating: "a", count: 2)
        @Published var numbers = [Int]()

        private static func make() -> Int {
            evaluations.add(1)
            return 5
        }
    }

    private final class Boxed<Value: Sendable & Equatable>: ObservableObject {
        @Published var value: Value
        @Published private(set) var isSet = false

        init(_ value: Value) {
            self.value = value
            setupPublished()
        }
    }

    @Test func `C-05: a field has an initial value, can be read and written, and has a binding`() {
        let field = Published(wrappedValue: 1)
        field.wrappedValue = 2
        field.projectedValue.wrappedValue += 1
        #expect(field.wrappedValue == 3)
        let copy = field
        copy.wrappedValue = 4
        #expect(field.wrappedValue == 4)
        let box = Boxed<Int?>(nil)
        box.value = 3
        #expect(box.value == 3 && !box.isSet)
    }

    @Test func `C-05: a declared value is evaluated once, and needs no annotation if it shows its type`() {
        let declared = Declared()
        #expect(Declared.evaluations.entries.count == 1)
        #expect(declared.number == 5 && declared.text == "aa" && declared.numbers.isEmpty)
        let text: Binding<String> = declared.$text
        let numbers: Binding<[Int]> = declared.$numbers
        #expect(text.wrappedValue == "aa" && numbers.wrappedValue.isEmpty)
    }

    @Test func `C-06: a callback that reads the field reads the old value`() {
        let counter = Counter()
        let seen = Log<Int>()
        counter.objectWillChange.subscribe { [weak counter] in
            if let counter { seen.add(counter.count) }
        }
        counter.count = 5
        counter.count += 1
        counter.$count.wrappedValue = 7
        #expect(seen.entries == [0, 5, 6])
        #expect(counter.count == 7)
    }

    @Test func `C-07: every write notifies once, also with an equal value and in place`() {
        let list = TodoList()
        let log = list.counted()
        list.items = []
        #expect(log.entries.count == 1)
        list.items.append(TodoItem(title: "a"))
        #expect(log.entries.count == 2)
        list.labels["home"] = 2
        #expect(log.entries.count == 3)
        list.labels["home", default: 0] += 1
        #expect(log.entries.count == 4)
        list.items[0].title = "b"
        _ = list.items.count
        #expect(log.entries.count == 4)
        #expect(list.labels == ["work": 1, "home": 3])
    }

    @Test func `C-07: an edit that throws keeps its writes`() {
        struct Failure: Error {}
        func edit(_ items: inout [Int]) throws {
            items.append(1)
            throw Failure()
        }
        let box = Boxed([0])
        let log = box.counted()
        #expect(throws: Failure.self) { try edit(&box.value) }
        #expect(box.value == [0, 1])
        #expect(log.entries.count == 1)
    }

    @Test func `C-10: a binding's writes notify like any other write`() {
        let counter = Counter()
        let log = counter.counted()
        let count = counter.$count
        count.wrappedValue = 3
        count.wrappedValue = 3
        #expect(counter.count == 3)
        #expect(log.entries.count == 2)
        counter.count = 9
        #expect(count.wrappedValue == 9)
    }

    @Test func `a value's deinit can read the field without a deadlock`() {
        final class Ending: Sendable, Equatable {
            let onEnd: @Sendable () -> Void
            init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
            deinit { onEnd() }
            static func == (first: Ending, second: Ending) -> Bool { first === second }
        }
        let box = Boxed<Ending?>(nil)
        let seen = Log<Bool>()
        box.value = Ending { [weak box] in seen.add(box?.value == nil) }
        box.value = nil
        #expect(seen.entries == [true])
    }
}
