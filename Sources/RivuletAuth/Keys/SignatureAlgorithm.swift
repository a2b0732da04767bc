import RivuletBase

/// The algorithms of signatures that are verified.
///
/// Source: RFC 7518 section 3.1, RFC 8037 section 3.1.
package enum SignatureAlgorithm: String, CaseIterable, Sendable {
    /// HMAC with SHA-256.
    case hs256 = "HS256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256, and a salt of 32 bytes.
    case ps256 = "PS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// ECDSA on P-384 with SHA-384.
    case es384 = "ES384"
    /// Ed25519.
    case edDSA = "EdDSA"

    /// Finds the algorithm with this name; nil if the name is unknown.
    ///
    /// Names are case-sensitive. `Ed25519` is another name of `EdDSA`. Source: RFC 9864 section 2.2 for `Ed25519`.
    package init?(name: String) {
        guard let algorithm = name.hasSameBytes(as: "Ed25519") ? .edDSA : Self(rawValue: name) else { return nil }
        self = algorithm
    }

    /// True if the key that verifies is a secret, which can sign as well.
    package var isSymmetric: Bool { self == .hs256 }
}
