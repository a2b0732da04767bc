import RivuletBase
package import RivuletJSON
package import RivuletStores

/// The reason why a client's request to a store, a value or a secret was refused.
package enum SharedError: Error {
    /// The body is not JSON, or not of the right shape.
    case body(JSONError)
    /// The body is JSON of the right shape, but cannot be accepted.
    case refused(detail: String, pointer: String)
    /// There is no item with that identifier.
    case noItem(String)
    /// The item with that identifier cannot be read.
    case damagedItem(String)
    /// The stored value cannot be read.
    case damagedValue
    /// The item after which a page was to begin is gone.
    case pageGone(after: String)
    /// A condition on versions does not hold; `value` is the current value as JSON.
    case moved(version: UInt64, value: [UInt8]?)
    /// A condition on an item does not hold for this current item; nil if there is no item.
    case itemMoved(ItemAnswer?)
    /// The store refused the request.
    case store(StoreError)
    /// Storage refused the request.
    case storage(ItemStorageError)
    /// A secret could not be sealed or opened.
    case keychain(KeychainError)
    /// An error of the server itself.
    case fault(String)

    init(_ error: any Error) {
        switch error {
        case let error as SharedError: self = error
        case let error as JSONError: self = .body(error)
        case let error as StoreError: self = .store(error)
        case let error as ItemStorageError: self = .storage(error)
        case let error as KeychainError: self = .keychain(error)
        default: self = .fault("\(error)")
        }
    }
}

/// Receives the result of a request, exactly once, on any thread; it must not block.
package typealias SharedReply<Value> = @Sendable (Result<Value, SharedError>) -> Void

extension SharedError: CustomStringConvertible {
    /// The text for the log.
    package var description: String {
        switch self {
        case .body(let error): "\(error)"
        case .refused(let detail, _), .fault(let detail): detail
        case .noItem(let id): "there is no item \(String(reflecting: id))"
        case .damagedItem(let id): "the item \(String(reflecting: id)) cannot be read"
        case .damagedValue: "the stored value cannot be read"
        case .pageGone(let after): "the item \(String(reflecting: after)) no longer exists"
        case .moved(let version, _): "the current version is \(version)"
        case .itemMoved: "the item does not meet the condition"
        case .store(let error): "\(error)"
        case .storage(let error): "\(error)"
        case .keychain(let error): "\(error)"
        }
    }
}

extension SharedError: LoggableError {
    /// The kind of the error, and the text of a storage error.
    package var logText: String {
        switch self {
        case .storage(let error): error.logText
        case .keychain(let error): error.logText
        case .store(.full(let limitBytes)): "the store would hold more than \(limitBytes) bytes (StoreLimits.bytesMax)"
        case .store(.busy(let detail)): "the store is busy: \(detail)"
        case .store(.unreadable(let type, _)): "a \(type) could not be read again, so it was not stored"
        case .store(.unrepresentable): "an item has a value for which JSON has no form"
        case .damagedItem: "an item cannot be read; `rivulet check` names it"
        case .damagedValue: "the stored value cannot be read; `rivulet check` says why"
        case .fault: "an unexpected error; its text may quote a client and is left out"
        case .body, .refused, .noItem, .pageGone, .moved, .itemMoved: "a request that cannot be met"
        }
    }
}
