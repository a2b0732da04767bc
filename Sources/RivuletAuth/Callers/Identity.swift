package import RivuletAccess

/// A caller with its permissions: the source of a request.
///
/// An object, because requests, streams and caches share it.
package final class Identity: Sendable {
    /// The verified credential; nil for an anonymous caller.
    package let principal: Principal?
    package let caller: Caller
    package let grants: CallerGrants
    /// The grants as they were read: of the credential, and of the policy.
    package let sources: [Grant]
    /// The number of the authenticator that made the identity.
    package let authenticator: UInt64
    /// The keys that verified the credential; nil for an anonymous caller.
    let verifier: KeyFingerprint?
    /// The approximate memory of the grants that no other identity shares, in bytes.
    ///
    /// Grants of the policy without variables are shared. Those of a token are counted twice: as they were read, and
    /// as they are used.
    package let grantBytes: Int

    /// Binds the grants to the caller.
    package init(
        _ principal: Principal?,
        _ caller: Caller,
        _ sources: [Grant],
        by authenticator: UInt64 = 0,
        _ verifier: KeyFingerprint? = nil
    ) {
        (self.authenticator, self.verifier) = (authenticator, verifier)
        let grants = CallerGrants(sources, of: caller)
        self.principal = principal
        self.caller = caller.with(isOperator: grants.allows(.operate, app: nil))
        self.grants = grants
        self.sources = sources
        grantBytes = grants.ownBytes + (principal?.grants ?? []).reduce(0) { $0 + 2 * $1.boundBytes }
    }

    /// Creates an identity with other grants, for a server without credentials.
    package init(caller: Caller, grants: CallerGrants) {
        (principal, sources, authenticator, verifier, grantBytes) = (nil, [], 0, nil, 0)
        self.caller = caller.with(isOperator: grants.allows(.operate, app: nil))
        self.grants = grants
    }

    /// Returns true if the credential of a request has expired; `now` is in seconds since 1970.
    ///
    /// The clocks may differ by ``TokenVerifier/leewaySeconds``.
    package func isExpired(at now: Int) -> Bool {
        principal?.isExpired(at: now, leewaySeconds: TokenVerifier.leewaySeconds) == true
    }

    /// Returns the error of a credential that has expired; nil for one that is valid.
    package func expiry(at now: Int) -> CredentialError? {
        guard isExpired(at: now), let principal else { return nil }
        return switch principal.credential {
        case .token: .expired(secondsAgo: now - (principal.expires ?? now))
        case .apiKey(let id): .apiKeyExpired(id)
        }
    }
}
