// The options of `rivulet serve` that name the keys and rules for callers.

import ArgumentParser
import Rivulet

/// The files with keys, API keys and permissions, and the claims that tokens must have.
struct CredentialOptions: ParsableArguments {
    @Option(help: "A file with the key of one issuer of tokens: a public key as PEM, or a secret. (default: none)")
    var jwtKeyFile: String?

    @Option(help: "The algorithm of the key file: HS256, RS256, PS256, ES256, ES384 or EdDSA. PEM needs one.")
    var jwtAlg: String?

    @Option(help: "A JSON Web Key Set: a file, or an https URL. It needs --issuer and --audience. (default: none)")
    var jwks: String?

    @Option(help: "A file of several issuers with their keys; instead of --jwt-key-file and --jwks. (default: none)")
    var auth: String?

    @Option(help: "The claim iss that tokens must have. (default: none)")
    var issuer: String?

    @Option(help: "The claim aud: a token must have one of these: https://a.example,b. (default: --public-url)")
    var audience: String?

    @Option(help: "The type that tokens must have: at+jwt, or JWT to admit every type. (default: at+jwt)")
    var tokenType: String?

    @Option(help: "The path of the claim with the roles, such as realm_access.roles. (default: roles)")
    var rolesClaim: String?

    @Option(help: "A file of API keys, as rivulet keys add writes it. (default: none)")
    var apiKeys: String?

    @Option(help: "A file with the permissions of roles and of all callers. (default: none)")
    var policy: String?

    @Flag(help: "Show in each 401 why the credential was refused; for a server that only this machine reaches.")
    var explainAuth = false

    /// Applies these options and their variables; the public URL must be set before.
    func apply(to options: inout ServerOptions) throws {
        var files = CredentialFiles(
            jwtKeyFile: jwtKeyFile ?? Environment.text("JWT_KEY_FILE"),
            jwtAlgorithm: jwtAlg ?? Environment.text("JWT_ALG"),
            keySet: jwks ?? Environment.text("JWKS"),
            issuerFile: auth ?? Environment.text("AUTH"),
            issuer: issuer ?? Environment.text("ISSUER"),
            audiences: DoorOptions.list(audience ?? Environment.text("AUDIENCE")),
            rolesClaim: rolesClaim ?? Environment.text("ROLES_CLAIM") ?? "roles",
            apiKeys: apiKeys ?? Environment.text("API_KEYS"),
            policy: policy ?? Environment.text("POLICY")
        )
        switch tokenType ?? Environment.text("TOKEN_TYPE") ?? "at+jwt" {
        case "at+jwt": break
        case "JWT": files.needsAccessTokens = false
        case let name: throw ValidationError("--token-type is at+jwt or JWT; found \"\(name)\"")
        }
        let explains = try explainAuth || Environment.value("EXPLAIN_AUTH", Environment.flag) ?? false
        let named = [files.jwtKeyFile, files.keySet, files.issuerFile, files.apiKeys, files.policy]
        guard named.contains(where: { $0 != nil }) else {
            guard files == CredentialFiles(), !explains else {
                throw ValidationError(
                    "the options for tokens have no keys; add --jwt-key-file, --jwks, --auth or --api-keys, or leave them out"
                )
            }
            return
        }
        if files.keySet != nil || files.issuerFile != nil, files.audiences.isEmpty, let url = options.publicURL {
            files.audiences = [url]
        }
        options.credentials = files
        options.explainsRefusedCredentials = explains
        options.keySource = CurlKeySource()
    }
}
