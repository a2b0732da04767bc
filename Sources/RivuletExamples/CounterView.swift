import Rivulet

/// What a page shows of a counter.
final class CounterView: ObservableObject {
    @Published var count: Int
    @Published var title: String
    @Published var isNearLimit: Bool

    init(count: Int, title: String, isNearLimit: Bool) {
        self.count = count
        self.title = title
        self.isNearLimit = isNearLimit
        setupPublished()
    }
}

extension AppState<Counter, CounterScreen> {
    /// Whether the count is where the counter warns.
    var isNearLimit: Bool { p.count >= p.limits.warnAt }
}

/// Keeps the view as the state is.
@StateForwarder(
    for: CounterView.self,
    from: CounterApp.State.self,
    mapping: [
        (\CounterApp.State.p.count, \CounterView.count),
        (\CounterApp.State.p.title, \CounterView.title),
        (\CounterApp.State.isNearLimit, \CounterView.isNearLimit),
    ]
)
struct CounterForwarder {}
