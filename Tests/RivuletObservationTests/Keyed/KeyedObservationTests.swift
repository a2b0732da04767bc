// This file owns the tests of Swift's Observation on keyed collections.

import Observation
import RivuletObservation
import Synchronization
import Testing

@Suite
struct KeyedObservationTests {
    private let owner = ObservedState(Tasks(tasks: [Task(id: "a"), Task(id: "b")]))

    /// True if `write` notifies an observer of the values that `read` reads.
    private func isTold(_ read: () -> Void, _ write: () -> Void) -> Bool {
        let isTold = Mutex(false)
        withObservationTracking(read) { isTold.withLock { $0 = true } }
        write()
        return isTold.withLock { $0 }
    }

    @Test
    func `a reader of an element's field is notified of changes of that field only`() {
        let read = { _ = owner.state.tasks[id: "a"]?.title }
        #expect(isTold(read) { owner.state.tasks[id: "a"]?.title = "x" })
        #expect(!isTold(read) { owner.state.tasks[id: "b"]?.title = "x" })
        #expect(!isTold(read) { owner.state.tasks[id: "a"]?.notes = ["x"] })
        #expect(!isTold(read) { owner.state.tasks.append(Task(id: "c")) })
    }

    @Test
    func `a reader of an element is notified when the element is removed, added or replaced`() {
        let read = { _ = owner.state.tasks[id: "a"]?.title }
        #expect(isTold(read) { owner.state.tasks[id: "a"] = Task(id: "a", title: "y") })
        #expect(isTold(read) { owner.state.tasks.remove(id: "a") })
        #expect(isTold(read) { owner.state.tasks.append(Task(id: "a")) })
        #expect(isTold(read) { owner.state.tasks[id: "a"]?.id = "z" })
        #expect(isTold({ _ = owner.state.tasks.contains(id: "q") }) { owner.state.tasks.append(Task(id: "q")) })
    }

    @Test
    func `a reader that iterates is notified of changes of the order and of the fields that it read`() {
        let read = { _ = owner.state.tasks.map(\.title) }
        #expect(isTold(read) { owner.state.tasks[id: "b"]?.title = "x" })
        #expect(!isTold(read) { owner.state.tasks[id: "b"]?.notes = ["x"] })
        #expect(isTold(read) { owner.state.tasks.move(id: "a", to: 1) })
        #expect(isTold(read) { owner.state.tasks.sort { $0.id < $1.id } })
        #expect(isTold(read) { _ = owner.state.tasks.popLast() })
        #expect(isTold(read) { owner.state.tasks.removeAll() })
        #expect(isTold({ _ = owner.state.tasks.count }) { owner.state.tasks.append(Task(id: "c")) })
    }

    @Test
    func `a reader of an element is notified when the whole collection is replaced`() {
        #expect(isTold({ _ = owner.state.tasks[id: "a"]?.title }) { owner.state.tasks = [] })
    }
}
