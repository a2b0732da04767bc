import Crypto
import CryptoExtras
import RivuletAccess

/// A key that verifies signatures by exactly one algorithm.
///
/// The key names the algorithm; a token's header can only agree. Source: RFC 8725 section 3.1.
package struct VerificationKey: Sendable, CustomStringConvertible, CustomReflectable {
    private enum Material: Sendable {
        case secret(SymmetricKey)
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    /// The id by which a token names the key (`kid`); nil if the key has none.
    package let id: String?
    package let algorithm: SignatureAlgorithm
    /// The bytes of every signature that the key can verify.
    package let signatureBytes: Int
    private let material: Material

    private init(_ id: String?, _ algorithm: SignatureAlgorithm, _ signatureBytes: Int, _ material: Material) {
        (self.id, self.algorithm, self.signatureBytes, self.material) = (id, algorithm, signatureBytes, material)
    }

    /// The fewest bytes of a secret, as many as a SHA-256 hash has.
    ///
    /// Source: RFC 7518 section 3.2.
    package static let secretBytesMin = 32

    /// Takes the secret of HS256.
    ///
    /// A public key or a key set in a usual form is refused: with it, each holder of the document could sign.
    init(secret: [UInt8], id: String?) throws(KeyError) {
        guard !PEM.isIn(secret) else { throw .secretIsPEM }
        guard !PublicDocument.isLikely(secret) else { throw .secretIsDocument }
        guard secret.count >= Self.secretBytesMin else { throw .shortSecret(bytes: secret.count) }
        self.init(id, .hs256, SHA256.byteCount, .secret(SymmetricKey(data: secret)))
    }

    /// Takes a public key of RSA; the numbers are big-endian.
    init(modulus: [UInt8], exponent: [UInt8], algorithm: SignatureAlgorithm, id: String?) throws(KeyError) {
        guard algorithm == .rs256 || algorithm == .ps256 else { throw .otherAlgorithm(algorithm.rawValue, of: "RSA") }
        try RSAStrength.check(modulus: modulus, exponent: exponent)
        do {
            let key = try _RSA.Signing.PublicKey(n: modulus, e: exponent)
            self.init(id, algorithm, modulus.count, .rsa(key))
        } catch {
            throw .invalidRSA
        }
    }

    /// Takes a point of P-256 or P-384; each coordinate is big-endian, with 32 or 48 bytes.
    init(x: [UInt8], y: [UInt8], algorithm: SignatureAlgorithm, id: String?) throws(KeyError) {
        let point = [0x04] + x + y
        do {
            switch algorithm {
            case .es256:
                try Self.check(x, y, bytes: 32, curve: "P-256")
                let key = try P256.Signing.PublicKey(x963Representation: point)
                self.init(id, algorithm, 64, .p256(key))
            case .es384:
                try Self.check(x, y, bytes: 48, curve: "P-384")
                let key = try P384.Signing.PublicKey(x963Representation: point)
                self.init(id, algorithm, 96, .p384(key))
            case .hs256, .rs256, .ps256, .edDSA: throw KeyError.otherAlgorithm(algorithm.rawValue, of: "EC")
            }
        } catch let error as KeyError {
            throw error
        } catch {
            throw .offCurve
        }
    }

    /// Takes a public key of Ed25519.
    init(ed25519 point: [UInt8], id: String?) throws(KeyError) {
        guard point.count == 32 else { throw .coordinate("x", bytes: point.count, expected: 32, curve: "Ed25519") }
        guard !Self.isOfSmallOrder(point) else { throw .smallOrder }
        do {
            let key = try Curve25519.Signing.PublicKey(rawRepresentation: point)
            self.init(id, .edDSA, 64, .ed25519(key))
        } catch {
            throw .offCurve
        }
    }

    /// Returns true if the signature is the key's signature of the message.
    ///
    /// A signature of another length is refused without a computation. HMAC codes are compared in constant time.
    package func isValid(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        guard signature.count == signatureBytes else { return false }
        switch material {
        case .secret(let key):
            return HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: message, using: key)
        case .rsa(let key):
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: SHA256.hash(data: message),
                padding: algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
            )
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        case .p384(let key):
            guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        case .ed25519(let key): return key.isValidSignature(signature, for: message)
        }
    }

    /// The algorithm and the id only, so that no text contains a secret.
    package var description: String {
        "VerificationKey(\(algorithm.rawValue), \(id.map(ForeignText.quoted) ?? "no id"))"
    }

    /// An empty mirror, so that no dump contains a secret.
    package var customMirror: Mirror { Mirror(self, children: []) }

    private static func check(_ x: [UInt8], _ y: [UInt8], bytes: Int, curve: String) throws(KeyError) {
        guard x.count == bytes else { throw .coordinate("x", bytes: x.count, expected: bytes, curve: curve) }
        guard y.count == bytes else { throw .coordinate("y", bytes: y.count, expected: bytes, curve: curve) }
    }

    /// The y-coordinates of Ed25519's points with an order that divides 8: little-endian, without the sign bit.
    ///
    /// A signature for such a point needs no private key. The list has each encoding below 2^255, reduced or not.
    /// Source: RFC 8032 section 5.1.3 for the form, and <https://eprint.iacr.org/2020/1244> for the points.
    private static let smallOrderHeights: Set<[UInt8]> = {
        let lastByte: UInt8 = 0x7F
        let top = Array(repeating: UInt8(0xFF), count: 30) + [lastByte]
        let zeros = Array(repeating: UInt8(0), count: 31)
        let eighth: [UInt8] = [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ]
        let otherEighth: [UInt8] = [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ]
        return [[0] + zeros, [1] + zeros, [0xEC] + top, [0xED] + top, [0xEE] + top, eighth, otherEighth]
    }()

    private static func isOfSmallOrder(_ point: [UInt8]) -> Bool {
        var height = point
        height[31] &= 0x7F
        return smallOrderHeights.contains(height)
    }
}
