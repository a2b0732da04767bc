// This file owns the tests of fields with a declared type that hides that their value is observable.

import Observation
import RivuletObservation
import Testing

@ObservableValue
struct Parcel<Content> {
    var content: Content
    var spare: Content?
    var all: [Content] = []
    var weight = 0
}

enum Crate<Content> {
    @ObservableValue
    struct Layer {
        var content: Content
    }
}

extension Crate {
    @ObservableValue
    struct Lid {
        var content: Content
    }
}

@ObservableValue
struct Shelter {
    var guest: Any
    var value: any Observable
}

@Suite
struct OpenTypeTests {
    private final class Holder<Value> {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private let holder = Holder(Parcel(content: Leaf()))

    @Test
    func `B-08: an assigned child in a field of generic type notifies unless its identity is the same`() {
        let same = holder.value.content
        #expect(!fires(holder, reading: { _ = $0.value.content }, writing: { $0.value.content = same }))
        #expect(fires(holder, reading: { _ = $0.value.content }, writing: { $0.value.content = Leaf() }))
        let number = Holder(Parcel(content: 1))
        #expect(fires(number, reading: { _ = $0.value.content }, writing: { $0.value.content = 2 }))
    }

    @Test
    func `B-10: an edit of a child in a field of generic type notifies readers of the child's field`() {
        #expect(!fires(holder, reading: { _ = $0.value.content }, writing: { $0.value.content.g += 1 }))
        #expect(fires(holder, reading: { _ = $0.value.content.g }, writing: { $0.value.content.g += 1 }))
        func replace(_ leaf: inout Leaf) { leaf = Leaf() }
        #expect(fires(holder, reading: { _ = $0.value.content }, writing: { replace(&$0.value.content) }))
        let number = Holder(Parcel(content: 1))
        #expect(fires(number, reading: { _ = $0.value.content }, writing: { $0.value.content += 0 }))
    }

    @Test
    func `B-15: an optional child of generic type is treated as a child, and an array's element is not`() {
        #expect(fires(holder, reading: { _ = $0.value.spare }, writing: { $0.value.spare = Leaf() }))
        #expect(!fires(holder, reading: { _ = $0.value.spare }, writing: { $0.value.spare?.g += 1 }))
        #expect(fires(holder, reading: { _ = $0.value.spare?.g }, writing: { $0.value.spare?.g += 1 }))
        #expect(fires(holder, reading: { _ = $0.value.spare }, writing: { $0.value.spare = nil }))
        holder.value.all = [Leaf()]
        #expect(fires(holder, reading: { _ = $0.value.all }, writing: { $0.value.all[0].g += 1 }))
        let maybe = Holder(Parcel<Leaf?>(content: Leaf()))
        #expect(!fires(maybe, reading: { _ = $0.value.content }, writing: { $0.value.content?.g += 1 }))
    }

    @Test
    func `a child is treated as a child if its field's type is the outer type's parameter, or Any`() {
        let layer = Holder(Crate<Leaf>.Layer(content: Leaf()))
        #expect(!fires(layer, reading: { _ = $0.value.content }, writing: { $0.value.content.g += 1 }))
        let lid = Holder(Crate<Leaf>.Lid(content: Leaf()))
        #expect(!fires(lid, reading: { _ = $0.value.content }, writing: { $0.value.content.g += 1 }))
        let leaf = Leaf()
        let shelter = Holder(Shelter(guest: leaf, value: leaf))
        #expect(!fires(shelter, reading: { _ = $0.value.guest }, writing: { $0.value.guest = leaf }))
        #expect(!fires(shelter, reading: { _ = $0.value.value }, writing: { $0.value.value = leaf }))
        #expect(fires(shelter, reading: { _ = $0.value.guest }, writing: { $0.value.guest = 1 }))
    }
}
