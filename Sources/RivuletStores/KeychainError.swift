// Part of Rivulet. See README.md for the architecture.
// The ways in which a securely stored value cannot be had or changed.

/// Why a securely stored value is not what it was to become.
///
/// The names are Boutique's; there is no keychain here but values that are sealed at rest. Faults of the storage are
/// ``ItemStorageError``. Source: spec/systems.md E-24.
public enum KeychainError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no value to change, or its document cannot be opened with any of the keys.
    case couldNotAccessKeychain
    /// There is no value.
    case itemNotFound
    /// There is no key to seal with.
    case missingEntitlement
    /// Another fault, by its number.
    case errorWithStatus(status: Int32)

    /// What happened, and what mends it.
    public var description: String {
        switch self {
        case .couldNotAccessKeychain: "there is no value that can be opened; set one first"
        case .itemNotFound: "there is no such value"
        case .missingEntitlement:
            "there is no key to seal values with; give the value SealingKeys, made of a secret such as that of RIVULET_SECRET_KEY"
        case .errorWithStatus(let status): "the fault has the number \(status)"
        }
    }
}
