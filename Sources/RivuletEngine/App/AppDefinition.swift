import RivuletObservation

/// An app as a server hosts it: what follows its events, its views, what clients may write, and its stored documents.
///
/// Rivulet keeps one state per session and calls these methods for one event at a time, in the order of acceptance. An app with stores,
/// values or secrets is a `SharingApp`: in any other app these do not compile.
public protocol AppDefinition<State, Event>: SharedApp {
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

    /// The key paths that clients may write, each with the event that a written value becomes; none by default.
    var bindings: [StateBinding<Event>] { get }

    /// The view objects of each session, served and streamed at `…/views`; none by default.
    var views: [StateView<State>] { get }

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

    /// No key path can be written.
    public var bindings: [StateBinding<Event>] { [] }

    /// No views.
    public var views: [StateView<State>] { [] }

    /// Nothing follows any event.
    public func effect(of event: Event, state: State) -> Effect<Event> { .none }

    /// Nothing follows a restore or a reset.
    public func effect(after event: EngineEvent, state: State) -> Effect<Event> { .none }

    /// Nothing follows.
    public func effect(whenLoaded state: State) -> Effect<Event> { .none }
}

/// When a session of an app comes into being.
public enum SessionPolicy: String, Sendable, Hashable {
    /// The first event creates it; until then reads and streams serve the defaults at version 0 and store nothing.
    case onDemand
    /// Only POST and PUT create it; everything else of an unknown session is 404.
    case explicit
}

/// A state that knows the version of the documents that it is stored as.
///
/// An ``AppDefinition`` whose state is one has its version as `schemaVersion`.
public protocol VersionedState {
    /// The version of the stored document's shape, from 1.
    var version: Int { get }
}

extension AppState: VersionedState {
    /// That of the stored half.
    public var version: Int { p.version }
}

extension AppDefinition where State: VersionedState {
    /// That of the default state.
    public var schemaVersion: Int { defaultState.version }
}
