/// What a secret is for; secrets of two services with one key are two.
public struct KeychainService: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable {
    /// Any text.
    public let rawValue: String

    /// The service of that name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The service of that name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }
}

/// Whom a secret belongs to; secrets of two groups with one key are two.
public struct KeychainGroup: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable {
    /// Any text.
    public let rawValue: String

    /// The group of that name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The group of that name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }
}
