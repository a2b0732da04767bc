import Rivulet

/// The view of a counter on a page.
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
    /// True if the count has reached the limit.
    var isNearLimit: Bool { p.count >= p.limits.warnAt }
}

/// Updates the view from the state.
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
