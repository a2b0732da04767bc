public import RivuletBase

/// The reason that a storage did not carry out a request.
///
/// Every case but `indeterminate` means that nothing was written.
public enum ItemStorageError: Error, Hashable, Sendable {
    /// The engine cannot work now.
    ///
    /// The same request may succeed later.
    case unavailable(detail: String)
    /// The request may or may not have been written.
    ///
    /// Open the collection again.
    case indeterminate(detail: String)
    /// There is no space on the disk.
    ///
    /// Reads still work.
    case full(detail: String)
    /// A document is larger than this number of bytes and can never be stored.
    case tooLarge(limitBytes: Int)
    /// The collection has reached its limit of documents.
    case tooMany(limit: Int)
    /// The collection is damaged as a whole.
    case corrupt(detail: String)
    /// The stored data or the library has a version or a setting that this engine does not support.
    case incompatible(detail: String)
    /// The engine was closed.
    case closed
}

extension ItemStorageError: CustomStringConvertible {
    /// The error, its location and its fix.
    public var description: String {
        switch self {
        case .unavailable(let detail): "storage is unavailable: \(detail)"
        case .indeterminate(let detail): "storage cannot tell whether the write is durable: \(detail)"
        case .full(let detail): "storage is full: \(detail)"
        case .tooLarge(let limitBytes):
            "the document is larger than \(limitBytes) bytes: make it smaller, or raise the limit of the storage engine"
        case .tooMany(let limit):
            "the store has reached its limit of \(limit) items: remove some, or raise the limit of the storage engine"
        case .corrupt(let detail): "the stored collection is damaged: \(detail); restore it from a backup"
        case .incompatible(let detail): "the storage cannot be used: \(detail)"
        case .closed: "storage is closed: the server is shutting down"
        }
    }
}

extension ItemStorageError: LoggableError {
    /// The whole text: it has only locations and fixes.
    public var logText: String { description }
}
