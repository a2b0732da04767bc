package import Crypto
package import RivuletAccess

/// The keys and rules that identify callers: issuers of tokens, API keys, and the policy.
///
/// The value has no I/O. A change of the files makes another authenticator.
package struct Authenticator: Sendable {
    let tokens: TokenVerifier
    let apiKeys: APIKeyFile
    private let policy: AccessPolicy
    private var pseudonyms: PseudonymKey
    /// The number of this authenticator among those of its server.
    package let number: UInt64
    /// The fingerprint of all keys of tokens.
    let tokenKeys: KeyFingerprint
    /// A caller without a credential.
    package let anonymous: Identity

    /// Creates an authenticator.
    ///
    /// `rolesClaim` is the claim with the roles, for issuers that name none. The `secret` makes ``Caller/me``: another
    /// secret gives every caller another name. `keyDocuments` are the bytes from which the issuers' keys were read.
    ///
    /// - Throws: `AuthConfigurationError` if two issuers have one name, or for a claim without a name.
    package init(
        issuers: [TokenIssuer],
        apiKeys: APIKeyFile = APIKeyFile(),
        policy: AccessPolicy = AccessPolicy(),
        rolesClaim: String = RolesClaim.default.description,
        secret: SymmetricKey,
        keyDocuments: [[UInt8]] = [],
        number: UInt64 = 0
    ) throws(AuthConfigurationError) {
        guard let claim = RolesClaim(rolesClaim) else {
            throw .document("The claim of the roles needs a name of 1 to \(RolesClaim.bytesMax) bytes.")
        }
        tokens = try TokenVerifier(issuers: issuers, rolesClaim: claim)
        (self.apiKeys, self.policy) = (apiKeys, policy)
        pseudonyms = PseudonymKey(secret)
        self.number = number
        tokenKeys = KeyFingerprint(of: keyDocuments)
        anonymous = Identity(nil, .anonymous, policy.grants(roles: [], isAnonymous: true), by: number, nil)
    }

    /// Returns the same keys and rules, with another secret of the callers' names.
    package func naming(by secret: SymmetricKey) -> Authenticator {
        var copy = self
        copy.pseudonyms = PseudonymKey(secret)
        return copy
    }

    /// The names of the issuers, in the order of their bytes.
    package var issuerNames: [String] { tokens.issuerNames }

    /// Returns the longest lifetime of the tokens that a revocation covers, in seconds; `count` is the number of
    /// revocations.
    ///
    /// An issuer that is not configured now may be configured again, and a lifetime may become longer. So the result is
    /// the longest possible lifetime while there is room. In a fuller list, it is that of the present issuers, unless
    /// the revocation names another one.
    package func lifetimeSecondsMax(of revocation: Revocation, among count: Int) -> Int {
        guard count >= Revocations.keptForYearMax else { return TokenIssuer.lifetimeSecondsLimit }
        if case .subject(_, let issuer, _) = revocation, !tokens.hasIssuer(named: issuer) {
            return TokenIssuer.lifetimeSecondsLimit
        }
        return tokens.lifetimeSecondsMax
    }

    /// The only issuer; nil if there are several, or none.
    package var soleIssuer: TokenIssuer? { tokens.soleIssuer }

    /// Verifies a token or an API key; `now` is in seconds since 1970.
    ///
    /// The caller has the grants of its credential, and those of the policy. An API key has no roles. `isRevoked`
    /// tells if the credential of a verified principal was taken back.
    ///
    /// - Throws: `CredentialError`, also for a credential that is revoked. A bad credential is never anonymous.
    package func identify(
        _ credential: [UInt8],
        at now: Int,
        isRevoked: (Principal) -> Bool = { _ in false }
    ) throws(CredentialError) -> Identity {
        let principal =
            try APIKey.isBeginning(of: credential)
            ? apiKeys.verify(credential, at: now) : tokens.verify(credential, at: now)
        guard !isRevoked(principal) else { throw .revoked }
        return identity(of: principal, caller(of: principal))
    }

    func caller(of principal: Principal) -> Caller {
        Caller(
            subject: principal.subject,
            issuer: principal.issuer,
            me: pseudonyms.name(issuer: principal.issuer, subject: principal.subject),
            roles: principal.roles,
            claims: principal.claims
        )
    }

    func identity(of principal: Principal, _ caller: Caller) -> Identity {
        let granted = policy.grants(roles: principal.roles, isAnonymous: false)
        return Identity(principal, caller, principal.grants + granted, by: number, verifier(of: principal))
    }

    /// Returns the identity of an earlier authenticator's caller under the present keys and rules, without its
    /// credential.
    ///
    /// The result is nil if the keys that verified the credential are not the present ones: the caller has to send the
    /// credential again.
    package func identify(again identity: Identity) -> Identity? {
        guard let principal = identity.principal else {
            let granted = policy.grants(roles: [], isAnonymous: true)
            return Identity(nil, identity.caller, granted, by: number, nil)
        }
        guard verifier(of: principal) == identity.verifier else { return nil }
        guard case .apiKey(let id) = principal.credential else { return self.identity(of: principal, identity.caller) }
        // The entry of the key may have another name, which `${claim.name}` stands for.
        return apiKeys.principal(id: id).map { self.identity(of: $0, caller(of: $0)) }
    }

    private func verifier(of principal: Principal) -> KeyFingerprint? {
        switch principal.credential {
        case .token: tokenKeys
        case .apiKey(let id): apiKeys.fingerprint(id: id)
        }
    }

    /// Returns the identity of a request without a credential.
    ///
    /// The name in its session cookie stands for `${me}`.
    package func anonymous(me: String) -> Identity {
        Identity(nil, .anonymous(me: me), policy.grants(roles: [], isAnonymous: true), by: number, nil)
    }
}
