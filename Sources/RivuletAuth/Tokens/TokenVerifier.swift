import RivuletAccess
import RivuletBase
import RivuletJSON

/// Verifies JSON Web Tokens of the configured issuers.
///
/// All checks that need no key come first: size, form, claims, issuer and the key's name. A signature is computed for a
/// token that is right in everything else. Source: RFC 7519 section 7.2, RFC 8725 section 3.
package struct TokenVerifier: Sendable {
    /// The most bytes of a token.
    package static let tokenBytesMax = 8_000
    /// The most levels of a header and of a payload.
    package static let depthMax = 16
    /// The time by which the clocks of an issuer and of this server may differ.
    package static let leewaySeconds = 5
    /// The most issuers of a verifier.
    package static let issuersMax = 64

    private let issuers: [ByteText?: TokenIssuer]

    private let rolesClaim: RolesClaim

    /// Creates a verifier; issuers without a claim of roles have this one.
    ///
    /// - Throws: `AuthConfigurationError` if two issuers have one name.
    package init(
        issuers: [TokenIssuer],
        rolesClaim: RolesClaim = .default
    ) throws(AuthConfigurationError) {
        guard issuers.count <= Self.issuersMax else {
            throw .document("There are \(issuers.count) issuers. Use at most \(Self.issuersMax).")
        }
        var byName: [ByteText?: TokenIssuer] = [:]
        for issuer in issuers where byName.updateValue(issuer, forKey: issuer.name.map(ByteText.init)) != nil {
            throw .issuer(issuer.name, "is configured twice. Merge the keys into one set.")
        }
        (self.issuers, self.rolesClaim) = (byName, rolesClaim)
    }

    /// The longest lifetime of a token of any issuer, in seconds.
    package var lifetimeSecondsMax: Int {
        issuers.values.map(\.lifetimeSecondsMax).max() ?? TokenIssuer.defaultLifetimeSecondsMax
    }

    /// Returns true if an issuer has this name, byte for byte; nil is the issuer without a name.
    package func hasIssuer(named name: String?) -> Bool { issuers[name.map(ByteText.init)] != nil }

    /// The issuer of this name; nil is the issuer without a name.
    func issuer(named name: String?) -> TokenIssuer? { issuers[name.map(ByteText.init)] }

    /// The claim with the roles of an issuer's tokens.
    func rolesClaim(of issuer: TokenIssuer) -> RolesClaim { issuer.rolesClaim ?? rolesClaim }

    /// The names of the issuers, in the order of their bytes.
    package var issuerNames: [String] {
        issuers.values.compactMap(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The only issuer; nil if there are several, or none.
    package var soleIssuer: TokenIssuer? { issuers.count == 1 ? issuers.values.first : nil }

    /// A token that is right in everything but its signature, which is not verified yet.
    package struct Candidate: Sendable, CustomStringConvertible, CustomReflectable {
        fileprivate let token: CompactToken
        fileprivate let key: VerificationKey
        fileprivate let claims: TokenClaims
        fileprivate let rolesClaim: RolesClaim

        /// Verifies the signature, and then reads the grants; this is the expensive step.
        ///
        /// - Throws: `CredentialError.signature`, or the reason that the grants are refused.
        package func verified() throws(CredentialError) -> Principal {
            try token.verify(with: key)
            return Principal(
                subject: claims.subject,
                issuer: claims.issuer,
                credential: .token(id: claims.tokenID, keyID: key.id),
                issuedAt: claims.issuedAt,
                expires: claims.expires,
                grants: try Grant.list(ofClaims: claims.all),
                claims: claims.all,
                roles: rolesClaim.roles(of: claims.all)
            )
        }

        /// No part of the token, so that no text contains a credential.
        package var description: String { "TokenVerifier.Candidate" }

        /// An empty mirror, so that no dump contains a credential.
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// Verifies a token; `now` is in seconds since 1970.
    package func verify(_ token: [UInt8], at now: Int) throws(CredentialError) -> Principal {
        try candidate(token, at: now).verified()
    }

    /// Checks everything but the signature; `now` is in seconds since 1970.
    package func candidate(_ token: [UInt8], at now: Int) throws(CredentialError) -> Candidate {
        let token = try CompactToken(parsing: token[...])
        let claims = try TokenClaims(CompactToken.object(token.payload, .payload))
        guard let issuer = issuers[claims.issuer.map(ByteText.init)] else { throw .issuer(claims.issuer) }
        guard issuer.admits(type: token.type) else { throw .type(token.type) }
        let key = try issuer.keys.key(id: token.keyID)
        try token.checkAlgorithm(of: key)
        guard issuer.admits(audiences: claims.audiences) else { throw .audience }
        // API keys have such subjects, and no issuer.
        if claims.issuer == nil, claims.subject.utf8.starts(with: Principal.apiKeySubjectPrefix.utf8) {
            throw .claim("sub", needs: "another beginning than \"\(Principal.apiKeySubjectPrefix)\"")
        }
        try Self.checkTimes(of: claims, lifetimeSecondsMax: issuer.lifetimeSecondsMax, at: now)
        return Candidate(token: token, key: key, claims: claims, rolesClaim: rolesClaim(of: issuer))
    }

    private static func checkTimes(
        of claims: TokenClaims,
        lifetimeSecondsMax: Int,
        at now: Int
    ) throws(CredentialError) {
        guard now < claims.expires + leewaySeconds else { throw .expired(secondsAgo: now - claims.expires) }
        if let notBefore = claims.notBefore, now < notBefore - leewaySeconds {
            throw .notYetValid(inSeconds: notBefore - now)
        }
        guard claims.issuedAt <= now + leewaySeconds else { throw .issuedInFuture(inSeconds: claims.issuedAt - now) }
        let lifetime = claims.expires - claims.issuedAt
        guard lifetime > 0 else { throw .claim("exp", needs: "a time after \"iat\"") }
        guard lifetime <= lifetimeSecondsMax else { throw .lifetime(seconds: lifetime, max: lifetimeSecondsMax) }
    }
}
