import Crypto
import RivuletAccess
package import RivuletAuth

extension CredentialFiles {
    /// The paths of the files, with the key files that the file of issuers names now.
    var paths: [String] {
        let own = [jwtKeyFile, keySet, issuerFile, apiKeys, policy].compactMap(\.self)
        return (own + issuerSources).filter { !KeySetURL.isURL($0) }
    }

    /// The URLs of key sets.
    var urls: [String] { ([keySet].compactMap(\.self) + issuerSources).filter(KeySetURL.isURL) }

    /// The paths and URLs that the file of issuers names now; empty for a broken file, and its reading has the fault.
    private var issuerSources: [String] {
        guard let issuerFile else { return [] }
        do throws(ServerError) {
            var documents = CredentialDocuments()
            return try described(in: issuerFile, &documents).map { location(of: $0.source, in: issuerFile) }
        } catch {
            return []
        }
    }

    /// Returns the key set at a URL; nil leaves the issuer out.
    typealias KeySets = (_ url: String) throws(ServerError) -> [UInt8]?

    /// Reads all files, for a command that decides as a server would.
    ///
    /// Names of callers differ from those of the server, which has a secret of its own.
    ///
    /// - Throws: a `ServerError` of one line, with the file and the remedy.
    package func authenticator(keySource: (any KeySource)?) throws(ServerError) -> Authenticator {
        try read(secret: SymmetricKey(size: .bits256)) { url throws(ServerError) in
            try RemoteKeySets.fetch(url, from: try Self.source(keySource, of: url))
        }.authenticator
    }

    /// Reads all files, and fetches no key set.
    ///
    /// - Throws: a `ServerError` of one line, with the file and the remedy.
    func check(keySource: (any KeySource)?) throws(ServerError) {
        _ = try read(secret: SymmetricKey(size: .bits256)) { url throws(ServerError) in
            try KeySetURL.check(url)
            _ = try Self.source(keySource, of: url)
            return nil
        }
    }

    static func source(_ source: (any KeySource)?, of url: String) throws(ServerError) -> any KeySource {
        guard let source else {
            throw ServerError("the key set \(url) is a URL, and ServerOptions.keySource is nil; set it, or name a file")
        }
        return source
    }

    /// Reads all files; `number` is the number of the authenticator.
    ///
    /// - Throws: a `ServerError` of one line, with the file and the remedy.
    func read(secret: SymmetricKey, number: UInt64 = 0, keySets: KeySets) throws(ServerError) -> ReadCredentials {
        try checkSources()
        var documents = CredentialDocuments()
        let issuers = try issuers(keySets, &documents)
        let keyDocuments = documents.all.map(\.bytes)
        let keys = try apiKeys.map { path throws(ServerError) in
            try Self.parsed(path, isSecret: true) { bytes throws(AuthConfigurationError) in
                documents.add(bytes, of: path)
                return try APIKeyFile(parsing: bytes)
            }
        }
        let policy = try policy.map { path throws(ServerError) in
            try Self.parsed(path) { bytes throws(AccessPolicyError) in
                documents.add(bytes, of: path)
                return try AccessPolicy(parsing: bytes)
            }
        }
        do throws(AuthConfigurationError) {
            let authenticator = try Authenticator(
                issuers: issuers,
                apiKeys: keys ?? APIKeyFile(),
                policy: policy ?? AccessPolicy(),
                rolesClaim: rolesClaim,
                secret: secret,
                keyDocuments: keyDocuments,
                number: number
            )
            return ReadCredentials(authenticator, from: documents)
        } catch {
            throw ServerError("\(issuerFile.map { "\($0): " } ?? "")\(error)")
        }
    }

    /// Checks that there are keys, and that each issuer has one source of keys.
    private func checkSources() throws(ServerError) {
        guard jwtKeyFile != nil || keySet != nil || issuerFile != nil || apiKeys != nil else {
            throw ServerError(
                "there is no key with which a caller could sign in; add --jwt-key-file, --jwks, --auth or --api-keys"
            )
        }
        guard jwtKeyFile == nil || keySet == nil else {
            throw ServerError("--jwt-key-file and --jwks both name the keys of one issuer; give one of them")
        }
        guard issuerFile != nil else { return }
        let others = [
            ("--jwt-key-file", jwtKeyFile != nil), ("--jwks", keySet != nil), ("--jwt-alg", jwtAlgorithm != nil),
            ("--issuer", issuer != nil), ("--token-type JWT", !needsAccessTokens),
        ]
        if let (option, _) = others.first(where: \.1) {
            throw ServerError(
                "--auth names a file with all issuers and their keys, and \(option) is for a single issuer; "
                    + "move it into the file, or leave --auth out"
            )
        }
    }

    /// The issuers of the tokens; empty if the server takes API keys only.
    ///
    /// The documents from which they and their keys were read are added to `documents`.
    private func issuers(
        _ keySets: KeySets,
        _ documents: inout CredentialDocuments
    ) throws(ServerError) -> [TokenIssuer] {
        if let issuerFile { return try issuers(in: issuerFile, keySets, &documents) }
        guard let path = jwtKeyFile ?? keySet else { return [] }
        let algorithm = try Self.algorithm(named: jwtAlgorithm)
        let found =
            try keySet == nil
            ? Self.key(path, algorithm, &documents) : Self.keySet(path, algorithm, keySets, &documents)
        guard let keys = found else { return [] }
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

    // MARK: - The file of issuers

    private func described(
        in path: String,
        _ documents: inout CredentialDocuments
    ) throws(ServerError) -> [IssuerFile.Description] {
        try Self.parsed(path) { bytes throws(AuthConfigurationError) in
            documents.add(bytes, of: path)
            return try IssuerFile(parsing: bytes, audiences: audiences).issuers
        }
    }

    private func issuers(
        in path: String,
        _ keySets: KeySets,
        _ documents: inout CredentialDocuments
    ) throws(ServerError) -> [TokenIssuer] {
        var issuers: [TokenIssuer] = []
        for description in try described(in: path, &documents) {
            let location = location(of: description.source, in: path)
            let found =
                switch description.source {
                case .keyFile(_, let algorithm): try Self.key(location, algorithm, &documents)
                case .keySet(_, let algorithm): try Self.keySet(location, algorithm, keySets, &documents)
                }
            guard let keys = found else { continue }
            do throws(AuthConfigurationError) {
                issuers.append(try description.issuer(keys: keys))
            } catch {
                throw ServerError("\(path): \(error)")
            }
        }
        return issuers
    }

    /// The path of an issuer's keys; a relative path begins at the folder of the file of issuers.
    private func location(of source: IssuerFile.KeySource, in path: String) -> String {
        let named =
            switch source {
            case .keyFile(let path, _): path
            case .keySet(let path, _): path
            }
        guard !named.hasPrefix("/"), !KeySetURL.isURL(named), let slash = path.lastIndex(of: "/") else { return named }
        return path[...slash] + named
    }

    // MARK: - Keys

    private static func key(
        _ path: String,
        _ algorithm: SignatureAlgorithm?,
        _ documents: inout CredentialDocuments
    ) throws(ServerError) -> KeySet? {
        try parsed(path, isSecret: true) { bytes throws(AuthConfigurationError) in
            documents.add(bytes, of: path)
            return try KeySet(keyFile: bytes, algorithm: algorithm)
        }
    }

    /// The keys of a file or of a URL.
    private static func keySet(
        _ path: String,
        _ algorithm: SignatureAlgorithm?,
        _ keySets: KeySets,
        _ documents: inout CredentialDocuments
    ) throws(ServerError) -> KeySet? {
        if KeySetURL.isURL(path) {
            guard let document = try keySets(path) else { return nil }
            documents.add(document, of: path)
            do throws(AuthConfigurationError) {
                return try KeySet(jwks: document, rsaAlgorithm: algorithm ?? .rs256, skipsInvalidKeys: true, url: path)
            } catch {
                throw ServerError("\(path): \(error)")
            }
        }
        let file = try CredentialFile(path)
        documents.add(file.bytes, of: path)
        let keys = try parsed(file) { bytes throws(AuthConfigurationError) in
            try KeySet(jwks: bytes, rsaAlgorithm: algorithm ?? .rs256)
        }
        // Public keys need no protection. With a secret, its reader could sign tokens.
        if keys.hasSecrets { try file.checkIsPrivate() }
        return keys
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
        return try parsed(file, parse)
    }

    private static func parsed<Value, Failure: Error & CustomStringConvertible>(
        _ file: CredentialFile,
        _ parse: (_ bytes: [UInt8]) throws(Failure) -> Value
    ) throws(ServerError) -> Value {
        do throws(Failure) {
            return try parse(file.bytes)
        } catch {
            throw ServerError("\(file.path): \(error)")
        }
    }
}
