public import RivuletObservation
public import RivuletStores

/// An app: one state type, its events, and the pure functions between them.
///
/// Rivulet keeps one state per session and calls these methods for one event at a time, in the order of acceptance.
public protocol AppDefinition<State, Event>: Sendable {
    /// What one session holds, an ``AppState`` or any `@ObservableState` struct.
    associatedtype State: ObservableState & Equatable & Sendable
    /// What clients may dispatch, an `@AppEvent` enum.
    associatedtype Event: AppEvent & EventCoding

    /// The name in URLs, `[a-z][a-z0-9-]{0,63}`.
    var name: String { get }

    /// The state of a new session.
    var defaultState: State { get }

    /// The version of the stored document's shape, 1 to 4,294,967,295, kept with each session.
    ///
    /// That of a ``VersionedState``, 1 for other states. Documents of an earlier version go through ``migrations``; those of a later one are
    /// not read, and their sessions answer 500. Readers of before get a `reset`.
    var schemaVersion: Int { get }

    /// The steps from earlier shapes of the stored document; none by default.
    ///
    /// A version without a step has documents of the same shape as the next.
    var migrations: [StateMigration] { get }

    /// When sessions come into being; `.onDemand` unless said otherwise.
    var sessionPolicy: SessionPolicy { get }

    /// The reducers in the order in which they run, each on what the one before left.
    ///
    /// By default there is one, which calls `reduce(into:event:)`; a list of one's own has it among the others, or leaves it out.
    var reducers: [AnyReducer<State>] { get }

    /// The key paths that clients may write, each with the event that a written value becomes; none by default.
    var bindings: [StateBinding<Event>] { get }

    /// The view objects of each session, served and streamed at `…/views`; none by default.
    var views: [StateView<State>] { get }

    /// The stores that all sessions share, served and streamed at `…/stores/{name}`; none by default.
    ///
    /// Effects change them too; no reducer does, for a reducer may run again.
    var stores: [SharedStore] { get }

    /// The values that all sessions share, served and streamed at `…/values/{name}`; none by default.
    var values: [SharedValue] { get }

    /// The secrets that clients may set at `…/secrets/{name}` and nobody reads there; none by default.
    var secrets: [SharedSecret] { get }

    /// Changes the state as the event asks. Pure: it may run again for the same event.
    ///
    /// - Throws: an ``EventRejection`` to refuse: nothing has changed then, and the sender reads its message. Any other error is a fault
    ///   of the app: nothing has changed either, the error is logged, and the sender reads only that there is one.
    func reduce(into state: inout State, event: Event) throws

    /// Says what follows an event, given the state that it led to, besides what its reducers ask for.
    ///
    /// Pure, like the reducers: the effect that it returns runs once, when the change is durable.
    func effect(of event: Event, state: State) -> Effect<Event>

    /// Says what follows when the state was replaced past the reducers, given what it is now.
    func effect(after event: EngineEvent, state: State) -> Effect<Event>

    /// Says what follows when a stored session comes into memory: when it is created, and each time that it is loaded again.
    ///
    /// The place for timers and for work that goes on as long as the session is in memory. A session with effects under way stays there.
    func effect(whenLoaded state: State) -> Effect<Event>
}

extension AppDefinition {
    /// The first shape of the document.
    public var schemaVersion: Int { 1 }

    /// Documents of all versions have one shape.
    public var migrations: [StateMigration] { [] }

    /// The first event creates the session.
    public var sessionPolicy: SessionPolicy { .onDemand }

    /// One reducer, which calls `reduce(into:event:)`.
    public var reducers: [AnyReducer<State>] {
        [AnyReducer(Event.self) { state, event in try reduce(into: &state, event: event) }]
    }

    /// No key path can be written.
    public var bindings: [StateBinding<Event>] { [] }

    /// No views.
    public var views: [StateView<State>] { [] }

    /// No stores.
    public var stores: [SharedStore] { [] }

    /// No values.
    public var values: [SharedValue] { [] }

    /// No secrets.
    public var secrets: [SharedSecret] { [] }

    /// Nothing follows any event.
    public func effect(of event: Event, state: State) -> Effect<Event> { .none }

    /// Nothing follows a restore or a reset.
    public func effect(after event: EngineEvent, state: State) -> Effect<Event> { .none }

    /// Nothing follows.
    public func effect(whenLoaded state: State) -> Effect<Event> { .none }
}
