public import RivuletBase
import RivuletObservation

/// An app that a server hosts: its effects, its views, its bindings and its stored documents.
///
/// Rivulet has one state per session and calls these methods for one event at a time, in the order of acceptance. An
/// app with stores, values or secrets is a `SharingApp`; in any other app, the declarations of these resources do not
/// compile.
public protocol AppDefinition<State, Event>: SharedApp {
    /// The version of the stored document's shape, 1 to 4,294,967,295, stored with each session.
    ///
    /// For a ``VersionedState`` it is the state's version, for other states 1. Documents of an earlier version go
    /// through ``migrations``. Documents of a later version are not read, and their sessions answer 500. A stream that
    /// resumes with a cursor from an earlier version gets a `reset`.
    var schemaVersion: Int { get }

    /// The steps from earlier shapes of the stored document; none by default.
    ///
    /// If a version has no step, its documents have the same shape as those of the next version.
    var migrations: [StateMigration] { get }

    /// The rule by which sessions are created; `.onDemand` by default.
    var sessionPolicy: SessionPolicy { get }

    /// The most sessions and stored bytes of the app, and of each owner; none by default.
    ///
    /// A write that would exceed a limit is refused with 507 and changes nothing. Deletions always succeed. The first
    /// start with a quota counts the stored sessions.
    var quota: StorageQuota { get }

    /// The key paths that clients may write, each with the event that a written value becomes; none by default.
    var bindings: [StateBinding<Event>] { get }

    /// The view objects of each session, served and streamed at `…/views`; none by default.
    var views: [StateView<State>] { get }

    /// Returns the effect of an event, given the state after it; it is added to the effects of the reducers.
    ///
    /// Pure, like the reducers: the returned effect runs once, when the change is durable.
    func effect(of event: Event, state: State) -> Effect<Event>

    /// Returns the effect of a restore or a reset, which bypasses the reducers, given the new state.
    func effect(after event: EngineEvent, state: State) -> Effect<Event>

    /// Returns the effect that runs when a stored session comes into memory: at its creation, and at each later load.
    ///
    /// Use it for timers and for work that lasts as long as the session is in memory. A session with running effects
    /// stays in memory.
    func effect(whenLoaded state: State) -> Effect<Event>
}

extension AppDefinition {
    /// The first shape of the document.
    public var schemaVersion: Int { 1 }

    /// No steps: documents of all versions have one shape.
    public var migrations: [StateMigration] { [] }

    /// Creates a session with its first event.
    public var sessionPolicy: SessionPolicy { .onDemand }

    /// No limits.
    public var quota: StorageQuota { .none }

    /// No key path can be written.
    public var bindings: [StateBinding<Event>] { [] }

    /// No views.
    public var views: [StateView<State>] { [] }

    /// No effect of any event.
    public func effect(of event: Event, state: State) -> Effect<Event> { .none }

    /// No effect of a restore or a reset.
    public func effect(after event: EngineEvent, state: State) -> Effect<Event> { .none }

    /// No effect of a load.
    public func effect(whenLoaded state: State) -> Effect<Event> { .none }
}

/// The rule by which sessions of an app are created.
public enum SessionPolicy: String, Sendable, Hashable {
    /// The first event creates the session.
    ///
    /// Before that, reads and streams serve the defaults at version 0 and store nothing.
    case onDemand
    /// Only POST and PUT create the session.
    ///
    /// All other requests for an unknown session answer 404.
    case explicit
}

/// A state with a version of its stored documents.
///
/// An ``AppDefinition`` with such a state has that version as its `schemaVersion`.
public protocol VersionedState {
    /// The version of the stored document's shape, from 1.
    var version: Int { get }
}

extension AppState: VersionedState {
    /// The version of the stored half.
    public var version: Int { p.version }
}

extension AppDefinition where State: VersionedState {
    /// The version of the default state.
    public var schemaVersion: Int { defaultState.version }
}
