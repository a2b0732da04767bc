// Owns the text of session errors in the log, which never names the session.

public import RivuletBase

extension StorageError: LoggableError {
    /// The whole text without the session's id, which `rivulet check` prints.
    public var logText: String {
        guard case .corrupt(_?, let detail) = self else { return description }
        return
            "a stored session is damaged: \(detail); `rivulet check` names it, and `rivulet check --repair` rebuilds damaged indexes; "
            + "for other damage, restore the session from a backup or delete it"
    }
}

extension SessionError: LoggableError {
    /// The kind of the error, and the text of a storage error.
    package var logText: String {
        switch self {
        case .storage(let error): error.logText
        case .unreadable:
            "the stored data of a session cannot be read as the app's state; `rivulet check` names the session and says why"
        case .rejected, .rejectedInArray: "the reducer rejected the event"
        case .reducerFailed: "a reducer failed"
        case .overloaded(let what): "full: \(what)"
        case .stateFull(_, let limitBytes): "the state would be larger than \(limitBytes) bytes as JSON (stateBytesMax)"
        case .body: "the event does not decode"
        case .internalEvent: "the event is @Internal, and a client sent it"
        case .denied: "the app's rule for callers refused the event"
        case .notGranted: "the caller's grants do not name the event"
        case .coerced: "a wrapper would change a value"
        case .unrepresentableNumber: "the state would hold a number that JSON has no form for"
        case .draining: "the server is stopping"
        case .notServing: "the server may not hand out sessions now"
        case .notFound, .exists, .deleting, .noValue, .noView, .noElement, .noVersion, .versionGone:
            "the target of the request is missing, is being deleted, or exists already"
        case .precondition, .keyUnderWay, .keyReused, .keysFull: "a condition of the request does not hold"
        }
    }
}
