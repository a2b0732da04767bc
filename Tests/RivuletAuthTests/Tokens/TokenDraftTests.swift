import Crypto
import RivuletAuth
import RivuletJSON
import Testing

@Suite struct TokenDraftTests {
    /// A draft that is valid for an hour.
    private static var draft: TokenDraft {
        var draft = TokenDraft(
            subject: "alice",
            tokenID: "t1",
            issuedAt: TestIssuer.now,
            expires: TestIssuer.now + 3_600
        )
        draft.issuer = TestIssuer.name
        draft.audiences = [TestIssuer.audience]
        return draft
    }

    private static func keyFile(_ kind: TestIssuer.Kind) throws -> [UInt8] {
        switch kind {
        case .hmac: TestKeys.secret + Array("\n".utf8)
        case .rsa, .pss: Array(TestKeys.rsaPrivatePEM.utf8)
        case .p256: Array(try TestKeys.p256().pemRepresentation.utf8)
        case .p384: Array(try TestKeys.p384().pemRepresentation.utf8)
        case .ed25519: try ed25519PEM()
        }
    }

    /// The form of RFC 8410 section 7.
    private static func ed25519PEM() throws -> [UInt8] {
        // The first characters of base64 are the 16 bytes before the key.
        let head = "MC4CAQAwBQYDK2VwBCIEIA"
        let bytes = try #require(Base64URL.decode(head.utf8)) + Array(try TestKeys.ed25519().rawRepresentation)
        let text = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return Array("-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n".utf8)
    }

    @Test(arguments: TestIssuer.Kind.allCases)
    func `a signed draft is a token that the issuer's key verifies`(_ kind: TestIssuer.Kind) throws {
        let algorithm = try #require(SignatureAlgorithm(name: kind.rawValue))
        var draft = Self.draft
        draft.roles = ["editor"]
        draft.grants = [try JSONValue(parsing: #"{"actions": ["operate"]}"#)]
        draft.keyID = "k1"
        let key = try SigningKey(keyFile: try Self.keyFile(kind), algorithm: algorithm)
        let token = try draft.signed(with: key)
        let keys = try KeySet(jwks: Array(#"{"keys": [\#(try TestIssuer(kind: kind).key())]}"#.utf8))
        let issuer = try TokenIssuer(name: TestIssuer.name, audiences: [TestIssuer.audience], keys: keys)
        let principal = try TokenVerifier(issuers: [issuer]).verify(Array(token.utf8), at: TestIssuer.now + 10)
        #expect(principal.subject == "alice" && principal.roles == ["editor"] && principal.grants.count == 1)
        #expect(principal.expires == TestIssuer.now + 3_600)
    }

    @Test func `a draft that no verifier takes is refused`() throws {
        let key = try SigningKey(keyFile: TestKeys.secret, algorithm: nil)
        func fault(_ change: (inout TokenDraft) throws -> Void) -> String? {
            var draft = Self.draft
            do {
                try change(&draft)
                _ = try draft.signed(with: key)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(fault { _ in } == nil)
        #expect(fault { $0.subject = "" }?.contains("\"sub\"") == true)
        #expect(fault { $0.grants = [try JSONValue(parsing: #"{"actions": ["fly"]}"#)] }?.contains("\"fly\"") == true)
        #expect(fault { $0.roles = [String(repeating: "x", count: 8_000)] }?.contains("8000 bytes") == true)
    }

    @Test func `no text of a key has a part of the secret`() throws {
        let key = try SigningKey(keyFile: TestKeys.secret, algorithm: .hs256)
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "SigningKey(HS256)" && dumped.count < 60)
    }
}
