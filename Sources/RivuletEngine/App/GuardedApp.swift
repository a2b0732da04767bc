public import RivuletAccess

/// An app with rules of its own for its callers, besides the grants of their credentials.
///
/// Both rules are pure and quick: they run on the thread of the session.
public protocol GuardedApp<State, Event>: AppDefinition {
    /// Returns what a caller may do with a session; the default is what its credential grants.
    ///
    /// A server that asks for credentials calls it once for each request, and when a stream opens. It may narrow and
    /// widen the permissions. It is not called for events of the app itself, nor for stores, values and secrets.
    func access(of caller: Caller, to session: String, granted: Access) -> Access

    /// Returns the event that the reducers get for a caller's event; the default is the same event.
    ///
    /// It may write the caller into the event: `.post(text, author: caller.me)`. An anonymous caller's ``Caller/me`` is
    /// the id of its session, which other callers should not see. The returned event is the one in the log. All events
    /// of an array are admitted with the state before the array. On a server that asks for no credentials every caller
    /// is anonymous. Events of effects and timers are not admitted, because the app sends them.
    ///
    /// - Throws: `AccessDenied` to refuse the event; the answer is 403 with its text, and nothing has changed. Any
    ///   other error is logged, and the answer is 500.
    func admit(_ event: Event, from caller: Caller, state: State) throws -> Event
}

extension GuardedApp {
    /// What the credential grants.
    public func access(of caller: Caller, to session: String, granted: Access) -> Access { granted }

    /// The same event.
    public func admit(_ event: Event, from caller: Caller, state: State) throws -> Event { event }
}
