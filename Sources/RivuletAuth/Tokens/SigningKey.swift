import Crypto
import CryptoExtras

/// A key that signs tokens by exactly one algorithm: a secret, or the private key of a pair.
///
/// Servers have no such key but for HS256. Developers, tests and backends make tokens with it.
package struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    private enum Material: Sendable {
        case secret(SymmetricKey)
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// The key by which a server verifies the tokens.
    let verificationKey: VerificationKey
    private let material: Material

    /// Reads a file with one key: a private key as PEM, or the bytes of a secret.
    ///
    /// One newline at the end of a secret is ignored. A PEM document needs `algorithm`, as it does in a server.
    ///
    /// - Throws: `AuthConfigurationError` for a weak, public or encrypted key, and for an algorithm that is not the
    ///   key's.
    package init(keyFile bytes: [UInt8], algorithm: SignatureAlgorithm?) throws(AuthConfigurationError) {
        guard bytes.count <= KeySet.documentBytesMax else {
            throw .document("The key file has \(bytes.count) bytes. Use at most \(KeySet.documentBytesMax).")
        }
        do throws(KeyError) {
            guard PEM.isIn(bytes) else {
                guard algorithm ?? .hs256 == .hs256 else { throw .otherPrivatePEM((algorithm ?? .hs256).rawValue) }
                var secret = bytes
                if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
                verificationKey = try VerificationKey(secret: secret, id: nil)
                material = .secret(SymmetricKey(data: secret))
                return
            }
            guard let algorithm else { throw .algorithmMissing }
            (material, verificationKey) = try Self.read(bytes, algorithm)
        } catch {
            throw .key(name: "of the file", error)
        }
    }

    package var algorithm: SignatureAlgorithm { verificationKey.algorithm }

    /// Returns the signature of a message.
    ///
    /// - Throws: an error of the library for a key that cannot sign.
    func signature(of message: [UInt8]) throws -> [UInt8] {
        switch material {
        case .secret(let key): Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
        case .rsa(let key):
            Array(
                try key.signature(
                    for: SHA256.hash(data: message),
                    padding: algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
                ).rawRepresentation
            )
        case .p256(let key): Array(try key.signature(for: message).rawRepresentation)
        case .p384(let key): Array(try key.signature(for: message).rawRepresentation)
        case .ed25519(let key): Array(try key.signature(for: message))
        }
    }

    /// The algorithm only, so that no text contains a secret.
    package var description: String { "SigningKey(\(algorithm.rawValue))" }

    /// An empty mirror, so that no dump contains a secret.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The beginning of each Ed25519 private key in DER; the 32 bytes of the key follow it.
    ///
    /// Source: RFC 8410 section 7.
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]

    private static func read(
        _ bytes: [UInt8],
        _ algorithm: SignatureAlgorithm
    ) throws(KeyError) -> (Material, VerificationKey) {
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains("PUBLIC KEY-----") { throw .publicPEM }
        if text.contains("ENCRYPTED") { throw .encryptedPEM }
        guard PEM.count(in: bytes) == 1, text.contains("PRIVATE KEY-----") else {
            throw .otherPrivatePEM(algorithm.rawValue)
        }
        do {
            switch algorithm {
            case .hs256: throw KeyError.secretIsPEM
            case .rs256, .ps256:
                let key = try _RSA.Signing.PrivateKey(unsafePEMRepresentation: text)
                let numbers = try key.publicKey.getKeyPrimitives()
                let verification = try VerificationKey(
                    modulus: Array(numbers.modulus),
                    exponent: Array(numbers.publicExponent),
                    algorithm: algorithm,
                    id: nil
                )
                return (.rsa(key), verification)
            case .es256:
                let key = try P256.Signing.PrivateKey(pemRepresentation: text)
                return (.p256(key), try verificationKey(of: Array(key.publicKey.rawRepresentation), algorithm))
            case .es384:
                let key = try P384.Signing.PrivateKey(pemRepresentation: text)
                return (.p384(key), try verificationKey(of: Array(key.publicKey.rawRepresentation), algorithm))
            case .edDSA:
                let bytes = PEM.bytes(of: text)
                guard bytes.count == ed25519Prefix.count + 32, bytes.starts(with: ed25519Prefix) else {
                    throw KeyError.otherPrivatePEM(algorithm.rawValue)
                }
                let key = try Curve25519.Signing.PrivateKey(rawRepresentation: bytes.dropFirst(ed25519Prefix.count))
                return (.ed25519(key), try VerificationKey(ed25519: Array(key.publicKey.rawRepresentation), id: nil))
            }
        } catch let error as KeyError {
            throw error
        } catch {
            throw .otherPrivatePEM(algorithm.rawValue)
        }
    }

    /// The public key of a point; both coordinates have the same number of bytes.
    private static func verificationKey(
        of point: [UInt8],
        _ algorithm: SignatureAlgorithm
    ) throws(KeyError) -> VerificationKey {
        let (x, y) = (Array(point.prefix(point.count / 2)), Array(point.suffix(point.count / 2)))
        return try VerificationKey(x: x, y: y, algorithm: algorithm, id: nil)
    }
}
