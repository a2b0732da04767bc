import RivuletBase
package import RivuletJSON
package import RivuletStores

/// Why a request of a client to a store, a value or a secret was refused.
package enum SharedError: Error {
    /// The body is no JSON, or not of the right shape.
    case body(JSONError)
    /// The body is JSON of the right shape, and cannot be taken.
    case refused(detail: String, pointer: String)
    /// There is no item with that identifier.
    case noItem(String)
    /// What lies under that identifier cannot be read.
    case damagedItem(String)
    /// What is stored of the value cannot be read.
    case damagedValue
    /// The item after which a page was to begin has gone.
    case pageGone(after: String)
    /// A condition on versions does not hold; `value` is JSON, what is there instead.
    case moved(version: UInt64, value: [UInt8]?)
    /// A condition on an item does not hold; nil: there is none.
    case itemMoved(ItemAnswer?)
    /// The store did not take it.
    case store(StoreError)
    /// Storage did not take it.
    case storage(ItemStorageError)
    /// A secret could not be sealed or opened.
    case keychain(KeychainError)
    /// A fault of ours.
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

/// Receives the end of a request, exactly once, on any thread; it must not block.
package typealias SharedReply<Value> = @Sendable (Result<Value, SharedError>) -> Void

extension SharedError: CustomStringConvertible {
    /// For the log.
    package var description: String {
        switch self {
        case .body(let error): "\(error)"
        case .refused(let detail, _), .fault(let detail): detail
        case .noItem(let id): "there is no item \(String(reflecting: id))"
        case .damagedItem(let id): "the item \(String(reflecting: id)) cannot be read"
        case .damagedValue: "what is stored of the value cannot be read"
        case .pageGone(let after): "the item \(String(reflecting: after)) is not there any more"
        case .moved(let version, _): "it stands at version \(version)"
        case .itemMoved: "the item is another one"
        case .store(let error): "\(error)"
        case .storage(let error): "\(error)"
        case .keychain(let error): "\(error)"
        }
    }
}

extension SharedError: LoggableError {
    /// The kind, and what storage says.
    package var logText: String {
        switch self {
        case .storage(let error): error.logText
        case .keychain(let error): error.logText
        case .store(.full(let limitBytes)): "the store would hold more than \(limitBytes) bytes (StoreLimits.bytesMax)"
        case .store(.busy(let detail)): "the store is busy: \(detail)"
        case .store(.unreadable(let type, _)): "a \(type) could not be read again, so it was not stored"
        case .store(.unrepresentable): "an item has a value for which JSON has no form"
        case .damagedItem: "an item cannot be read; `rivulet check` names it"
        case .damagedValue: "what is stored of the value cannot be read; `rivulet check` says why"
        case .fault: "an error that no case describes, whose text may quote a client and is left out"
        case .body, .refused, .noItem, .pageGone, .moved, .itemMoved: "a request that cannot be met"
        }
    }
}
