import Rivulet

/// The counts of the todos.
final class SummaryView: ObservableObject {
    @Published var total: Int
    @Published var open: Int
    @Published var done: Int

    init(total: Int, open: Int, done: Int) {
        self.total = total
        self.open = open
        self.done = done
        setupPublished()
    }
}

extension Todos {
    fileprivate var open: Int { todos.count { !$0.done } }
    fileprivate var done: Int { todos.count { $0.done } }
}

/// Updates the view from the state.
@StateForwarder(
    for: SummaryView.self,
    from: TodosApp.State.self,
    mapping: [
        (\TodosApp.State.p.todos.count, \SummaryView.total),
        (\TodosApp.State.p.open, \SummaryView.open),
        (\TodosApp.State.p.done, \SummaryView.done),
    ]
)
struct SummaryForwarder {}
