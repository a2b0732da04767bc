import Rivulet

/// The stored half of a todo list, which survives restarts.
@ObservableState
struct Todos: PersistentState {
    var todos: Keyed<Todo> = []
    var filter = TodoFilter.all
}

/// One thing to do.
@ObservableState
struct Todo: Identifiable, Equatable, Sendable {
    var id: String
    var title: String
    var done = false
}

/// The choice of the todos to show.
enum TodoFilter: String, CaseIterable, JSONCodable {
    case all, open, done
}

/// The half of a todo list that a restart of the server resets to its default.
@ObservableState
struct TodosScreen: Equatable, Sendable {
    /// The todo with the title that is being edited.
    var editing: Todo.ID?
}

/// The events of a todo list.
@AppEvent
enum TodosEvent {
    case add(id: String, title: String)
    case insert(id: String, title: String, at: Int)
    case toggle(String)
    case rename(id: String, title: String)
    case remove(String)
    case move(id: String, to: Int)
    case clearDone
    case setFilter(String)
    case edit(String?)
    /// Adds todos `n0`, `n1`, … up to the count, for load tests.
    ///
    /// Todos that exist already stay unchanged.
    case addMany(count: Int)

    var persist: Bool {
        if case .edit = self { false } else { true }
    }
}

/// The todo list app.
struct TodosApp: AppDefinition {
    typealias State = AppState<Todos, TodosScreen>

    /// The most todos that one `addMany` adds.
    static let addedMax = 100_000

    let name = "todos"
    let defaultState = State(t: TodosScreen(), p: Todos())

    var views: [StateView<State>] { [StateView(SummaryForwarder.self)] }

    var bindings: [StateBinding<TodosEvent>] {
        [
            StateBinding("/p/todos/*/title", TodosEvent.rename),
            StateBinding("/p/filter", TodosEvent.setFilter),
            StateBinding("/t/editing", TodosEvent.edit),
        ]
    }

    func reduce(into state: inout State, event: TodosEvent) throws {
        switch event {
        case .add(let id, let title):
            try state.p.checkIsNew(id)
            state.p.todos.append(Todo(id: id, title: title))
        case .insert(let id, let title, let index):
            try state.p.checkIsNew(id)
            try check(index, in: 0...state.p.todos.count)
            state.p.todos.insert(Todo(id: id, title: title), at: index)
        case .toggle(let id):
            try state.p.checkExists(id)
            state.p.todos[id: id]?.done.toggle()
        case .rename(let id, let title):
            try state.p.checkExists(id)
            state.p.todos[id: id]?.title = title
        case .remove(let id):
            try state.p.checkExists(id)
            state.p.todos.remove(id: id)
        case .move(let id, let index):
            try state.p.checkExists(id)
            try check(index, in: 0...state.p.todos.count - 1)
            state.p.todos.move(id: id, to: index)
        case .clearDone:
            state.p.todos.removeAll { $0.done }
        case .setFilter(let name):
            state.p.filter = try filter(named: name)
        case .edit(let id):
            if let id { try state.p.checkExists(id) }
            state.t.editing = id
        case .addMany(let count):
            try check(count, in: 1...Self.addedMax)
            for number in 0..<count { state.p.todos.append(Todo(id: "n\(number)", title: "Todo \(number)")) }
        }
        if let id = state.t.editing, !state.p.todos.contains(id: id) { state.t.editing = nil }
    }

    private func check(_ number: Int, in range: ClosedRange<Int>) throws {
        guard range.contains(number) else { throw RejectionError("\(number) is not in \(range)") }
    }

    private func filter(named name: String) throws -> TodoFilter {
        guard let filter = TodoFilter(rawValue: name) else {
            let known = TodoFilter.allCases.map(\.rawValue).joined(separator: ", ")
            throw RejectionError("there is no filter \"\(name)\"; use one of \(known)")
        }
        return filter
    }
}

extension Todos {
    fileprivate func checkExists(_ id: Todo.ID) throws {
        guard todos.contains(id: id) else { throw RejectionError("there is no todo \"\(id)\"") }
    }

    fileprivate func checkIsNew(_ id: Todo.ID) throws {
        guard !todos.contains(id: id) else { throw RejectionError("there is a todo \"\(id)\" already") }
    }
}
