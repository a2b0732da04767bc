public import RivuletBase

/// The reason that a state manager does not save.
public enum StatePersistenceError: Error, Hashable, CustomStringConvertible {
    /// The manager has no `persistenceKey`, so nothing is stored.
    case noKey
    /// The stored document cannot be read, so it is not overwritten.
    ///
    /// Set it aside with ``UIStateManager/setAsideUnreadableState()``, or start a version of the app that can read
    /// it.
    case unreadable(key: String, detail: String)
    /// The storage could not be read when the manager was created, so its content is unknown and is not overwritten.
    case unavailable(key: String, detail: String)
    /// The state has a NaN, an infinity or another value that JSON cannot represent; the document before it stays.
    case unrepresentable

    /// The error and its fix.
    public var description: String {
        switch self {
        case .noKey:
            "the state manager has no persistenceKey, so its state is not kept: give it one"
        case .unreadable(let key, let detail):
            "the stored state \"\(key)\" cannot be read: \(detail); it stays as it is and nothing is saved over it: "
                + "start a version of the app that reads it, or call setAsideUnreadableState()"
        case .unavailable(let key, let detail):
            "the stored state \"\(key)\" could not be read, so nothing is saved over it: \(detail)"
        case .unrepresentable:
            "the state has a value for which JSON has no form, such as a NaN: nothing is saved until it is gone"
        }
    }
}

extension StatePersistenceError: LoggableError {
    /// The text without stored data.
    public var logText: String {
        switch self {
        case .noKey, .unrepresentable: description
        case .unreadable:
            "the stored state cannot be read; it stays as it is and nothing is saved over it: start a version of the app that reads it, or "
                + "call setAsideUnreadableState()"
        case .unavailable: "the stored state could not be read, so nothing is saved over it"
        }
    }
}
