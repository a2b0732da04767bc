// This file owns the tests of the writes to an @Observing field that notify observers, row by row as in
// <Tests/Rows/Systems.md#notification>.

import Observation
import RivuletObservation
import Testing

extension ObservableValueTests {
    private var freshOwner: CountedOwner { CountedOwner() }

    @Test
    func `value field: a new value is told, an equal one is not, an edit in place always is`() {
        #expect(fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count = 1 }))
        #expect(!fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count = 0 }))
        #expect(fires(freshOwner, reading: { _ = $0.state.count }, writing: { $0.state.count += 0 }))
    }

    @Test
    func `value field: an edit of a child is silent for the child and told for its field`() {
        #expect(!fires(freshOwner, reading: { _ = $0.state.child }, writing: { $0.state.child.g = 1 }))
        #expect(fires(freshOwner, reading: { _ = $0.state.child.g }, writing: { $0.state.child.g = 1 }))
        #expect(!fires(freshOwner, reading: { _ = $0.state.child.label }, writing: { $0.state.child.g = 1 }))
    }

    @Test
    func `value field: a fresh child is told, but not to those who read only the old one`() {
        #expect(fires(freshOwner, reading: { _ = $0.state.child }, writing: { $0.state.child = Leaf(g: 1) }))
        let owner = freshOwner
        let old = owner.state.child
        #expect(!fires(owner, reading: { _ in _ = old.g }, writing: { $0.state.child = Leaf(g: 1) }))
    }

    @Test
    func `value field: an edited copy of a child is put back silently, for the edit was told already`() {
        let owner = freshOwner
        var copy = owner.state.child
        #expect(fires(owner, reading: { _ = $0.state.child.g }, writing: { _ in copy.g = 1 }))
        #expect(!fires(owner, reading: { _ = $0.state.child.g }, writing: { $0.state.child = copy }))
        #expect(owner.state.child.g == 1)
    }

    @Test
    func `value field: a write to a copy is told to the original's observers, but not to those of a copy()`() {
        let owner = freshOwner
        var copy = owner.state
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { _ in copy.count = 1 }))
        var detached = owner.state.copy()
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { _ in detached.count = 2 }))
        #expect(!fires(detached, reading: { _ = $0.count }, writing: { _ in owner.state.count = 3 }))
    }

    @Test
    func `value field: who watches a value that is replaced as a whole is not told`() {
        let owner = freshOwner
        #expect(!fires(owner, reading: { _ = $0.state.count }, writing: { $0.state = Counted(count: 5) }))
        #expect(fires(owner, reading: { _ = $0.state.count }, writing: { $0.state.count = 6 }))
    }
}
