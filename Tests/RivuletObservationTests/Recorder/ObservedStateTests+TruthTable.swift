// This file owns the tests of the writes to a state that notify observers, row by row as in
// <Tests/Rows/Systems.md#notification>.

import Observation
import RivuletObservation
import Testing

extension ObservedStateTests {
    private var freshOwner: ObservedState<Screen> { ObservedState(Screen()) }

    // MARK: - Plain fields

    @Test
    func `state field: a new value notifies, an equal value does not, an edit in place always does`() {
        #expect(fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count = 1 }))
        #expect(!fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count = 0 }))
        #expect(fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count += 0 }))
        #expect(fires(freshOwner, reading: { _ = $0.state.list }, writing: { $0.state.list.append(1) }))
    }

    @Test
    func `state field: an edit of a child notifies readers of the child's field, not readers of the child`() {
        #expect(!fires(freshOwner, reading: { _ = $0.state.address }, writing: { $0.state.address.city = "x" }))
        #expect(fires(freshOwner, reading: { _ = $0.state.address.city }, writing: { $0.state.address.city = "x" }))
        #expect(!fires(freshOwner, reading: { _ = $0.state.address.zip }, writing: { $0.state.address.city = "x" }))
    }

    @Test
    func `state field: a new child notifies readers through the state, not readers of the old child`() {
        #expect(
            fires(freshOwner, reading: { _ = $0.state.address }, writing: { $0.state.address = Address(city: "x") })
        )
        #expect(
            fires(
                freshOwner,
                reading: { _ = $0.state.address.city },
                writing: { $0.state.address = Address(city: "x") }
            )
        )
        let owner = freshOwner
        let old = owner.state.address
        #expect(!fires(owner, reading: { _ in _ = old.city }, writing: { $0.state.address = Address(city: "x") }))
    }

    @Test
    func `state field: an edited copy of a child notifies when it is edited, not when it is assigned back`() {
        let owner = freshOwner
        var copy = owner.state.address
        #expect(fires(owner, reading: { _ = $0.state.address.city }, writing: { _ in copy.city = "x" }))
        #expect(!fires(owner, reading: { _ = $0.state.address.city }, writing: { $0.state.address = copy }))
        #expect(owner.state.address.city == "x")
    }

    @Test
    func `state field: a child that is replaced inside an edit notifies`() {
        func replace(_ address: inout Address) { address = Address(city: "x") }
        #expect(fires(freshOwner, reading: { _ = $0.state.address }, writing: { replace(&$0.state.address) }))
        #expect(fires(freshOwner, reading: { _ = $0.state.address.city }, writing: { replace(&$0.state.address) }))
    }

    @Test
    func `state field: an optional child notifies when it is set or cleared, not when it is edited`() {
        let owner = freshOwner
        #expect(fires(owner, reading: { _ = $0.state.maybe }, writing: { $0.state.maybe = Address() }))
        #expect(!fires(owner, reading: { _ = $0.state.maybe }, writing: { $0.state.maybe?.city = "x" }))
        #expect(fires(owner, reading: { _ = $0.state.maybe?.city }, writing: { $0.state.maybe?.city = "y" }))
        #expect(fires(owner, reading: { _ = $0.state.maybe?.city }, writing: { $0.state.maybe = nil }))
    }

    @Test
    func `state field: a write to a copy notifies the original's observers`() {
        let owner = freshOwner
        var copy = owner.state
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { _ in copy.count = 1 }))
        #expect(owner.state.count == 0)
    }

    @Test
    func `state field: a replaced root notifies readers of the paths that differ`() {
        func replace(_ owner: ObservedState<Screen>) {
            var state = Screen()
            state.count = 1
            state.address.city = "x"
            owner.state = state
        }
        #expect(fires(freshOwner, reading: { _ = $0.state.count }, writing: { replace($0) }))
        #expect(fires(freshOwner, reading: { _ = $0.state.address.city }, writing: { replace($0) }))
        #expect(!fires(freshOwner, reading: { _ = $0.state.title }, writing: { replace($0) }))
        #expect(!fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state = Screen() }))
        let owner = freshOwner
        replace(owner)
        #expect(fires(owner, reading: { _ = $0.state.address.city }, writing: { $0.state.address.city = "y" }))
    }

    // MARK: - Fields in wrappers

    @Test
    func `wrapper field: every write notifies, with a new value, an equal value and in place`() {
        #expect(fires(freshOwner, reading: { _ = $0.state.percent }, writing: { $0.state.percent = 51 }))
        #expect(fires(freshOwner, reading: { _ = $0.state.percent }, writing: { $0.state.percent = 50 }))
        #expect(fires(freshOwner, reading: { _ = $0.state.percent }, writing: { $0.state.percent += 0 }))
    }

    @Test
    func `wrapper field: a write that is clamped to the present value notifies`() {
        let owner = freshOwner
        owner.state.percent = 150
        #expect(owner.state.percent == 100)
        #expect(fires(owner, reading: { _ = $0.state.percent }, writing: { $0.state.percent = 250 }))
        #expect(fires(owner, reading: { _ = $0.state.percent }, writing: { $0.state.percent += 500 }))
        #expect(owner.state.percent == 100)
    }

    @Test
    func `wrapper field: a child in a wrapper notifies like a child in a plain field`() {
        #expect(!fires(freshOwner, reading: { _ = $0.state.boxed }, writing: { $0.state.boxed.city = "x" }))
        #expect(fires(freshOwner, reading: { _ = $0.state.boxed.city }, writing: { $0.state.boxed.city = "x" }))
        #expect(fires(freshOwner, reading: { _ = $0.state.boxed }, writing: { $0.state.boxed = Address(city: "x") }))
        let owner = freshOwner
        let old = owner.state.boxed
        #expect(!fires(owner, reading: { _ in _ = old.city }, writing: { $0.state.boxed = Address(city: "x") }))
    }

    @Test
    func `wrapper field: an edited copy is assigned back silently, a child replaced inside an edit notifies`() {
        let owner = freshOwner
        var copy = owner.state.boxed
        #expect(fires(owner, reading: { _ = $0.state.boxed.city }, writing: { _ in copy.city = "x" }))
        #expect(!fires(owner, reading: { _ = $0.state.boxed.city }, writing: { $0.state.boxed = copy }))
        func replace(_ address: inout Address) { address = Address(city: "y") }
        #expect(fires(owner, reading: { _ = $0.state.boxed }, writing: { replace(&$0.state.boxed) }))
    }

    @Test
    func `wrapper field: A-21: a presented value notifies when it is set, cleared or replaced`() {
        let owner = freshOwner
        #expect(fires(owner, reading: { _ = $0.state.alert }, writing: { $0.state.alert = Address() }))
        #expect(fires(owner, reading: { _ = $0.state.alert }, writing: { $0.state.alert = Address(city: "x") }))
        #expect(!fires(owner, reading: { _ = $0.state.alert }, writing: { $0.state.alert?.city = "y" }))
        #expect(fires(owner, reading: { _ = $0.state.alert?.city }, writing: { $0.state.alert?.city = "z" }))
        #expect(fires(owner, reading: { _ = $0.state.alert }, writing: { $0.state.alert = nil }))
    }

    @Test
    func `wrapper field: copies and replaced roots notify as for plain fields`() {
        let owner = freshOwner
        var copy = owner.state
        #expect(fires(owner, reading: { _ = $0.state.percent }, writing: { _ in copy.percent = 1 }))
        #expect(fires(owner, reading: { _ = $0.state.percent }, writing: { $0.state = copy }))
        #expect(!fires(owner, reading: { _ = $0.state.percent }, writing: { $0.state = copy }))
    }
}
