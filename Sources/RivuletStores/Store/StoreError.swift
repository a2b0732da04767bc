/// Why a store did not do what it was asked to; nothing was changed.
public enum StoreError: Error, Hashable, Sendable {
    /// An item has a value for which JSON has no form, such as a NaN, or its `encode(to:)` threw.
    case unrepresentable(key: String)
    /// The store would hold more than this many bytes of keys and documents.
    case full(limitBytes: Int)
    /// So much waits for the storage already; the same request may be made again later.
    case busy(detail: String)
    /// A value of this type cannot be read again from what is stored of it; `place` is a JSON Pointer with `*` for any
    /// element, empty where it is not known.
    case unreadable(type: String, place: String)
}

extension StoreError: CustomStringConvertible {
    /// What happened, and what mends it.
    public var description: String {
        switch self {
        case .unrepresentable(let key):
            "the item \(String(reflecting: key)) has a value for which JSON has no form, such as a NaN: nothing was stored"
        case .full(let limitBytes):
            "the store would hold more than \(limitBytes) bytes (StoreLimits.bytesMax): remove some items, or raise that"
        case .busy(let detail): "the store is busy: \(detail); try again later"
        case .unreadable(let type, let place):
            "nothing was stored, for a \(type) could not be read again\(place.isEmpty ? "" : " (\(place))"): give each of its fields "
                + "that is not stored, such as one with @Transient, an initial value"
        }
    }
}
