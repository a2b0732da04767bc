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
    /// The state has a NaN or an infinity, which JSON cannot represent; the earlier document stays.
    case unrepresentable

    /// The error and its fix.
    public var description: String {
        switch self {
        case .noKey:
            "the state manager has no persistenceKey, so it saves nothing; give it a persistenceKey"
        case .unreadable(let key, let detail):
            "the stored state \"\(key)\" cannot be read: \(detail). It is kept, and nothing is saved. "
                + "Start a version of the app that reads it, or call setAsideUnreadableState()"
        case .unavailable(let key, let detail):
            "the stored state \"\(key)\" could not be read, so it is kept and nothing is saved: \(detail)"
        case .unrepresentable:
            "the state has a value that JSON cannot represent, such as a NaN; no state with such a value is saved"
        }
    }
}

extension StatePersistenceError: LoggableError {
    /// The text without stored data.
    public var logText: String {
        switch self {
        case .noKey, .unrepresentable: description
        case .unreadable:
            "the stored state cannot be read. It is kept, and nothing is saved. Start a version of the app that reads it, or "
                + "call setAsideUnreadableState()"
        case .unavailable: "the stored state could not be read, so it is kept and nothing is saved"
        }
    }
}
