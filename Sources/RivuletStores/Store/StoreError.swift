/// The reason that a store did not carry out a request; nothing was changed.
public enum StoreError: Error, Hashable, Sendable {
    /// An item has a value that JSON cannot represent, such as a NaN, or its `encode(to:)` threw an error.
    case unrepresentable(key: String)
    /// The store would hold more than this many bytes of keys and documents.
    case full(limitBytes: Int)
    /// The limit of waiting requests is reached.
    ///
    /// The same request may succeed later.
    case busy(detail: String)
    /// A value of this type cannot be read again from its stored form.
    ///
    /// `path` is a JSON Pointer with `*` for any element; empty if the field is unknown.
    case unreadable(type: String, path: String)
}

extension StoreError: CustomStringConvertible {
    /// The error and its fix.
    public var description: String {
        switch self {
        case .unrepresentable(let key):
            "the item \(String(reflecting: key)) has a value for which JSON has no form, such as a NaN: nothing was stored"
        case .full(let limitBytes):
            "the store would hold more than \(limitBytes) bytes (StoreLimits.bytesMax): remove some items, or raise that limit"
        case .busy(let detail): "the store is busy: \(detail); try again later"
        case .unreadable(let type, let path):
            "nothing was stored, because a \(type) could not be read again\(path.isEmpty ? "" : " (\(path))"): give each of its fields "
                + "that is not stored, such as one with @Transient, an initial value"
        }
    }
}
