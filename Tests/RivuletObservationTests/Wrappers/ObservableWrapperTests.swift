// This file owns the tests of the wrappers: their effect on values, and the recorded changes.

import RivuletJSON
import RivuletObservation
import RivuletSchema
import Testing

@Suite
struct ObservableWrapperTests {
    @Test
    func `clamped values are in range after every kind of write`() {
        var state = Wrapped()
        state.percent = 250
        #expect(state.percent == 100)
        state.percent -= 500
        #expect(state.percent == 0)
        state.share = .infinity
        #expect(state.share == 1)
    }

    @Test
    func `an edit in place sees its own value until it ends`() {
        func edit(_ value: inout Int) -> Int {
            value = 500
            return value
        }
        var state = Wrapped()
        #expect(edit(&state.percent) == 500)
        #expect(state.percent == 100)
    }

    @Test
    func `an edit that ends with a throw is clamped too`() {
        struct Interruption: Error {}
        func edit(_ value: inout Int) throws {
            value = 500
            throw Interruption()
        }
        var state = Wrapped()
        #expect(throws: Interruption.self) { try edit(&state.percent) }
        #expect(state.percent == 100)
    }

    @Test
    func `a coercion to the same value is reported although nothing changed`() {
        var state = Wrapped()
        let recording = ChangeRecorder.record(&state) { state in
            state.percent = 250
            state.percent += 500
        }
        #expect(recording.changes.isEmpty)
        #expect(recording.coercions.map(\.text) == ["/percent: 600 -> 100"])
    }

    @Test
    func `a coercion in a replacing value has its path`() {
        var state = PairOfWrapped()
        let recording = ChangeRecorder.record(&state) { state in
            var fresh = Wrapped(share: 1)
            fresh.name = "abcdef"
            state.second = fresh
        }
        #expect(recording.changes.map(\.path) == ["/second"])
        #expect(recording.coercions.map(\.text) == [#"/second/name: "abcdef" -> "abc""#])
    }

    @Test
    func `a coercion outside the state is not reported`() {
        var state = PairOfWrapped()
        let recording = ChangeRecorder.record(&state) { state in
            var copy = state.first
            copy.percent = 900
            state.second.name = "ok"
        }
        #expect(recording.coercions.isEmpty)
        state.first.percent = 900
        #expect(ChangeRecorder.record(&state) { _ in } == Recording())
    }

    @Test
    func `a value that its initialiser clamps is reported as a coercion`() {
        var state = PairOfWrapped()
        let recording = ChangeRecorder.record(&state) { $0.first = Wrapped(share: 9, address: Address(city: "x")) }
        #expect(recording.coercions.map(\.text) == ["/first/share: 9 -> 1"])
    }

    @Test
    func `an omitted field can be written but is never a change`() {
        var state = Wrapped()
        let recording = ChangeRecorder.record(&state) { $0.secrets.append("x") }
        #expect(recording == Recording(hasOmittedWrite: true))
        #expect(state.secrets == ["x"])
    }

    @Test
    func `a replaced value that differs in an omitted field only is no change`() {
        var state = PairOfWrapped()
        let recording = ChangeRecorder.record(&state) { state in
            var other = Wrapped(share: 1)
            other.secrets = ["x"]
            state.first = other
        }
        #expect(recording == Recording(hasOmittedWrite: true))
    }

    @Test
    func `a box edits its value in place, and copies it only if it is shared`() {
        var box = Box([1, 2, 3])
        box.wrappedValue.reserveCapacity(100)
        let address = box.wrappedValue.bufferAddress
        box.wrappedValue.append(4)
        #expect(box.wrappedValue.bufferAddress == address)
        let copy = box
        box.wrappedValue.append(5)
        #expect(copy.wrappedValue == [1, 2, 3, 4])
        #expect(box.wrappedValue == [1, 2, 3, 4, 5])
    }

    @Test
    func `a boxed field of a state is edited in place`() {
        var state = CounterPersistent()
        state.history.reserveCapacity(100)
        state.history.append(1)
        let address = state.history.bufferAddress
        state.history.append(2)
        #expect(state.history.bufferAddress == address)
    }

    @Test
    func `a boxed state reports the paths inside of it`() {
        var state = Wrapped()
        let copy = state
        #expect(ChangeRecorder.record(&state) { $0.address.city = "x" }.changes.map(\.text) == ["/address/city=\"x\""])
        #expect(copy.address.city == "Bern")
    }

    @Test
    func `a presented child is reported when it is set, replaced and cleared`() {
        var state = Wrapped()
        let shown = ChangeRecorder.record(&state) { $0.alert = Address() }
        let edited = ChangeRecorder.record(&state) { $0.alert?.zip = 1 }
        let replaced = ChangeRecorder.record(&state) { $0.alert = Address(city: "x") }
        let dismissed = ChangeRecorder.record(&state) { $0.$alert.dismiss() }
        #expect(shown.changes.map(\.text) == [#"/alert={"city":"Bern","zip":3000}"#])
        #expect(edited.changes.map(\.text) == ["/alert/zip=1"])
        #expect(replaced.changes.map(\.text) == [#"/alert={"city":"x","zip":3000}"#])
        #expect(dismissed.changes.map(\.text) == ["/alert=null"])
    }

    @Test
    func `the projected value reads and writes the child`() {
        var state = Wrapped()
        #expect(!state.$alert.isPresented)
        let recording = ChangeRecorder.record(&state) { $0.$alert = PresentationState(wrappedValue: Address()) }
        #expect(state.$alert.isPresented)
        #expect(recording.changes.map(\.path) == ["/alert"])
    }

    @Test
    func `wrappers are equal and hash by their values`() {
        #expect(Box(1) == Box(1))
        #expect(Set([Box(1), Box(1), Box(2)]).count == 2)
        #expect(PresentationState(wrappedValue: 1) != PresentationState(wrappedValue: nil))
        #expect(Clamped(wrappedValue: 5, range: 0...3) == Clamped(wrappedValue: 3, range: 0...3))
    }

    @Test
    func `a clamped value that is no number has no bounds in its schema`() {
        let schema = Clamped<String>.jsonSchema(of: .string(), config: "a"..."b")
        #expect(schema.document["minimum"] == nil)
        #expect(schema.document["type"] == "string")
    }
}

@ObservableState
struct PairOfWrapped: Equatable, Sendable {
    var first = Wrapped()
    var second = Wrapped()
}

extension Array {
    /// The address of the elements, to detect copies of them.
    fileprivate var bufferAddress: UInt {
        // SAFETY: the address is only compared as a number. No memory is read through it.
        unsafe withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
}
