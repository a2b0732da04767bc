package import RivuletStores

/// The reason why storage did not carry out a request.
///
/// Every case but `indeterminate` means that nothing was written. A conflict is not an error: see `AppendOutcome`.
public enum StorageError: Error, Hashable, Sendable {
    /// The engine cannot work now; nothing was written, and the same request may be tried again later.
    case unavailable(detail: String)
    /// The request may or may not have been written: load the session again and look for the idempotency record.
    case indeterminate(detail: String)
    /// There is no space; nothing was written, and reads continue to work.
    case full(detail: String)
    /// An engine without a disk has reached its limit of bytes; nothing was written, and reads continue to work.
    case memoryFull(limitBytes: Int)
    /// The write would exceed the quota of its app or of its owner; nothing was written, and deletions still succeed.
    case quota(QuotaExcess)
    /// An entry or a snapshot is larger than this number of bytes and can never be stored.
    case tooLarge(limitBytes: Int)
    /// Stored bytes of this session are damaged; without a key, the store as a whole is damaged.
    case corrupt(SessionKey?, detail: String)
    /// The stored data or the database library has a version or a setting with which this engine must not run.
    case incompatible(detail: String)
    /// The engine was closed; nothing was written.
    case closed
}

extension StorageError: CustomStringConvertible {
    /// The error, the data that it concerns, and the fix.
    public var description: String {
        switch self {
        case .unavailable(let detail):
            "storage is unavailable: \(detail)"
        case .indeterminate(let detail):
            "storage cannot tell whether the write is durable: \(detail)"
        case .full(let detail):
            "storage is full: \(detail)"
        case .memoryFull(let limitBytes):
            "storage is full: the memory engine holds \(limitBytes) bytes; delete sessions, or raise MemoryStorageLimits.bytesMax"
        case .quota(let excess):
            "\(excess)"
        case .tooLarge(let limitBytes):
            "the entry or snapshot is larger than \(limitBytes) bytes: make the state or the event smaller, "
                + "or raise the limit of the storage engine"
        case .corrupt(let key?, let detail):
            "the stored session \(key) is damaged: \(detail); restore it from a backup or delete it"
        case .corrupt(nil, let detail):
            "the store is damaged: \(detail); restore it from a backup"
        case .incompatible(let detail):
            "the store cannot be used: \(detail)"
        case .closed:
            "storage is closed: the server is shutting down"
        }
    }
}

extension ItemStorageError {
    /// Converts an error of sessions' storage to the error of stores' storage.
    package init(_ error: StorageError) {
        self =
            switch error {
            case .unavailable(let detail): .unavailable(detail: detail)
            case .indeterminate(let detail): .indeterminate(detail: detail)
            case .full(let detail): .full(detail: detail)
            case .memoryFull, .quota: .full(detail: "\(error)")
            case .tooLarge(let limitBytes): .tooLarge(limitBytes: limitBytes)
            case .corrupt(_, let detail): .corrupt(detail: detail)
            case .incompatible(let detail): .incompatible(detail: detail)
            case .closed: .closed
            }
    }
}
