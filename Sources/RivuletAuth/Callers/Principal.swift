package import RivuletAccess
import RivuletBase
package import RivuletJSON

/// The verified identity behind a credential.
package struct Principal: Sendable {
    /// The kind of the credential.
    package enum Credential: Sendable {
        /// A token with its `jti`, and the kid of the key that verified it.
        case token(id: String?, keyID: String?)
        case apiKey(id: String)
    }

    /// The beginning of the subjects of API keys.
    package static let apiKeySubjectPrefix = "key:"

    /// 1 to 255 bytes; `key:ID` for an API key.
    package let subject: String
    /// Nil for API keys, and for tokens without `iss`.
    package let issuer: String?
    package let credential: Credential
    /// Seconds since 1970; nil for API keys.
    package let issuedAt: Int?
    /// Seconds since 1970, exclusive and without leeway; nil if the credential does not expire.
    package let expires: Int?
    /// The permissions of the credential itself; variables are not replaced yet.
    package let grants: [Grant]
    /// The verified claims of a token; an object with the name of an API key, if it has one.
    package let claims: JSONValue
    /// The roles in the claims of a token.
    package let roles: Set<String>

    package init(
        subject: String,
        issuer: String?,
        credential: Credential,
        issuedAt: Int?,
        expires: Int?,
        grants: [Grant],
        claims: JSONValue,
        roles: Set<String> = []
    ) {
        (self.subject, self.issuer, self.credential) = (subject, issuer, credential)
        (self.issuedAt, self.expires, self.grants, self.claims) = (issuedAt, expires, grants, claims)
        self.roles = roles
    }

    /// Returns true if the credential has expired; `now` is in seconds since 1970.
    ///
    /// Requests allow ``TokenVerifier/leewaySeconds``, streams end without leeway.
    package func isExpired(at now: Int, leewaySeconds: Int) -> Bool {
        guard let expires else { return false }
        return now >= expires + leewaySeconds
    }
}
