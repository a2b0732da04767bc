import Crypto
import CryptoExtras
import RivuletAuth

/// Signs tokens with a fixed key, also such as no issuer would sign.
struct TestIssuer: Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case hmac = "HS256"
        case rsa = "RS256"
        case pss = "PS256"
        case p256 = "ES256"
        case p384 = "ES384"
        case ed25519 = "EdDSA"
    }

    static let name = "https://issuer.example"
    static let audience = "https://api.example"
    /// 2026-11-24T00:00:00Z.
    static let now = 1_795_478_400

    let kind: Kind
    /// True for a key that the verifier does not know.
    var isForeign = false

    var description: String { kind.rawValue }

    /// The JSON Web Key, the public one of a pair.
    func key(id: String? = "k1") throws -> String {
        var members: [(String, String)] = id.map { [("kid", quoted($0))] } ?? []
        members.append(("alg", quoted(kind.rawValue)))
        func add(_ name: String, _ bytes: some Sequence<UInt8>) {
            members.append((name, quoted(Base64URL.encode(bytes))))
        }
        switch kind {
        case .hmac:
            members.append(("kty", quoted("oct")))
            add("k", secret)
        case .rsa, .pss:
            let numbers = try rsa.publicKey.getKeyPrimitives()
            members.append(("kty", quoted("RSA")))
            add("n", numbers.modulus)
            add("e", numbers.publicExponent)
        case .p256, .p384:
            let point = try kind == .p256 ? p256.publicKey.rawRepresentation : p384.publicKey.rawRepresentation
            members += [("kty", quoted("EC")), ("crv", quoted(kind == .p256 ? "P-256" : "P-384"))]
            add("x", point.prefix(point.count / 2))
            add("y", point.suffix(point.count / 2))
        case .ed25519:
            members += [("kty", quoted("OKP")), ("crv", quoted("Ed25519"))]
            add("x", try ed25519.publicKey.rawRepresentation)
        }
        return object(members)
    }

    func signature(of message: [UInt8]) throws -> [UInt8] {
        switch kind {
        case .hmac: Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
        case .rsa:
            Array(try rsa.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .pss: Array(try rsa.signature(for: SHA256.hash(data: message), padding: .PSS).rawRepresentation)
        case .p256: Array(try p256.signature(for: message).rawRepresentation)
        case .p384: Array(try p384.signature(for: message).rawRepresentation)
        case .ed25519: Array(try ed25519.signature(for: message))
        }
    }

    /// Signs two JSON texts as they are.
    func sign(header: String, payload: String) throws -> String {
        try sign(header: Array(header.utf8), payload: Array(payload.utf8))
    }

    func sign(header: [UInt8], payload: [UInt8]) throws -> String {
        let signed = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
        return "\(signed).\(Base64URL.encode(try signature(of: Array(signed.utf8))))"
    }

    /// A token with changed members; the values are JSON, and nil removes a member.
    func token(header: [String: String?] = [:], claims: [String: String?] = [:]) throws -> String {
        try sign(header: self.header(header), payload: self.claims(claims))
    }

    func header(_ changes: [String: String?] = [:]) -> String {
        changed([("alg", quoted(kind.rawValue)), ("typ", quoted("at+jwt")), ("kid", quoted("k1"))], changes)
    }

    func claims(_ changes: [String: String?] = [:]) -> String {
        let members = [
            ("iss", quoted(Self.name)), ("sub", quoted("alice")), ("aud", quoted(Self.audience)),
            ("iat", "\(Self.now)"), ("exp", "\(Self.now + 3_600)"), ("jti", quoted("t1")),
        ]
        return changed(members, changes)
    }

    private func changed(_ members: [(String, String)], _ changes: [String: String?]) -> String {
        var members = members.filter { changes[$0.0] == nil }
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            if let value { members.append((name, value)) }
        }
        return object(members)
    }

    private func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }

    private func quoted(_ text: String) -> String { "\"\(text)\"" }

    private var secret: [UInt8] { isForeign ? TestKeys.otherSecret : TestKeys.secret }
    private var rsa: _RSA.Signing.PrivateKey {
        get throws { try TestKeys.rsa(isForeign ? TestKeys.otherRSAPrivatePEM : TestKeys.rsaPrivatePEM) }
    }
    private var p256: P256.Signing.PrivateKey { get throws { try TestKeys.p256(isForeign ? 2 : 1) } }
    private var p384: P384.Signing.PrivateKey { get throws { try TestKeys.p384(isForeign ? 2 : 1) } }
    private var ed25519: Curve25519.Signing.PrivateKey { get throws { try TestKeys.ed25519(isForeign ? 2 : 1) } }
}
