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

    package init(
        subject: String,
        issuer: String?,
        credential: Credential,
        issuedAt: Int?,
        expires: Int?,
        grants: [Grant],
        claims: JSONValue
    ) {
        (self.subject, self.issuer, self.credential) = (subject, issuer, credential)
        (self.issuedAt, self.expires, self.grants, self.claims) = (issuedAt, expires, grants, claims)
    }

    /// Returns true if the credential has expired; `now` is in seconds since 1970.
    ///
    /// Requests allow ``TokenVerifier/leewaySeconds``, streams end without leeway.
    package func isExpired(at now: Int, leewaySeconds: Int) -> Bool {
        guard let expires else { return false }
        return now >= expires + leewaySeconds
    }
}

/// The credentials that an operator takes back.
package enum Revocation: Sendable {
    /// The tokens with this `jti`.
    case token(id: String)
    /// The tokens of a subject that were issued at `issuedUntil` or before, in seconds since 1970.
    ///
    /// The clock of the issuer may be fast, so tokens of the next ``TokenVerifier/leewaySeconds`` are covered too.
    case subject(String, issuer: String?, issuedUntil: Int)
    /// An API key.
    case apiKey(id: String)

    /// Returns true if the principal's credential is taken back.
    ///
    /// Names are compared by their bytes.
    package func covers(_ principal: Principal) -> Bool {
        switch (self, principal.credential) {
        case (.token(let id), .token(let own, _)): own?.hasSameBytes(as: id) == true
        case (.subject(let subject, let issuer, let issuedUntil), .token):
            principal.subject.hasSameBytes(as: subject)
                && principal.issuer.map(ByteText.init) == issuer.map(ByteText.init)
                && principal.issuedAt.map { $0 <= issuedUntil + TokenVerifier.leewaySeconds } == true
        case (.apiKey(let id), .apiKey(let own)): own.hasSameBytes(as: id)
        case (.token, .apiKey), (.subject, .apiKey), (.apiKey, .token): false
        }
    }
}
