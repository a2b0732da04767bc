import Crypto
import CryptoExtras
import FoundationEssentials

/// Public keys as `openssl pkey -pubout` writes them.
///
/// Source: RFC 7468 section 13.
enum PEM {
    private static let beginning = Array("-----BEGIN".utf8)
    private static let publicKey = "-----BEGIN PUBLIC KEY-----"
    /// The beginning of each Ed25519 public key in DER; the 32 bytes of the key follow it.
    ///
    /// Source: RFC 8410 section 4.
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// Returns true if the bytes have a PEM document anywhere.
    static func isIn(_ bytes: [UInt8]) -> Bool { count(in: bytes) > 0 }

    static func count(in bytes: [UInt8]) -> Int {
        bytes.indices.count { bytes[$0...].starts(with: beginning) }
    }

    /// Returns the public key of a document that has nothing else.
    static func key(_ bytes: [UInt8], algorithm: SignatureAlgorithm) throws(KeyError) -> VerificationKey {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix(publicKey) else {
            if text.contains("PRIVATE KEY-----") { throw .privatePEM }
            throw .otherPEM
        }
        guard count(in: bytes) == 1 else { throw .otherPEM }
        do {
            switch algorithm {
            case .hs256: throw KeyError.secretIsPEM
            case .rs256, .ps256:
                if algorithm == .rs256, isForPSSOnly(Self.bytes(of: text)) {
                    throw KeyError.otherAlgorithm("RS256", of: "PS256")
                }
                let numbers = try _RSA.Signing.PublicKey(unsafePEMRepresentation: text).getKeyPrimitives()
                return try VerificationKey(
                    modulus: Array(numbers.modulus),
                    exponent: Array(numbers.publicExponent),
                    algorithm: algorithm,
                    id: nil
                )
            case .es256:
                let point = Array(try P256.Signing.PublicKey(pemRepresentation: text).rawRepresentation)
                return try VerificationKey(x: Array(point[..<32]), y: Array(point[32...]), algorithm: .es256, id: nil)
            case .es384:
                let point = Array(try P384.Signing.PublicKey(pemRepresentation: text).rawRepresentation)
                return try VerificationKey(x: Array(point[..<48]), y: Array(point[48...]), algorithm: .es384, id: nil)
            case .edDSA:
                let bytes = Self.bytes(of: text)
                guard bytes.starts(with: ed25519Prefix) else { throw KeyError.otherAlgorithm("EdDSA", of: "PEM") }
                return try VerificationKey(ed25519: Array(bytes.dropFirst(ed25519Prefix.count)), id: nil)
            }
        } catch let error as KeyError {
            throw error
        } catch {
            throw .otherAlgorithm(algorithm.rawValue, of: "PEM")
        }
    }

    /// The object identifier of RSASSA-PSS in DER.
    ///
    /// Source: RFC 4055 section 3.1.
    private static let pssIdentifier: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A,
    ]

    /// Returns true for a key that says in DER that it is one of RSASSA-PSS alone.
    ///
    /// The identifier follows the heads of two sequences, of at most 4 bytes each.
    private static func isForPSSOnly(_ bytes: [UInt8]) -> Bool {
        let beginning = bytes.prefix(8 + pssIdentifier.count)
        return beginning.indices.contains { beginning[$0...].starts(with: pssIdentifier) }
    }

    /// The decoded bytes between the first and the last line; empty if the text is not base64.
    static func bytes(of text: String) -> [UInt8] {
        let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }
        return Data(base64Encoded: lines.joined()).map(Array.init) ?? []
    }
}
