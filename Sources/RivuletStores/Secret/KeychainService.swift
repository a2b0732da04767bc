/// The purpose of a secret.
///
/// Secrets of two services under the same key are different secrets.
public struct KeychainService: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable {
    /// Any text.
    public let rawValue: String

    /// Creates the service with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates the service with this name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }
}

/// The owner of a secret.
///
/// Secrets of two groups under the same key are different secrets.
public struct KeychainGroup: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable {
    /// Any text.
    public let rawValue: String

    /// Creates the group with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates the group with this name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }
}
