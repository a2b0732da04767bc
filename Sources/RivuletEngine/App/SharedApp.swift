public import RivuletObservation

/// The part of an app that runs anywhere: one state type, its events, and the pure functions between them.
///
/// It needs no server: from a state and an event it says the next state. An ``AppDefinition`` adds what a server needs.
public protocol SharedApp<State, Event>: Sendable {
    /// What one session holds, an ``AppState`` or any `@ObservableState` struct.
    associatedtype State: ObservableState & Equatable & Sendable
    /// What clients may dispatch, an `@AppEvent` enum.
    associatedtype Event: AppEvent & EventCoding

    /// The name in URLs, `[a-z][a-z0-9-]{0,63}`.
    var name: String { get }

    /// The state of a new session.
    var defaultState: State { get }

    /// The reducers in the order in which they run, each on what the one before left.
    ///
    /// By default there is one, which calls `reduce(into:event:)`; a list of one's own has it among the others, or leaves it out.
    var reducers: [AnyReducer<State>] { get }

    /// Changes the state as the event asks. Pure: it may run again for the same event.
    ///
    /// - Throws: an ``EventRejection`` to refuse: nothing has changed then, and the sender reads its message. Any other error is a fault
    ///   of the app: nothing has changed either, the error is logged, and the sender reads only that there is one.
    func reduce(into state: inout State, event: Event) throws
}

extension SharedApp {
    /// One reducer, which calls `reduce(into:event:)`.
    public var reducers: [AnyReducer<State>] {
        [AnyReducer(Event.self) { state, event in try reduce(into: &state, event: event) }]
    }
}
