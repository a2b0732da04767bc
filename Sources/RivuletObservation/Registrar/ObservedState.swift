/// The owner of a state, which makes each of its fields observable by `withObservationTracking` and `Observations`.
///
/// A read of `owner.state.profile.name` depends on that name, and on `profile` as a whole, and on nothing else. Writes go through
/// `state` too. A replaced state, as by a reset or a restore, tells the observers of every path whose value differs, and those of
/// omitted fields; an equal one tells nobody else. Observers must not read the state before they return: they are told before a field
/// changes, as Swift's `onChange` is, and while an element comes or goes. One thread at a time.
/// Source: <Tests/Rows/Systems.md#notification>; an owner of a `@ObservableValue` needs no such class.
public final class ObservedState<State: ObservableState> {
    private var storage: State
    private let place = ObservedPlace()

    /// Takes a state to own.
    public init(_ state: State) {
        storage = state
        storage._$observe(at: place)
    }

    /// The state.
    public var state: State {
        get { storage }
        set { replace(by: newValue) }
        _modify {
            defer {
                if storage._$place !== place {
                    // Replaced from inside: what was there is gone, so everybody is told.
                    storage._$observe(at: place)
                    place.tellAll()
                }
            }
            yield &storage
        }
    }

    private func replace(by state: State) {
        let fields = State._$fields
        let changes = ChangeRecorder.differences(from: storage, to: state)
        // An omitted field is in no change; whether it differs is not known.
        let told =
            changes.flatMap { place.fields(concernedBy: $0, among: fields) } + place.unreportedFields(among: fields)
        for field in told { field.place.willSet(field.field) }
        storage = state
        storage._$observe(at: place)
        for field in told { field.place.didSet(field.field) }
    }
}
