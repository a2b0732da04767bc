public import RivuletBase

/// Why storage did not do what it was asked to.
///
/// Every case but `indeterminate` means that nothing was written.
public enum ItemStorageError: Error, Hashable, Sendable {
    /// The engine cannot work now; the same request may be tried again later.
    case unavailable(detail: String)
    /// The request may or may not have been written: open the collection again.
    case indeterminate(detail: String)
    /// There is no space; reads go on.
    case full(detail: String)
    /// A document is larger than this many bytes and can never be stored.
    case tooLarge(limitBytes: Int)
    /// The collection holds as many documents as it may.
    case tooMany(limit: Int)
    /// The collection is damaged as a whole.
    case corrupt(detail: String)
    /// The stored data or the library beneath is of a version or in a setting that this engine must not run with.
    case incompatible(detail: String)
    /// The engine was closed.
    case closed
}

extension ItemStorageError: CustomStringConvertible {
    /// What happened, where, and what mends it.
    public var description: String {
        switch self {
        case .unavailable(let detail): "storage is unavailable: \(detail)"
        case .indeterminate(let detail): "storage cannot tell whether the write is durable: \(detail)"
        case .full(let detail): "storage is full: \(detail)"
        case .tooLarge(let limitBytes):
            "the document is larger than \(limitBytes) bytes: make it smaller, or raise the limit of the storage engine"
        case .tooMany(let limit):
            "the store holds \(limit) items, as many as it may: remove some, or raise the limit of the storage engine"
        case .corrupt(let detail): "the stored collection is damaged: \(detail); restore it from a backup"
        case .incompatible(let detail): "the storage cannot be used: \(detail)"
        case .closed: "storage is closed: the server is shutting down"
        }
    }
}

extension ItemStorageError: LoggableError {
    /// The whole text: it names places and remedies only.
    public var logText: String { description }
}
