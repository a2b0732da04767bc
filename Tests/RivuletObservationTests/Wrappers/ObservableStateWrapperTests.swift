// This file owns the tests of @ObservableStateWrapper by the rows of Tests/Rows/Systems.md, as far as they are visible
// at run time.

import RivuletJSON
import RivuletObservation
import Testing

/// Source: <Tests/Rows/Systems.md#a-rows>; rows about the text of the expansion are tested in RivuletMacrosTests.
@Suite
struct ObservableStateWrapperTests {
    private let owner = ObservedState(Screen())
    private let projectedOwner = ObservedState(Overloads())

    @Test
    func `A-01: all four overloads, and one that infers the wrapper's type, make fields`() {
        var state = Overloads()
        state.plain += 1
        state.configured += 100
        state.inferred += 100
        state.projected += 1
        state.both += 1
        #expect(state.json.contains(#""plain":2,"positional":2,"configured":9,"inferred":9,"projected":6,"both":7"#))
    }

    @Test
    func `A-02: further positional arguments change nothing`() {
        var state = Overloads()
        state.positional = 8
        #expect(state.positional == 8)
        #expect(Overloads._$fields.first { $0.name == "positional" }?.config == nil)
    }

    @Test
    func `A-04: an assignment in an initialiser goes through the wrapper`() {
        #expect(Injected(address: Address(), number: 900, spelledOut: 1).byProperty == 100)
    }

    @Test
    func `A-05: a reader of a field is notified of that field only`() {
        #expect(fires(owner, reading: { _ = $0.state.percent }, writing: { $0.state.percent = 9 }))
        #expect(!fires(owner, reading: { _ = $0.state.percent }, writing: { $0.state.count = 9 }))
    }

    @Test
    func `A-06: every whole-value write notifies, also with an equal value`() {
        #expect(fires(owner, reading: { _ = $0.state.percent }, writing: { $0.state.percent = 50 }))
        #expect(owner.state.percent == 50)
        // A change stream has the net difference, independent of notifications to observers.
        var state = Screen()
        ChangeRecorder.record(&state) { $0.percent = 50 }.expectNothing()
    }

    @Test
    func `A-07: every edit in place notifies, and an edit of a nested state notifies readers of its field only`() {
        #expect(fires(owner, reading: { _ = $0.state.percent }, writing: { $0.state.percent += 0 }))
        #expect(fires(owner, reading: { _ = $0.state.boxed.city }, writing: { $0.state.boxed.city = "x" }))
        #expect(!fires(owner, reading: { _ = $0.state.boxed.zip }, writing: { $0.state.boxed.city = "y" }))
        #expect(!fires(owner, reading: { _ = $0.state.boxed }, writing: { $0.state.boxed.city = "z" }))
    }

    @Test
    func `A-09: the projected value reads and writes through the wrapper, and notifies as the field`() {
        var state = Overloads()
        #expect(state.$both == 60)
        let recording = ChangeRecorder.record(&state) { $0.$both = 80 }
        #expect(state.both == 8)
        #expect(recording.changes.map(\.text) == ["/both=8"])
        #expect(fires(projectedOwner, reading: { _ = $0.state.$both }, writing: { $0.state.both = 1 }))
        #expect(fires(projectedOwner, reading: { _ = $0.state.both }, writing: { $0.state.$both = 90 }))
        #expect(!fires(projectedOwner, reading: { _ = $0.state.$both }, writing: { $0.state.projected = 1 }))
    }

    @Test
    func `A-11: an optional without a value is nil, and another field needs an initialiser's value`() {
        let state = Injected(address: Address(city: "x"), number: 1, spelledOut: nil)
        #expect(state.byStorage.city == "x")
        #expect(state.question == nil)
    }

    @Test
    func `A-12: a field of type Optional<T> needs an initialiser's value`() {
        #expect(Injected(address: Address(), number: 1, spelledOut: 3).spelledOut == 3)
    }

    @Test
    func `A-13: an implicitly unwrapped optional is an optional`() throws {
        var state = Injected(address: Address(), number: 1, spelledOut: nil)
        #expect(state.exclamation == nil)
        state.exclamation = "x"
        let copy = try Injected(jsonBytes: state.jsonBytes())
        #expect(copy.exclamation == "x")
        #expect(copy == state)
    }

    @Test
    func `A-14: the configuration is evaluated at each write`() throws {
        var state = try Growing(jsonBytes: [UInt8](#"{"value":900}"#.utf8))
        let first = state.value
        state.value = 900
        let second = state.value
        state.value += 900
        #expect(first < second)
        #expect(second < state.value)
    }

    @Test
    func `A-17: a wrapper without configuration is made without one`() {
        #expect(WriteCounted.makeWrapper(from: 3) == WriteCounted.makeWrapper(from: 3, config: ()))
        #expect(Scaled.makeWrapper(from: 3, config: 2).projectedValue == 6)
    }

    @Test
    func `A-18: a value may be out of range inside an edit, and is in range after the edit`() {
        func edit(_ value: inout Int) -> Int {
            value = 500
            return value
        }
        var state = Overloads()
        #expect(edit(&state.configured) == 500)
        #expect(state.configured == 9)
        state.configured = -1
        #expect(state.configured == 0)
        state.configured -= 5
        #expect(state.configured == 0)
    }

    @Test
    func `A-19: an omitted field is observable, is in no document, and has its default after a restart`() throws {
        var state = Collections()
        state.hidden = ["x"]
        #expect(state.hidden == ["x"])
        #expect(!state.json.contains("hidden"))
        #expect(try Collections(jsonBytes: state.jsonBytes()).hidden == nil)
        let owner = ObservedState(state)
        #expect(fires(owner, reading: { _ = $0.state.hidden }, writing: { $0.state.hidden?.insert("y") }))
    }

    @Test
    func `A-20: a large boxed value is edited in place, and an edit of a shared value leaves the original alone`() {
        var state = Collections()
        state.many = Array(0..<100_000)
        state.many.reserveCapacity(200_000)
        let address = state.many.storageAddress
        for number in 0..<10 { state.many.append(number) }
        state.many[5] = -1
        #expect(state.many.storageAddress == address)
        let original = state
        state.many[0] = -1
        #expect(original.many[0] == 0)
        #expect(original.many.storageAddress == address)
    }

    @Test
    func `A-21: presenting, replacing and dismissing notify; an edit of the child notifies its field only`() {
        let read: (ObservedState<Screen>) -> Void = { _ = $0.state.alert }
        #expect(fires(owner, reading: read, writing: { $0.state.alert = Address() }))
        #expect(!fires(owner, reading: read, writing: { $0.state.alert?.city = "x" }))
        #expect(fires(owner, reading: { _ = $0.state.alert?.city }, writing: { $0.state.alert?.city = "y" }))
        #expect(!fires(owner, reading: { _ = $0.state.alert?.zip }, writing: { $0.state.alert?.city = "z" }))
        #expect(fires(owner, reading: read, writing: { $0.state.alert = Address(city: "other") }))
        #expect(fires(owner, reading: read, writing: { $0.state.$alert.dismiss() }))
        #expect(owner.state.alert == nil)
        #expect(fires(owner, reading: { _ = $0.state.$alert }, writing: { $0.state.alert = Address() }))
    }

    @Test
    func `A-22: a wrapper's other properties are lost with each write`() {
        var state = Overloads()
        state.$projected.writes = 5
        #expect(state.$projected.writes == 0)
        state.projected += 1
        #expect(state.$projected.writes == 0)
        state.projected = 3
        #expect(state.$projected.writes == 0)
    }

    @Test
    func `A-23: the names that generated code needs exist`() {
        let state = Screen()
        #expect(state._$observationRegistrar == ObservationStateRegistrar())
        #expect(state._$node == nil)
        #expect(owner.state._$node.map { _$isIdentityEqual(owner.state, at: $0) } == true)
    }

    @Test
    func `wrappers hold optionals, collections and nested states`() {
        var state = Collections()
        let recording = ChangeRecorder.record(&state) { state in
            state.table["a", default: []].append(1)
            state.addresses.append(Address())
            state.addresses[0].zip = 4
            state.optional?.zip = 5
            state.screen.boxed.city = "x"
            state.screen.percent = 900
        }
        let expected = [
            #"/table={"a":[1]}"#, #"/addresses=[{"city":"Bern","zip":4}]"#, "/optional/zip=5", #"/screen/percent=100"#,
            #"/screen/boxed/city="x""#,
        ]
        #expect(recording.changes.map(\.text) == expected)
        #expect(recording.coercions.map(\.path) == ["/screen/percent"])
    }
}

extension Array {
    /// The address of the elements, to detect copies of them.
    fileprivate var storageAddress: UInt {
        // SAFETY: the address is only compared as a number. No memory is read through it.
        unsafe withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
}
