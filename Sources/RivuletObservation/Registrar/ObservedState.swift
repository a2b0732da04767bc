/// The owner of a state, which makes each of its fields observable by `withObservationTracking` and `Observations`.
///
/// An observer that reads `owner.state.profile.name` is notified of a write to that name and of a new `profile`, and of
/// no other write. Writes go through `state` too. An assignment of a whole state, such as a reset, notifies the
/// observers of each path with a new value, and the observers of omitted fields. Observers must not read the state
/// before they return: they are notified before a field changes, as Swift's `onChange` is, and while an element is
/// added or removed. Only one thread at a time may use the owner. An `@ObservableValue` needs no such owner.
/// Source: <Tests/Rows/Systems.md#notification>.
public final class ObservedState<State: ObservableState> {
    private var storage: State
    private let node = Generated.ObservedNode()

    /// Takes a state to own.
    public init(_ state: State) {
        storage = state
        storage._$observe(at: node)
    }

    /// The state.
    public var state: State {
        get { storage }
        set { replace(by: newValue) }
        _modify {
            defer {
                if storage._$node !== node {
                    // The state was replaced in place, so that its old values are gone. All observers are notified.
                    storage._$observe(at: node)
                    node.tellAll()
                }
            }
            yield &storage
        }
    }

    private func replace(by state: State) {
        let fields = State._$fields
        let changes = ChangeRecorder.differences(from: storage, to: state)
        // An omitted field is in no change, so its difference is unknown.
        let told =
            changes.flatMap { node.fields(concernedBy: $0, among: fields) } + node.unreportedFields(among: fields)
        for field in told { field.node.willSet(field.field) }
        storage = state
        storage._$observe(at: node)
        for field in told { field.node.didSet(field.field) }
    }
}
