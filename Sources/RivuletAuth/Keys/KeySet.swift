import RivuletAccess
import RivuletBase
import RivuletJSON

/// The keys of one issuer: public keys, or secrets.
///
/// At most one of them matches a token.
package struct KeySet: Sendable {
    /// The most bytes of a key file or of a JSON Web Key Set.
    package static let documentBytesMax = 65_536
    /// The most keys of a set, with those that are skipped.
    package static let keysMax = 64

    /// The keys in the order of the document.
    package let keys: [VerificationKey]
    /// The keys of the document that are not used, each with the reason as a line for the log.
    package let skipped: [AuthConfigurationError]
    /// True if the keys are a JSON Web Key Set.
    package let isDocument: Bool
    /// True if a key of the document is a secret, also if that key is skipped.
    package let hasSecrets: Bool
    /// The URL of the document; nil for a file.
    private let url: String?

    /// Reads a JSON Web Key Set.
    ///
    /// The algorithm of a key is its `alg`, or else the only algorithm of its type or curve. An RSA key without `alg`
    /// is for `rsaAlgorithm`. Keys for encryption and for unknown algorithms are skipped, because many providers
    /// publish such keys.
    ///
    /// A set from a URL skips faulty keys too, because one key of a provider must not stop the others. Keys that the
    /// same token could match are all skipped then.
    ///
    /// - Throws: `AuthConfigurationError` for a weak, private or contradictory key, for keys that the same token could
    ///   match, and for a set without any key that verifies.
    /// Source: RFC 7517 section 5.
    package init(
        jwks bytes: [UInt8],
        rsaAlgorithm: SignatureAlgorithm = .rs256,
        skipsInvalidKeys: Bool = false,
        url: String? = nil
    ) throws(AuthConfigurationError) {
        try Self.checkSize(bytes)
        var elements: [JSONValue] = []
        do throws(JSONError) {
            let document = try JSONValue(parsing: bytes)
            guard let keys = document["keys"]?.elements else {
                throw JSONError(kind: .mismatch, detail: "expected an object with an array \"keys\"")
            }
            elements = keys
        } catch {
            let reason = ForeignText.line(error.description)
            throw .document("The key set is not a JSON Web Key Set: \(reason). Copy the document again.")
        }
        guard elements.count <= Self.keysMax else {
            throw .document("The key set has \(elements.count) keys. Use at most \(Self.keysMax).")
        }
        (keys, skipped) = try Self.read(elements, rsaAlgorithm, skipsInvalidKeys: skipsInvalidKeys)
        isDocument = true
        hasSecrets = elements.contains { $0["kty"]?.stringValue == JSONWebKey.secretKind }
        self.url = url
        guard !keys.isEmpty else {
            let reasons = skipped.map { " \($0)" }.joined()
            throw .document("The key set has no key that verifies signatures. Add one.\(reasons)")
        }
    }

    /// Reads a file with one key: a PEM document, or the bytes of a secret.
    ///
    /// One newline at the end of a secret is ignored. A PEM document needs `algorithm`, because the same key can be for
    /// several algorithms, such as RS256 and PS256.
    ///
    /// - Throws: `AuthConfigurationError` for a weak or private key, and for an algorithm that is not the key's.
    package init(keyFile bytes: [UInt8], algorithm: SignatureAlgorithm?) throws(AuthConfigurationError) {
        try Self.checkSize(bytes)
        var secret = bytes
        if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
        do throws(KeyError) {
            let key: VerificationKey
            if PEM.isIn(bytes) {
                guard let algorithm else { throw .algorithmMissing }
                key = try PEM.key(bytes, algorithm: algorithm)
            } else {
                guard algorithm ?? .hs256 == .hs256 else { throw .otherPEM }
                key = try VerificationKey(secret: secret, id: nil)
            }
            keys = [key]
            hasSecrets = key.algorithm.isSymmetric
        } catch {
            throw .key(name: "of the file", error)
        }
        (skipped, isDocument, url) = ([], false, nil)
    }

    /// Returns the key that a token with this kid must be signed with.
    ///
    /// A single key without a kid matches every token. A token without a kid matches a single key.
    package func key(id: String?) throws(CredentialError) -> VerificationKey {
        if keys.count == 1, let key = keys.first, id == nil || key.id == nil { return key }
        guard let id else { throw .keyIDMissing }
        guard let key = keys.first(where: { $0.id?.hasSameBytes(as: id) == true }) else {
            throw .keyID(id, url: url)
        }
        return key
    }

    private static func checkSize(_ bytes: [UInt8]) throws(AuthConfigurationError) {
        guard bytes.count <= documentBytesMax else {
            throw .document("The keys have \(bytes.count) bytes. Use at most \(documentBytesMax).")
        }
    }

    private static func read(
        _ elements: [JSONValue],
        _ rsaAlgorithm: SignatureAlgorithm,
        skipsInvalidKeys: Bool
    ) throws(AuthConfigurationError) -> (keys: [VerificationKey], skipped: [AuthConfigurationError]) {
        var read: [(name: String, key: VerificationKey)] = []
        var skipped: [AuthConfigurationError] = []
        for (index, element) in elements.enumerated() {
            let name = JSONWebKey.name(of: element, at: index)
            do throws(KeyError) {
                switch try JSONWebKey(element, rsaAlgorithm: rsaAlgorithm).read() {
                case .key(let key): read.append((name, key))
                case .skipped(let error): skipped.append(.key(name: name, error))
                }
            } catch {
                guard skipsInvalidKeys else { throw .key(name: name, error) }
                skipped.append(.key(name: name, error))
            }
        }
        var usable: [VerificationKey] = []
        for (position, (name, key)) in read.enumerated() {
            if let error = error(of: key, at: position, among: read.map(\.key), isStrict: !skipsInvalidKeys) {
                guard skipsInvalidKeys else { throw .key(name: name, error) }
                skipped.append(.key(name: name, error))
            } else {
                usable.append(key)
            }
        }
        return (usable, skipped)
    }

    /// The reason that a key cannot stand beside the others.
    ///
    /// A strict check names the second key of a pair only. Otherwise each key of a repeated kid is at fault, and each
    /// secret, because the document of a URL is public.
    private static func error(
        of key: VerificationKey,
        at position: Int,
        among all: [VerificationKey],
        isStrict: Bool
    ) -> KeyError? {
        if !isStrict, key.algorithm.isSymmetric { return .publicSecret }
        if isStrict, key.algorithm.isSymmetric != all[0].algorithm.isSymmetric { return .mixedKinds }
        guard all.count > 1 else { return nil }
        guard let id = key.id else { return .noID }
        let others = all.enumerated().filter { isStrict ? $0.offset < position : $0.offset != position }
        return others.contains { $0.element.id?.hasSameBytes(as: id) == true } ? .sameID : nil
    }
}
