// This file owns the tests of the writes to an @Observing field that notify observers, row by row as in
// <Tests/Rows/Systems.md#notification>.

import Observation
import RivuletObservation
import Testing

extension ObservableValueTests {
    private var freshOwner: CountedOwner { CountedOwner() }

    @Test
    func `value field: a new value notifies, an equal value does not, an edit in place always does`() {
        #expect(fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count = 1 }))
        #expect(!fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count = 0 }))
        #expect(fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count += 0 }))
    }

    @Test
    func `value field: an edit of a child notifies readers of the child's field, not readers of the child`() {
        #expect(!fires(freshOwner, reading: { _ = $0.state.child }, writing: { $0.state.child.g = 1 }))
        #expect(fires(freshOwner, reading: { _ = $0.state.child.g }, writing: { $0.state.child.g = 1 }))
        #expect(!fires(freshOwner, reading: { _ = $0.state.child.label }, writing: { $0.state.child.g = 1 }))
    }

    @Test
    func `value field: a new child notifies readers through the value, not readers of the old child`() {
        #expect(fires(freshOwner, reading: { _ = $0.state.child }, writing: { $0.state.child = Leaf(g: 1) }))
        let owner = freshOwner
        let old = owner.state.child
        #expect(!fires(owner, reading: { _ in _ = old.g }, writing: { $0.state.child = Leaf(g: 1) }))
    }

    @Test
    func `value field: an edited copy of a child notifies when it is edited, not when it is assigned back`() {
        let owner = freshOwner
        var copy = owner.state.child
        #expect(fires(owner, reading: { _ = $0.state.child.g }, writing: { _ in copy.g = 1 }))
        #expect(!fires(owner, reading: { _ = $0.state.child.g }, writing: { $0.state.child = copy }))
        #expect(owner.state.child.g == 1)
    }

    @Test
    func `value field: a write to a copy notifies the original's observers, but not observers of a copy()`() {
        let owner = freshOwner
        var copy = owner.state
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { _ in copy.count = 1 }))
        var detached = owner.state.copy()
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { _ in detached.count = 2 }))
        #expect(!fires(detached, reading: { _ = $0.count }, writing: { _ in owner.state.count = 3 }))
    }

    @Test
    func `value field: a value that is replaced as a whole does not notify its readers`() {
        let owner = freshOwner
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { $0.state = Counted(count: 5) }))
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count = 6 }))
    }
}
