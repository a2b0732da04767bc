package import Crypto
package import RivuletAccess

/// The keys and rules that identify callers: issuers of tokens, API keys, and the policy.
///
/// The value has no I/O. A change of the files makes another authenticator.
package struct Authenticator: Sendable {
    private let tokens: TokenVerifier
    private let apiKeys: APIKeyFile
    private let policy: AccessPolicy
    private let pseudonyms: PseudonymKey
    /// A caller without a credential.
    package let anonymous: Identity

    /// Creates an authenticator.
    ///
    /// `rolesClaim` is the claim with the roles, for issuers that name none. The `secret` makes ``Caller/me``: another
    /// secret gives every caller another name.
    ///
    /// - Throws: `AuthConfigurationError` if two issuers have one name, or for a claim without a name.
    package init(
        issuers: [TokenIssuer],
        apiKeys: APIKeyFile = APIKeyFile(),
        policy: AccessPolicy = AccessPolicy(),
        rolesClaim: String = RolesClaim.standard.description,
        secret: SymmetricKey
    ) throws(AuthConfigurationError) {
        guard let claim = RolesClaim(rolesClaim) else {
            throw .document("The claim of the roles needs a name of 1 to \(RolesClaim.bytesMax) bytes.")
        }
        tokens = try TokenVerifier(issuers: issuers, rolesClaim: claim)
        (self.apiKeys, self.policy) = (apiKeys, policy)
        pseudonyms = PseudonymKey(secret)
        anonymous = Identity(nil, .anonymous, policy.grants(roles: [], isAnonymous: true))
    }

    /// The names of the issuers, in the order of their bytes.
    package var issuerNames: [String] { tokens.issuerNames }

    /// The longest lifetime of a token, in seconds.
    package var lifetimeSecondsMax: Int { tokens.lifetimeSecondsMax }

    /// The only issuer; nil if there are several, or none.
    package var soleIssuer: TokenIssuer? { tokens.soleIssuer }

    /// Verifies a token or an API key; `now` is in seconds since 1970.
    ///
    /// The caller has the grants of its credential, and those of the policy. An API key has no roles. `isRevoked`
    /// tells if the credential of a verified principal was taken back.
    ///
    /// - Throws: `CredentialRefusal`, also for a credential that is revoked. A bad credential is never anonymous.
    package func identify(
        _ credential: [UInt8],
        at now: Int,
        isRevoked: (Principal) -> Bool = { _ in false }
    ) throws(CredentialRefusal) -> Identity {
        let principal =
            try APIKey.isBeginning(of: credential)
            ? apiKeys.verify(credential, at: now) : tokens.verify(credential, at: now)
        guard !isRevoked(principal) else { throw .revoked }
        let caller = Caller(
            subject: principal.subject,
            issuer: principal.issuer,
            me: pseudonyms.name(issuer: principal.issuer, subject: principal.subject),
            roles: principal.roles,
            claims: principal.claims
        )
        let granted = policy.grants(roles: principal.roles, isAnonymous: false)
        return Identity(principal, caller, principal.grants + granted)
    }

    /// Returns the identity of a request without a credential.
    ///
    /// The name in its session cookie stands for `${me}`.
    package func anonymous(me: String) -> Identity {
        Identity(nil, .anonymous(me: me), policy.grants(roles: [], isAnonymous: true))
    }
}
