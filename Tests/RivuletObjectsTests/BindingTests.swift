// Owns the tests of bindings, and of bindings with writes that are sent as events.

import RivuletObjects
import Testing

@Suite struct BindingTests {
    private struct Address: Equatable, Sendable {
        var street = ""
        var number = 0
    }

    private final class Person: ObservableObject {
        @Published var address: Address = Address()

        init() {
            setupPublished()
        }
    }

    private enum Change {
        case set(Int)
    }

    @Test func `C-10: a binding to a part writes the whole once`() {
        let person = Person()
        let log = person.counted()
        let number = person.$address.number
        number.wrappedValue = 7
        #expect(person.address == Address(street: "", number: 7))
        #expect(log.entries.count == 1)
    }

    @Test func `C-10: a binding is made from two functions, a constant or another binding`() {
        let log = Log<Int>()
        @Binding(get: { 4 }, set: { log.add($0) }) var four: Int
        four = 5
        #expect(four == 4)
        #expect(log.entries == [5])
        #expect(Binding(projectedValue: $four).wrappedValue == 4)
        let constant = Binding.constant("a")
        constant.wrappedValue = "b"
        #expect(constant.wrappedValue == "a")
    }

    @Test func `D-29: a value equal to the present value is not sent`() {
        let counter = Counter()
        let sent = Log<Int>()
        let registry = ObjectRegistry<Change>(appDispatch: { event in
            if case .set(let value) = event { sent.add(value) }
        })
        let binding = makeBinding(
            get: { Float(counter.count) },
            send: { registry.appDispatch(Change.set(Int($0))) }
        )
        binding.wrappedValue = 0
        #expect(sent.entries.isEmpty)
        binding.wrappedValue = 3
        #expect(sent.entries == [3])
        #expect(binding.wrappedValue == 0, "a write only sends an event")
        counter.count = 3
        binding.wrappedValue = 3
        #expect(sent.entries == [3])
    }
}
