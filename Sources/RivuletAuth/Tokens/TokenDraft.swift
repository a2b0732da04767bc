import RivuletAccess
package import RivuletJSON

/// The content of a token that is not signed yet.
package struct TokenDraft: Sendable {
    /// The claim `sub`.
    package var subject: String
    /// The claim `iss`; nil for a token without the claim.
    package var issuer: String?
    /// The claim `aud`; a token without audiences has no claim.
    package var audiences: [String] = []
    /// The claim `roles`; a token without roles has no claim.
    package var roles: [String] = []
    /// The claim `authorization_details`: grants as a policy has them, without a type.
    package var grants: [JSONValue] = []
    /// The claim `jti`, by which the token can be revoked.
    package var tokenID: String
    /// The header's `kid`; nil for a token without one.
    package var keyID: String?
    /// Seconds since 1970.
    package var issuedAt: Int
    /// Seconds since 1970.
    package var expires: Int

    /// Creates a draft without roles and grants.
    package init(subject: String, tokenID: String, issuedAt: Int, expires: Int) {
        (self.subject, self.tokenID) = (subject, tokenID)
        (self.issuedAt, self.expires) = (issuedAt, expires)
    }

    /// Signs the token, and checks it as a server does.
    ///
    /// - Throws: `AuthConfigurationError` for claims that no server takes, and for a token over the limit.
    package func signed(with key: SigningKey) throws(AuthConfigurationError) -> String {
        let text = "\(Base64URL.encode(header(key).description.utf8)).\(Base64URL.encode(claims.description.utf8))"
        let token: String
        do {
            token = "\(text).\(Base64URL.encode(try key.signature(of: Array(text.utf8))))"
        } catch {
            throw .document("The key cannot sign: \(ForeignText.line("\(error)")).")
        }
        do throws(CredentialError) {
            let parsed = try CompactToken(parsing: Array(token.utf8)[...])
            try parsed.verify(with: key.verificationKey)
            _ = try TokenClaims(CompactToken.object(parsed.payload, .payload))
            _ = try Grant.list(ofClaims: claims)
        } catch {
            throw .document("No server would take the token. \(error)")
        }
        return token
    }

    private func header(_ key: SigningKey) -> JSONValue {
        Self.object([
            ("alg", .string(key.algorithm.rawValue)),
            ("typ", .string(TokenIssuer.TokenType.accessToken.rawValue)),
            ("kid", keyID.map(JSONValue.string)),
        ])
    }

    private var claims: JSONValue {
        let audience: JSONValue? =
            audiences.count > 1 ? .array(audiences.map(JSONValue.string)) : audiences.first.map(JSONValue.string)
        return Self.object([
            ("iss", issuer.map(JSONValue.string)),
            ("sub", .string(subject)),
            ("aud", audience),
            ("iat", .number("\(issuedAt)")),
            ("exp", .number("\(expires)")),
            ("jti", .string(tokenID)),
            ("roles", roles.isEmpty ? nil : .array(roles.map(JSONValue.string))),
            ("authorization_details", grants.isEmpty ? nil : .array(grants.map(Self.typed))),
        ])
    }

    private static func object(_ members: [(name: String, value: JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { JSONValue.Member(name: name, value: $0) } })
    }

    /// The grant as an entry of `authorization_details`.
    private static func typed(_ grant: JSONValue) -> JSONValue {
        .object([.init(name: "type", value: .string(Grant.tokenType))] + (grant.members ?? []))
    }
}
