public import RivuletBase

/// The error of an operation on a securely stored value.
///
/// The names are Boutique's. There is no keychain here; values are sealed at rest. Errors of the storage are
/// ``ItemStorageError``. Source: <Tests/Rows/Systems.md#e-24>.
public enum KeychainError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no value to change, no key opens the value, or the configured key is invalid.
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
            "there is no value, no key opens the value, or the given key is invalid (then the log has the reason); set a value, or "
                + "give the key that sealed the value as an older key"
        case .itemNotFound: "no value is stored"
        case .missingEntitlement:
            "there is no key to seal values with, or the permissions of its file are wrong (then the log has the reason); give the "
                + "value SealingKeys that are made of a secret, such as the text of RIVULET_SECRET_KEY"
        case .errorWithStatus(let status):
            "the file of the key cannot be read or created (errno \(status)); the log names the file"
        }
    }
}

extension KeychainError: LoggableError {
    /// The whole text.
    public var logText: String { description }
}
