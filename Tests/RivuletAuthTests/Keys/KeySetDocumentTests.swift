import RivuletAuth
import Testing

/// Key sets of URLs, which skip faulty keys, and documents that are no key sets.
@Suite struct KeySetDocumentTests {
    private static func key(_ kind: TestIssuer.Kind, id: String?) throws -> String {
        try TestIssuer(kind: kind).key(id: id)
    }

    private static func set(_ keys: [String]) throws -> KeySet {
        try KeySet(jwks: Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8), skipsInvalidKeys: true)
    }

    @Test func `a set of a URL skips a faulty key with a line, and a file refuses it`() throws {
        let odd = #"{"kty":"EC","crv":"P-256","kid":"odd","x":"AA","y":"AA"}"#
        let keys = [try Self.key(.p256, id: "a"), odd, "1", try Self.key(.ed25519, id: "b")]
        let set = try Self.set(keys)
        #expect(set.keys.map(\.id) == ["a", "b"])
        #expect(
            set.skipped.map(\.description) == [
                "The key \"odd\" has 1 bytes in \"x\". P-256 needs 32.",
                "The key at index 2 is not an object. Write each key as RFC 7517 has it.",
            ]
        )
        #expect(throws: AuthConfigurationError.self) {
            try KeySet(jwks: Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8))
        }
    }

    @Test func `keys of one kid are all skipped, and so is a key that has none`() throws {
        let keys = try [(TestIssuer.Kind.p256, "a"), (.ed25519, "a"), (.p384, nil), (.rsa, "b")].map(Self.key)
        let set = try Self.set(keys)
        #expect(set.keys.map(\.id) == ["b"])
        #expect(set.skipped.count == 3)
        #expect(throws: CredentialError.keyID("a")) { try set.key(id: "a") }
    }

    @Test func `a set of a URL has no secrets`() throws {
        let set = try Self.set([Self.key(.hmac, id: "s"), Self.key(.p256, id: "a")])
        #expect(set.keys.map(\.id) == ["a"])
        #expect(set.skipped.map(\.description) == ["The key \"s\" is a secret in a public set. Use public keys."])
        for keys in try [[Self.key(.hmac, id: "s")], [Self.key(.hmac, id: nil)], ["{}"], []] {
            #expect(throws: AuthConfigurationError.self) { try Self.set(keys) }
        }
    }

    @Test func `a PEM document of RSASSA-PSS is no key of RS256`() throws {
        let document = Array(TestKeys.pssPublicPEM.utf8)
        #expect(
            throws: AuthConfigurationError.key(name: "of the file", .otherAlgorithm("RS256", of: "PS256"))
        ) { try KeySet(keyFile: document, algorithm: .rs256) }
        #expect(try KeySet(keyFile: document, algorithm: .ps256).keys.map(\.algorithm) == [.ps256])
        #expect(try KeySet(keyFile: Array(TestKeys.rsaPublicPEM.utf8), algorithm: .rs256).keys.count == 1)
    }

    @Test(arguments: ["{\"a\n\u{2028}b\":1,}", "{\"\u{202E}\u{85}\":1 2}", "{\"keys\":[{\"\u{7F}\r\n\":]}"])
    func `an error of a document is one line`(_ text: String) {
        do throws(AuthConfigurationError) {
            _ = try KeySet(jwks: Array(text.utf8))
            Issue.record("the set is accepted")
        } catch {
            let controls = "\n\r\u{2028}\u{202E}\u{85}\u{7F}".unicodeScalars
            #expect(!error.description.unicodeScalars.contains { controls.contains($0) }, "\(error)")
        }
    }
}
