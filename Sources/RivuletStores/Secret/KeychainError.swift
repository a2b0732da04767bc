public import RivuletBase

/// The error of an operation on a securely stored value.
///
/// The names are Boutique's. There is no keychain here; values are sealed at rest. Errors of the storage are
/// ``ItemStorageError``. Source: <Tests/Rows/Systems.md#e-24>.
public enum KeychainError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no value to change, or no key opens the value, or the text that is given as a key is invalid.
    case couldNotAccessKeychain
    /// There is no value; thrown by `SecurelyStoredValue.value()`.
    case itemNotFound
    /// There is no key to seal and open values, or the permissions of the key's file forbid its use.
    case missingEntitlement
    /// The key's file cannot be read or created: the `errno` of the failed call.
    case errorWithStatus(status: Int32)

    /// The error and its fix.
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
