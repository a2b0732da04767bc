// This file owns the tests of @ObservableValue, by the rows of <Tests/Rows/Systems.md#b-valueobservation>.

import Foundation
import Observation
import RivuletObservation
import Synchronization
import Testing

@Suite
struct ObservableValueTests {
    private let owner = CountedOwner()

    @Test
    func `B-01: a value is an ObservableValue with a constant id, and its copy() has another id`() {
        func id(_ value: some ObservableValue) -> UUID { value._$id }
        let leaf = Leaf()
        #expect(id(leaf) == id(leaf))
        #expect(id(leaf) != id(Leaf()))
        #expect(id(leaf.copy()) != id(leaf))
    }

    @Test
    func `B-02: the macro makes a value observable by Swift's own protocol`() {
        #expect(Leaf() as Any is any Observable)
        #expect(Leaf() as Any is any ObservableValue)
    }

    @Test
    func `B-03: the generated members can be called`() {
        let value = External()
        #expect(fires(value, reading: { $0.read() }, writing: { $0.touch() }))
        #expect(value.withMutation(keyPath: \.count) { 7 } == 7)
        #expect(value.copy()._$id != value._$id)
    }

    @Test
    func `B-04: members that the type has itself are not added again`() {
        #expect(OwnMembers().copy().note == "mine")
        let owner = Owned(OwnMembers())
        #expect(fires(owner, reading: { _ = $0.value.name }, writing: { $0.value.name = "n" }))
    }

    @Test
    func `B-05: members are as visible as their type, and the memberwise initialiser stays`() {
        var value = OpenValue(default: 1, writes: 0)
        value.write(2)
        #expect(value.default == 2)
        #expect(value.copy().writes == 1)
        #expect(Leaf(g: 3, label: "x").g == 3)
        #expect(Leaf(label: "y").label == "y")
    }

    @Test
    func `B-06: stored variables are observed, also through computed ones; constants and ignored ones are not`() {
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count = 1 }))
        #expect(fires(owner, reading: { _ = $0.state.double }, writing: { $0.state.count = 2 }))
        #expect(!fires(owner, reading: { _ = ($0.state.limit, $0.state.cache) }, writing: { $0.state.cache = 1 }))
        let watched = Owned(Watched())
        #expect(fires(watched, reading: { _ = $0.value.level }, writing: { $0.value.level = 1 }))
    }

    @Test
    func `B-07: a field is written in an initialiser, whole and in place`() {
        var value = Counted(count: 4, limit: 5)
        #expect(value.count == 4)
        value.count = 5
        value.count += 1
        #expect(value.count == 6)
        #expect(value.limit == 5)
    }

    @Test
    func `B-07: property observers run at every write, as in a plain struct`() {
        var value = Watched()
        value.level = 1
        value.level = 1
        value.level += 2
        #expect(value.log == ["will 1", "did 0", "will 1", "did 1", "will 3", "did 1"])
        value.clamped = 50
        #expect(value.clamped == 10)
        value.clamped += 50
        #expect(value.clamped == 10)
    }

    @Test
    func `B-08: a write of an equal value is stored without a notification`() {
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count = 0 }))
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count = 1 }))
        let object = EqualObject()
        let compared = Owned(Compared())
        #expect(!fires(compared, reading: { _ = $0.value.equalObject }, writing: { $0.value.equalObject = object }))
        #expect(compared.value.equalObject === object)
    }

    @Test
    func `B-08: an assigned child notifies if its identity differs, even if it is equal`() {
        #expect(
            !fires(
                owner,
                reading: { _ = $0.state.child.g },
                writing: {
                    let same = $0.state.child
                    $0.state.child = same
                }
            )
        )
        #expect(fires(owner, reading: { _ = $0.state.child.g }, writing: { $0.state.child = Leaf() }))
        // An observer of the field reads the new child afterwards.
        #expect(fires(owner, reading: { _ = $0.state.child.g }, writing: { $0.state.child.g = 1 }))
    }

    @Test
    func `B-09: the comparer follows from the field's type, and the type's own comparer has priority`() {
        let compared = Owned(Compared())
        let object = compared.value.plainObject
        #expect(!fires(compared, reading: { _ = $0.value.number }, writing: { $0.value.number = 1 }))
        #expect(!fires(compared, reading: { _ = $0.value.plainObject }, writing: { $0.value.plainObject = object }))
        #expect(
            fires(compared, reading: { _ = $0.value.plainObject }, writing: { $0.value.plainObject = PlainObject() })
        )
        #expect(
            !fires(compared, reading: { _ = $0.value.equalObject }, writing: { $0.value.equalObject = EqualObject() })
        )
        #expect(fires(compared, reading: { _ = $0.value.closure }, writing: { $0.value.closure = {} }))
        let own = Owned(OwnMembers())
        #expect(!fires(own, reading: { _ = $0.value.temperature }, writing: { $0.value.temperature = 20.5 }))
        #expect(own.value.temperature == 20.5)
        #expect(fires(own, reading: { _ = $0.value.temperature }, writing: { $0.value.temperature = 22 }))
    }

    @Test
    func `B-10: an in-place edit notifies without a comparison, but an edit of a child does not`() {
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count += 0 }))
        #expect(!fires(owner, reading: { _ = $0.state.child }, writing: { $0.state.child.g = 1 }))
        #expect(fires(owner, reading: { _ = $0.state.child.g }, writing: { $0.state.child.g = 2 }))
    }

    @Test
    func `B-10: an in-place edit is a read of the field`() {
        #expect(fires(owner, reading: { $0.state.count += 1 }, writing: { $0.state.count = 7 }))
    }

    @Test
    func `B-10: a child that is replaced inside an edit notifies, as in @ObservableState`() {
        func replace(_ child: inout Leaf) { child = Leaf() }
        #expect(fires(owner, reading: { _ = $0.state.child }, writing: { replace(&$0.state.child) }))
    }

    @Test
    func `B-10: observers are notified when an edit ends with a throw`() {
        struct Stop: Error {}
        func stop(_ count: inout Int) throws { throw Stop() }
        #expect(
            fires(
                owner,
                reading: { _ = $0.state.count },
                writing: {
                    owner in
                    #expect(throws: Stop.self) { try stop(&owner.state.count) }
                }
            )
        )
    }

    @Test
    func `B-11: a reader of one field is not notified of another field`() {
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.title = "x" }))
        #expect(fires(owner, reading: { _ = $0.state.title }, writing: { $0.state.title = "y" }))
    }

    @Test
    func `B-12: a copy shares the observers of the original until copy()`() {
        #expect(
            fires(
                owner,
                reading: { _ = $0.state.count },
                writing: {
                    var copy = $0.state
                    copy.count += 1
                }
            )
        )
        #expect(
            !fires(
                owner,
                reading: { _ = $0.state.count },
                writing: {
                    var copy = $0.state.copy()
                    copy.count += 1
                }
            )
        )
    }

    @Test
    func `B-13: copy() has equal fields, and a write to either value does not notify the other's observers`() {
        owner.state.title = "same"
        let other = CountedOwner()
        other.state = owner.state.copy()
        #expect(other.state == owner.state)
        #expect(other.state._$id != owner.state._$id)
        #expect(other.state.child._$id == owner.state.child._$id)
        #expect(
            !fires(
                owner,
                reading: { _ = $0.state.count },
                writing: {
                    _ in
                    other.state.count = 5
                }
            )
        )
        #expect(
            !fires(
                other,
                reading: { _ = $0.state.count },
                writing: {
                    _ in
                    owner.state.count = 5
                }
            )
        )
    }

    @Test
    func `B-14: an ignored variable is stored as it is and notifies no observer`() {
        #expect(!fires(owner, reading: { _ = $0.state.cache }, writing: { $0.state.cache = 3 }))
        #expect(owner.state.cache == 3)
        #expect(Mirror(reflecting: owner.state).children.contains { $0.label == "cache" })
    }

    @Test
    func `B-15: an optional child is treated as a child unless it is nil`() {
        #expect(fires(owner, reading: { _ = $0.state.maybe }, writing: { $0.state.maybe = Leaf() }))
        #expect(!fires(owner, reading: { _ = $0.state.maybe }, writing: { $0.state.maybe?.g = 1 }))
        #expect(fires(owner, reading: { _ = $0.state.maybe?.g }, writing: { $0.state.maybe?.g = 2 }))
        #expect(fires(owner, reading: { _ = $0.state.maybe }, writing: { $0.state.maybe = Leaf() }))
        #expect(fires(owner, reading: { _ = $0.state.maybe }, writing: { $0.state.maybe = nil }))
    }

    @Test
    func `B-15: an edit of an array's element notifies readers of the array and of the element`() {
        owner.state.items = [Leaf(), Leaf()]
        #expect(fires(owner, reading: { _ = $0.state.items.count }, writing: { $0.state.items[0].g = 1 }))
        let element = owner.state.items[1]
        #expect(
            fires(
                element,
                reading: { _ = $0.g },
                writing: {
                    _ in
                    owner.state.items[1].g = 1
                }
            )
        )
    }

    @Test
    func `B-16: an @Observable owner must ignore the value, or each write notifies readers of all fields`() {
        let owner = ObservableOwner()
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.title = "x" }))
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count = 1 }))
        #expect(fires(owner, reading: { _ = $0.coarse.count }, writing: { $0.coarse.title = "x" }))
    }

    @Test
    func `B-16: the sequence of Observations gives the latest value of one field`() async {
        let owner = SharedOwner()
        var values = Observations { owner.read(\.count) }.makeAsyncIterator()
        #expect(await values.next() == 0)
        owner.write { $0.title = "not watched" }
        for count in 1...5 { owner.write { $0.count = count } }
        #expect(await values.next() == 5)
    }

    @Test
    func `the identity is no part of equality, hash and coding`() throws {
        let (first, second) = (Leaf(g: 1), Leaf(g: 1))
        #expect(first == second)
        #expect(first == first.copy())
        #expect(Set([first, second, first.copy()]).count == 1)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var value = Counted(count: 2)
        value.cache = 3
        let data = try encoder.encode(value)
        #expect(
            String(decoding: data, as: UTF8.self)
                == #"{"cache":3,"child":{"g":0,"label":"leaf"},"count":2,"items":[],"limit":9,"title":""}"#
        )
        let decoded = try JSONDecoder().decode(Counted.self, from: data)
        #expect(decoded == value)
        #expect(decoded._$id != value._$id)
    }

    @Test
    func `a value in a state is recorded as a whole, with its public names in JSON`() {
        var holder = LeafHolder()
        let recording = ChangeRecorder.record(&holder) { $0.leaf.g = 1 }
        #expect(recording.changes.map(\.path) == ["/leaf"])
        #expect(
            recording.changes.map { $0.value.map { String(decoding: $0, as: UTF8.self) } } == [
                #"{"g":1,"label":"leaf"}"#
            ]
        )
        #expect(ChangeRecorder.record(&holder) { $0.leaf = $0.leaf.copy() }.changes.isEmpty)
        let owner = ObservedState(holder)
        #expect(fires(owner, reading: { _ = $0.state.leaf.label }, writing: { $0.state.leaf.label = "x" }))
    }

    @Test
    func `a state in a value notifies as a whole`() {
        let owner = Owned(AddressHolder())
        #expect(fires(owner, reading: { _ = $0.value.address.city }, writing: { $0.value.address.city = "x" }))
        #expect(fires(owner, reading: { _ = $0.value.address }, writing: { $0.value.address.city = "y" }))
        #expect(!fires(owner, reading: { _ = $0.value.address }, writing: { $0.value.address = Address(city: "y") }))
    }

    @Test
    func `a field's key path observes the field, and a computed member's key path observes that member only`() {
        let value = External()
        let owner = Owned(value)
        #expect(fires(owner, reading: { $0.value.read() }, writing: { $0.value.count += 1 }))
        #expect(fires(owner, reading: { _ = $0.value.count }, writing: { $0.value.touch() }))
        #expect(fires(owner, reading: { _ = $0.value.outside }, writing: { $0.value.outside = 1 }))
        #expect(!fires(owner, reading: { _ = $0.value.outside }, writing: { $0.value.count += 1 }))
        let generic = Owned(OpenValue(default: 1))
        #expect(fires(generic, reading: { $0.value.access(keyPath: \.default) }, writing: { $0.value.write(2) }))
        #expect(fires(generic, reading: { $0.value.access(keyPath: \.writes) }, writing: { $0.value.write(3) }))
    }
}

/// An owner of any value.
private final class Owned<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}

/// An owner that several threads may write to.
private final class SharedOwner: Sendable {
    private let state = Mutex(Counted())

    func read<Value: Sendable>(_ keyPath: KeyPath<Counted, Value>) -> Value {
        state.withLock { $0 }[keyPath: keyPath]
    }

    func write(_ change: (inout Counted) -> Void) { state.withLock { change(&$0) } }
}
