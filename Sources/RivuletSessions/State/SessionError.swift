package import RivuletEngine
package import RivuletJSON

/// The reason that a session did not do the requested work.
///
/// Nothing has changed, except for a storage error that is `indeterminate`: its request may have been written.
package enum SessionError: Error, Sendable {
    /// There is no such session.
    case notFound(SessionKey)
    /// A session with this id exists already.
    case exists(SessionKey)
    /// The session is being deleted.
    case deleting(SessionKey)
    /// The body is not JSON, or does not decode.
    case body(JSONError)
    /// The event with this name is the app's own, and no client may dispatch it; `index` is its index in an array.
    case internalEvent(name: String, index: Int?)
    /// The caller's grants do not name this event; `index` is its index in an array.
    case notGranted(event: String, index: Int?)
    /// The app's rule for callers refused the event, with this reason; `index` is its index in an array.
    case denied(String, index: Int?)
    /// The reducer rejected the event, with this message.
    case rejected(String)
    /// The reducer rejected this event of an array.
    case rejectedInArray(RejectedEventError)
    /// A reducer failed at this event; the log has the reason.
    case reducerFailed(eventName: String)
    /// Wrappers would have changed these values of a strict request; for a creation, the paths are positions in the
    /// request's body.
    case coerced([CoercedValue])
    /// The new state holds a number that JSON has no form for.
    case unrepresentableNumber
    /// The state has no value at this path.
    case noValue(String)
    /// The app has no view of this name.
    case noView(String)
    /// The state has no value at this path, which has a number where the id of an element belongs.
    case noElement(String)
    /// The session does not have this version yet; its version is `current`.
    case noVersion(UInt64, current: UInt64)
    /// This version can no longer be read; the oldest version that can be read is `oldest`.
    case versionGone(UInt64, oldest: UInt64)
    /// No cursor in `If-Match` matches the session's position; `current` is the session's present state.
    case precondition(CursorMismatch, current: StateAnswer)
    /// The request with this idempotency key is being handled.
    case keyUnderWay(String)
    /// This idempotency key was used for another request.
    case keyReused(String)
    /// The session has the most idempotency records that its limits allow; the oldest record expires in `seconds`.
    case keysFull(SessionKey, seconds: Int)
    /// A queue or table of this name is full.
    case overloaded(String)
    /// The event would make the session's state larger than it may be.
    case stateFull(SessionKey, limitBytes: Int)
    /// Storage failed.
    case storage(StorageError)
    /// The stored data of this session cannot be read as this app's state.
    case unreadable(SessionKey, detail: String)
    /// The server is stopping.
    case draining
    /// The server may not hand out sessions now, because another server of its cluster may have them.
    case notServing
}
