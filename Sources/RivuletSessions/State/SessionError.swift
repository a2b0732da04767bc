package import RivuletEngine
package import RivuletJSON

/// Why a session did not do what was asked.
///
/// Nothing has changed, but for `indeterminate`, which says so.
package enum SessionError: Error, Sendable {
    /// There is no such session.
    case notFound(SessionKey)
    /// The id is taken.
    case exists(SessionKey)
    /// It is being deleted.
    case deleting(SessionKey)
    /// The body is not JSON, or does not decode.
    case body(JSONError)
    /// The reducer said no, with this message.
    case rejected(String)
    /// The reducer said no to this event of an array.
    case rejectedInArray(RefusedEvent)
    /// A reducer failed at this event, and the log says how.
    case reducerFailed(eventName: String)
    /// Wrappers would have changed what was written, and the request was strict; at creation the paths are places in its body.
    case coerced([CoercedValue])
    /// The new state holds a number that JSON has no form for.
    case unrepresentableNumber
    /// The state has no value at this path.
    case noValue(String)
    /// The app has no view of this name.
    case noView(String)
    /// Nor at this one, which has a number where the id of an element belongs.
    case noElement(String)
    /// The session does not have this version yet; it stands at the other.
    case noVersion(UInt64, current: UInt64)
    /// This version is no longer kept; the oldest kept one is the other.
    case versionGone(UInt64, oldest: UInt64)
    /// The session does not stand at a cursor in `If-Match`; this is where it stands.
    case precondition(CursorMismatch, current: StateAnswer)
    /// The request with this idempotency key is being handled.
    case keyUnderWay(String)
    /// This idempotency key was used for another request.
    case keyReused(String)
    /// The session keeps as many answers as it may; the oldest goes in so many seconds.
    case keysFull(SessionKey, seconds: Int)
    /// A queue or table of this name is full.
    case overloaded(String)
    /// The event would make the session's state larger than it may be.
    case stateFull(SessionKey, limitBytes: Int)
    /// Storage failed.
    case storage(StorageError)
    /// What storage holds for this session cannot be read as this app's state.
    case unreadable(SessionKey, detail: String)
    /// The server is stopping.
    case draining
}
