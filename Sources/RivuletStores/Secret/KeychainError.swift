public import RivuletBase

/// Why a securely stored value is not what it was to become.
///
/// The names are Boutique's; there is no keychain here but values that are sealed at rest. Faults of the storage are
/// ``ItemStorageError``. Source: <Tests/Rows/Systems.md#e-24>.
public enum KeychainError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no value to change, there is one that none of the keys opens, or what is given for a key is none.
    case couldNotAccessKeychain
    /// There is no value; thrown by `SecurelyStoredValue.value()`.
    case itemNotFound
    /// There is no key to seal and open with, or its file has permissions with which it is not used.
    case missingEntitlement
    /// The file of the key cannot be read or made: `errno` of the call that failed.
    case errorWithStatus(status: Int32)

    /// What happened, and what mends it.
    public var description: String {
        switch self {
        case .couldNotAccessKeychain:
            "there is no value that can be opened, or what is given for a key is none, which the log tells; set a value, or give "
                + "the key that it was sealed with as an older key"
        case .itemNotFound: "there is no such value"
        case .missingEntitlement:
            "there is no key to seal values with, or its file is not used, which the log tells; give the value SealingKeys, "
                + "made of a secret such as that of RIVULET_SECRET_KEY"
        case .errorWithStatus(let status):
            "the file of the key cannot be read or made (errno \(status)); the log names it"
        }
    }
}

extension KeychainError: LoggableError {
    /// The whole text.
    public var logText: String { description }
}
