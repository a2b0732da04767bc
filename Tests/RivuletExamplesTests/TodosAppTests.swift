// Tests of the example app `todos`, event by event.

import Rivulet
import RivuletTesting
import Testing

@testable import RivuletExamples

@Suite
struct TodosAppTests {
    /// A list of three todos, of which `b` is done.
    private func store() async -> TestStore<TodosApp> {
        let store = TestStore(TodosApp())
        store.exhaustivity = .off
        for id in ["a", "b", "c"] { await store.send(.add(id: id, title: id.uppercased())) }
        await store.send(.toggle("b"))
        store.exhaustivity = .on
        return store
    }

    @Test
    func `todos are added at the end, or at the given index`() async {
        let store = TestStore(TodosApp())
        await store.send(.add(id: "a", title: "Milk")) { $0.p.todos.append(Todo(id: "a", title: "Milk")) }
        await store.send(.insert(id: "b", title: "Bread", at: 0)) {
            $0.p.todos.insert(Todo(id: "b", title: "Bread"), at: 0)
        }
        #expect(store.state.p.todos.map(\.id) == ["b", "a"])
        await store.finish()
    }

    @Test
    func `one todo is toggled, renamed, moved and removed, the others stay`() async {
        let store = await store()
        await store.send(.toggle("a")) { $0.p.todos[id: "a"]?.done = true }
        await store.send(.rename(id: "c", title: "Cheese")) { $0.p.todos[id: "c"]?.title = "Cheese" }
        await store.send(.move(id: "c", to: 0)) { $0.p.todos.move(id: "c", to: 0) }
        await store.send(.remove("b")) { $0.p.todos.remove(id: "b") }
        #expect(store.state.p.todos.map(\.id) == ["c", "a"])
        await store.finish()
    }

    @Test
    func `done todos are cleared, and an edit of one of them ends`() async {
        let store = await store()
        await store.send(.edit("b")) { $0.t.editing = "b" }
        await store.send(.clearDone) {
            $0.p.todos.remove(id: "b")
            $0.t.editing = nil
        }
        await store.finish()
    }

    @Test
    func `an impossible event is rejected with the reason`() async {
        let store = await store()
        await store.send(.add(id: "a", title: ""), expectRejection: #"there is a todo "a" already"#)
        await store.send(.toggle("x"), expectRejection: #"there is no todo "x""#)
        await store.send(.edit("x"), expectRejection: #"there is no todo "x""#)
        await store.send(.move(id: "a", to: 3), expectRejection: "3 is not in 0...2")
        await store.send(.insert(id: "d", title: "", at: 4), expectRejection: "4 is not in 0...3")
        await store.send(.addMany(count: 0), expectRejection: "0 is not in 1...100000")
        await store.send(
            .setFilter("none"),
            expectRejection: #"there is no filter "none"; use one of all, open, done"#
        )
        await store.finish()
    }

    @Test
    func `added todos do not replace existing ones`() async {
        let store = TestStore(TodosApp())
        await store.send(.add(id: "n1", title: "mine")) { $0.p.todos.append(Todo(id: "n1", title: "mine")) }
        await store.send(.addMany(count: 3)) {
            $0.p.todos.append(Todo(id: "n0", title: "Todo 0"))
            $0.p.todos.append(Todo(id: "n2", title: "Todo 2"))
        }
        await store.finish()
    }

    @Test
    func `the edited todo is the only field that is not stored`() {
        #expect(!TodosEvent.edit("a").persist)
        #expect(TodosEvent.setFilter("open").persist)
    }
}
