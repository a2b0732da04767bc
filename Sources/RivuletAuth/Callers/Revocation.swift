import RivuletBase

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
