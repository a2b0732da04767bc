/// The files with the keys and rules by which a server knows its callers, and the claims that it asks of tokens.
///
/// A server with at least one key file, key set, file of issuers or file of API keys asks for credentials. The files
/// are read when the server starts, at SIGHUP, and when they change. Source: <Documentation/Security.md#credentials>.
public struct CredentialFiles: Hashable, Sendable {
    /// A file with the key of one issuer: a public key as PEM, or a secret of at least 32 bytes with mode 0600.
    public var jwtKeyFile: String?
    /// The algorithm of the key file: HS256, RS256, PS256, ES256, ES384 or EdDSA; a PEM file needs one.
    public var jwtAlgorithm: String?
    /// A JSON Web Key Set: a file, or an https URL that ``ServerOptions/keySource`` fetches; RFC 7517 section 5.
    public var keySet: String?
    /// A file of several issuers, each with its keys, audiences and types, in place of a key file or a key set.
    public var issuerFile: String?
    /// The value of the claim `iss`; a key set needs one.
    public var issuer: String?
    /// The values of the claim `aud`, one of which a token must have; a key set needs one.
    ///
    /// Issuers of the file that name no audience have these.
    public var audiences: [String]
    /// True if tokens need the type `at+jwt`; false also admits `JWT` and no type, which many providers use.
    public var needsAccessTokens: Bool
    /// The path of the claim with a caller's roles, such as `realm_access.roles`.
    public var rolesClaim: String
    /// A file of API keys, with mode 0600, which `rivulet keys add` writes.
    public var apiKeys: String?
    /// A file with the permissions of roles, of all callers with a credential, and of all callers.
    public var policy: String?

    /// Names the files; without one, the server asks for no credentials.
    public init(
        jwtKeyFile: String? = nil,
        jwtAlgorithm: String? = nil,
        keySet: String? = nil,
        issuerFile: String? = nil,
        issuer: String? = nil,
        audiences: [String] = [],
        needsAccessTokens: Bool = true,
        rolesClaim: String = "roles",
        apiKeys: String? = nil,
        policy: String? = nil
    ) {
        (self.jwtKeyFile, self.jwtAlgorithm, self.keySet) = (jwtKeyFile, jwtAlgorithm, keySet)
        self.issuerFile = issuerFile
        (self.issuer, self.audiences, self.needsAccessTokens) = (issuer, audiences, needsAccessTokens)
        (self.rolesClaim, self.apiKeys, self.policy) = (rolesClaim, apiKeys, policy)
    }
}
