// Part of Rivulet. See README.md for the architecture.
// This file owns the tests of who is told of which write: the table of Documentation/Observation.md.

import RivuletObservation
import Testing

/// Source: spec/systems.md §1.
@Suite
struct TruthTableTests {
    private typealias Owner = ObservedState<Screen>
    private let owner = Owner(Screen())
    private let count: (Owner) -> Void = { _ = $0.state.count }
    private let percent: (Owner) -> Void = { _ = $0.state.percent }

    @Test
    func `a new value is told, and an equal one by a wrapper only`() {
        #expect(fires(owner, reading: count, writing: { $0.state.count = 5 }))
        #expect(!fires(owner, reading: count, writing: { $0.state.count = 5 }))
        #expect(fires(owner, reading: percent, writing: { $0.state.percent = 60 }))
        #expect(fires(owner, reading: percent, writing: { $0.state.percent = 60 }))
        #expect(ChangeRecorder.differences(from: Screen(), to: Screen()).isEmpty)
    }

    @Test
    func `an edit in place is told, and a write that is clamped to the same value too`() {
        #expect(fires(owner, reading: count, writing: { $0.state.count += 0 }))
        #expect(fires(owner, reading: percent, writing: { $0.state.percent = 250 }))
        #expect(fires(owner, reading: percent, writing: { $0.state.percent += 500 }))
        var state = Screen()
        let recording = ChangeRecorder.record(&state) { state in
            state.count += 0
            state.percent = 50
            state.percent += 0
        }
        recording.expectNothing()
        let clamped = ChangeRecorder.record(&state) { $0.percent = 100 }
        let again = ChangeRecorder.record(&state) { $0.percent = 250 }
        #expect(clamped.changes.map(\.text) == ["/percent=100"])
        #expect(again.changes.isEmpty)
        #expect(again.coercions.map(\.text) == ["/percent: 250 -> 100"])
    }

    @Test(arguments: [false, true])
    func `a write inside of a child is told to observers of that field`(_ isBoxed: Bool) {
        let path: WritableKeyPath<Screen, Address> = isBoxed ? \.boxed : \.address
        func write(_ owner: Owner) {
            if isBoxed { owner.state.boxed.zip += 1 } else { owner.state.address.zip += 1 }
        }
        #expect(fires(owner, reading: { _ = $0.state[keyPath: path].zip }, writing: write))
        #expect(!fires(owner, reading: { _ = $0.state[keyPath: path].city }, writing: write))
        #expect(!fires(owner, reading: { _ = $0.state[keyPath: path] }, writing: write))
    }

    @Test
    func `a fresh child is told to observers of the child`() {
        #expect(fires(owner, reading: { _ = $0.state.address }, writing: { $0.state.address = Address(city: "x") }))
        #expect(fires(owner, reading: { _ = $0.state.boxed.city }, writing: { $0.state.boxed = Address(city: "x") }))
        let child = owner.state.address
        #expect(!fires(owner, reading: { _ in _ = child.city }, writing: { $0.state.address = Address(city: "y") }))
    }

    @Test
    func `an edit of a copied child is told at once, and its way back is not`() {
        var copy = owner.state.address
        #expect(fires(owner, reading: { _ = $0.state.address.city }, writing: { _ in copy.city = "x" }))
        #expect(!fires(owner, reading: { _ = $0.state.address.city }, writing: { $0.state.address = copy }))
        var boxed = owner.state.boxed
        #expect(fires(owner, reading: { _ = $0.state.boxed.city }, writing: { _ in boxed.city = "x" }))
        #expect(!fires(owner, reading: { _ = $0.state.boxed.city }, writing: { $0.state.boxed = boxed }))
        var state = Screen()
        let recording = ChangeRecorder.record(&state) { state in
            var copy = state.address
            copy.city = "x"
            state.address = copy
        }
        #expect(recording.changes.map(\.text) == [#"/address={"city":"x","zip":3000}"#])
    }

    @Test
    func `a replaced root is told to observers of the paths that differ`() {
        var other = Screen()
        other.boxed.city = "x"
        other.count = 9
        let replacement = other
        #expect(fires(owner, reading: { _ = $0.state.boxed.city }, writing: { $0.state = replacement }))
        #expect(!fires(owner, reading: { _ = $0.state.address.city }, writing: { $0.state = Screen() }))
        #expect(fires(owner, reading: count, writing: { $0.state = replacement }))
        #expect(!fires(owner, reading: percent, writing: { $0.state = Screen() }))
    }
}
