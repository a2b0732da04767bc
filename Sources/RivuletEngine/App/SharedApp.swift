public import RivuletJSON
public import RivuletObservation

/// The part of an app that runs anywhere: one state type, its events, and the pure functions between them.
///
/// It needs no server: it computes the next state from a state and an event. An ``AppDefinition`` adds the parts that
/// a server needs.
public protocol SharedApp<State, Event>: Sendable {
    /// The state of one session, an ``AppState`` or any `@ObservableState` struct.
    associatedtype State: ObservableState & Equatable & Sendable
    /// The events that clients may dispatch, an `@AppEvent` enum.
    ///
    /// The type follows from `reduce(into:event:)`.
    associatedtype Event: AppEvent & EventCoding = NoEvent

    /// The name in URLs, `[a-z][a-z0-9-]{0,63}`.
    var name: String { get }

    /// The state of a new session.
    var defaultState: State { get }

    /// The reducers in their order.
    ///
    /// Each reducer gets the state as the previous reducer left it.
    ///
    /// By default there is one reducer, which calls `reduce(into:event:)`. An app's own list replaces the default:
    /// `reduce(into:event:)` is then called only if a reducer in the list calls it.
    var reducers: [AnyReducer<State>] { get }

    /// Applies the event to the state.
    ///
    /// The function is pure: it may run again for the same event.
    /// - Throws: A ``RejectionError`` to reject the event: nothing has changed then, and the sender gets its message.
    ///   Any other error is a bug of the app: nothing has changed either. The error is logged, and the sender does not
    ///   get its text.
    func reduce(into state: inout State, event: Event) throws
}

extension SharedApp {
    /// Refuses an app without a `reduce(into:event:)` of the right form.
    ///
    /// Without this function, the compiler only says that the app has no `Event`.
    @available(
        *,
        unavailable,
        message: """
            an app needs this function, which is not async: \
            func reduce(into state: inout AppState<P, T>, event: E) throws; \
            P and T are the types of the halves, and E is an enum with @AppEvent. \
            The shorter "inout State" needs a typealias State in the app
            """
    )
    public func reduce(into state: inout State, event: Event) throws {
        throw RejectionError("the app has no reducer")
    }

    /// One reducer, which calls `reduce(into:event:)`.
    public var reducers: [AnyReducer<State>] {
        [AnyReducer(Event.self) { state, event in try reduce(into: &state, event: event) }]
    }
}

/// The event type, without cases, of an app in which the compiler finds no `reduce(into:event:)`.
public enum NoEvent: AppEvent, EventCoding {
    /// No cases.
    public static var eventCases: [EventCase] { [] }

    /// Never called: there are no events.
    public var eventName: String { switch self {} }

    /// Never called: there are no events.
    public var isSensitive: Bool { switch self {} }

    /// Refuses any document.
    ///
    /// - Throws: a `mismatch`.
    public init(json reader: inout JSONReader) throws(JSONError) {
        throw reader.error(.mismatch, "this app has no events")
    }

    /// Never called: there are no events.
    public func encodeJSON(into writer: inout JSONWriter) { switch self {} }
}
