import RivuletBase

/// A source of tokens, with the keys, audiences and types that belong to it alone.
///
/// Keys of different issuers are never tried together. Source: RFC 8725 section 3.8.
package struct TokenIssuer: Sendable {
    /// The value of `typ` in a token's header.
    package enum TokenType: String, CaseIterable, Sendable {
        /// An access token of OAuth 2. Source: RFC 9068 section 2.1.
        case accessToken = "at+jwt"
        /// Any token: `JWT`, or no type.
        ///
        /// Many providers mark access tokens so. The audience is then the only difference to a token of another use.
        case jwt = "JWT"
    }

    /// The most audiences of an issuer.
    package static let audiencesMax = 16

    /// The claim `iss`, byte for byte; nil for tokens without the claim.
    package let name: String?
    package let audiences: [String]
    package let types: Set<TokenType>
    package let keys: KeySet
    /// The longest time from a token's `iat` to its `exp`, in seconds.
    package let lifetimeSecondsMax: Int
    /// The claim with the roles; nil for the verifier's.
    package let rolesClaim: RolesClaim?

    /// The longest lifetime of a token where no other is configured, in seconds: a day.
    package static let defaultLifetimeSecondsMax = 86_400
    /// The longest lifetime that can be configured, in seconds: a year.
    package static let lifetimeSecondsLimit = 31_536_000

    /// Creates an issuer.
    ///
    /// The tokens of an issuer without audiences have none either: a token for another audience is never taken.
    ///
    /// - Throws: `AuthConfigurationError` for a key set of an identity provider without a name or an audience.
    package init(
        name: String?,
        audiences: [String],
        types: Set<TokenType> = [.accessToken],
        keys: KeySet,
        lifetimeSecondsMax: Int = defaultLifetimeSecondsMax,
        rolesClaim: RolesClaim? = nil
    ) throws(AuthConfigurationError) {
        guard name?.isEmpty != true else { throw .issuer(name, "is an empty text. Give the value of \"iss\".") }
        if keys.isDocument {
            guard name != nil else { throw .issuer(nil, "has a key set. Name it with --issuer.") }
            guard !audiences.isEmpty else { throw .issuer(name, "has a key set and no audience. Add --audience.") }
        }
        guard audiences.count <= Self.audiencesMax else {
            throw .issuer(name, "has \(audiences.count) audiences. Use at most \(Self.audiencesMax).")
        }
        guard !audiences.contains("") else { throw .issuer(name, "has an empty audience. Remove it.") }
        guard !types.isEmpty else { throw .issuer(name, "admits no type of token. Add --token-type.") }
        guard lifetimeSecondsMax > 0 else { throw .issuer(name, "admits no lifetime. Use 1 second or more.") }
        guard lifetimeSecondsMax <= Self.lifetimeSecondsLimit else {
            throw .issuer(name, "admits too long a lifetime. Use at most \(Self.lifetimeSecondsLimit) seconds.")
        }
        self.name = name
        self.audiences = audiences
        self.types = types
        self.keys = keys
        self.lifetimeSecondsMax = lifetimeSecondsMax
        self.rolesClaim = rolesClaim
    }

    /// Returns true if a token of this type is admitted; upper and lower case are the same.
    ///
    /// Source: RFC 7515 section 4.1.9.
    func admits(type: String?) -> Bool {
        guard let type else { return types.contains(.jwt) }
        return types.contains { $0.rawValue.lowercased().hasSameBytes(as: type.lowercased()) }
    }

    /// Returns true if one of the audiences is the issuer's, or if neither has any.
    func admits(audiences named: [String]) -> Bool {
        if audiences.isEmpty { return named.isEmpty }
        return audiences.contains { own in named.contains { $0.hasSameBytes(as: own) } }
    }
}
