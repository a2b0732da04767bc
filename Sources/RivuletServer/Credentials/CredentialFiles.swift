import Crypto
import RivuletAccess
package import RivuletAuth

/// The files with the keys and rules by which a server knows its callers, and the claims that it asks of tokens.
///
/// A server with at least one key file, key set or file of API keys asks for credentials. The files are read when the
/// server starts, at SIGHUP, and when they change. Source: <Documentation/Security.md#credentials>.
public struct CredentialFiles: Hashable, Sendable {
    /// A file with the key of one issuer: a public key as PEM, or a secret of at least 32 bytes with mode 0600.
    public var jwtKeyFile: String?
    /// The algorithm of the key file: HS256, RS256, PS256, ES256, ES384 or EdDSA; a PEM file needs one.
    public var jwtAlgorithm: String?
    /// A file with a JSON Web Key Set; RFC 7517 section 5.
    public var keySet: String?
    /// The value of the claim `iss`; a key set needs one.
    public var issuer: String?
    /// The values of the claim `aud`, one of which a token must have; a key set needs one.
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
        issuer: String? = nil,
        audiences: [String] = [],
        needsAccessTokens: Bool = true,
        rolesClaim: String = "roles",
        apiKeys: String? = nil,
        policy: String? = nil
    ) {
        (self.jwtKeyFile, self.jwtAlgorithm, self.keySet) = (jwtKeyFile, jwtAlgorithm, keySet)
        (self.issuer, self.audiences, self.needsAccessTokens) = (issuer, audiences, needsAccessTokens)
        (self.rolesClaim, self.apiKeys, self.policy) = (rolesClaim, apiKeys, policy)
    }

    /// The paths of the files.
    var paths: [String] { [jwtKeyFile, keySet, apiKeys, policy].compactMap(\.self) }

    /// Reads all files, for a command that decides as a server would.
    ///
    /// Names of callers differ from those of the server, which has a secret of its own.
    ///
    /// - Throws: a `ServerError` of one line, with the file and the remedy.
    package func authenticator() throws(ServerError) -> Authenticator {
        try read(secret: SymmetricKey(size: .bits256))
    }

    /// Reads all files.
    ///
    /// - Throws: a `ServerError` of one line, with the file and the remedy.
    func read(secret: SymmetricKey) throws(ServerError) -> Authenticator {
        guard jwtKeyFile != nil || keySet != nil || apiKeys != nil else {
            throw ServerError(
                "there is no key with which a caller could sign in; add --jwt-key-file, --jwks or --api-keys"
            )
        }
        guard jwtKeyFile == nil || keySet == nil else {
            throw ServerError("--jwt-key-file and --jwks both name the keys of one issuer; give one of them")
        }
        let issuers = try issuers()
        let keys = try apiKeys.map { path throws(ServerError) in
            try Self.parsed(path, isSecret: true) { bytes throws(AuthConfigurationError) in
                try APIKeyFile(parsing: bytes)
            }
        }
        let policy = try policy.map { path throws(ServerError) in
            try Self.parsed(path) { bytes throws(AccessPolicyError) in try AccessPolicy(parsing: bytes) }
        }
        do throws(AuthConfigurationError) {
            return try Authenticator(
                issuers: issuers,
                apiKeys: keys ?? APIKeyFile(),
                policy: policy ?? AccessPolicy(),
                rolesClaim: rolesClaim,
                secret: secret
            )
        } catch {
            throw ServerError("\(error)")
        }
    }

    /// The issuer of the tokens; empty if the server takes API keys only.
    private func issuers() throws(ServerError) -> [TokenIssuer] {
        guard let path = jwtKeyFile ?? keySet else { return [] }
        let algorithm = try Self.algorithm(named: jwtAlgorithm)
        let keys =
            if keySet != nil {
                try Self.parsed(path) { bytes throws(AuthConfigurationError) in
                    try KeySet(jwks: bytes, rsaAlgorithm: algorithm ?? .rs256)
                }
            } else {
                try Self.parsed(path, isSecret: true) { bytes throws(AuthConfigurationError) in
                    try KeySet(keyFile: bytes, algorithm: algorithm)
                }
            }
        do throws(AuthConfigurationError) {
            let issuer = try TokenIssuer(
                name: issuer,
                audiences: audiences,
                types: needsAccessTokens ? [.accessToken] : [.accessToken, .jwt],
                keys: keys
            )
            return [issuer]
        } catch {
            throw ServerError("\(error)")
        }
    }

    /// Returns the algorithm with this name; nil for no name.
    ///
    /// - Throws: a `ServerError` with the known names.
    package static func algorithm(named name: String?) throws(ServerError) -> SignatureAlgorithm? {
        guard let name else { return nil }
        guard let algorithm = SignatureAlgorithm(name: name) else {
            let known = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw ServerError("--jwt-alg is \"\(name)\", which is none of \(known)")
        }
        return algorithm
    }

    /// Reads a file, and puts its path before an error.
    private static func parsed<Value, Failure: Error & CustomStringConvertible>(
        _ path: String,
        isSecret: Bool = false,
        _ parse: (_ bytes: [UInt8]) throws(Failure) -> Value
    ) throws(ServerError) -> Value {
        let file = try CredentialFile(path)
        // A public key needs no protection.
        if isSecret, !file.isPublicKey { try file.checkIsPrivate() }
        do throws(Failure) {
            return try parse(file.bytes)
        } catch {
            throw ServerError("\(path): \(error)")
        }
    }
}
