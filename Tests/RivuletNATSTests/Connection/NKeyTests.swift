import Crypto
import Foundation
import RivuletNATS
import Testing

@Suite struct NKeyTests {
    /// The example of <https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_intro/nkey_auth>.
    private let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    private let publicKey = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"

    @Test func `a seed has the public key of the documentation`() throws {
        #expect(try NKey(seed: seed).publicKey == publicKey)
    }

    @Test func `a signature is of the nonce, in base64url without padding`() throws {
        let signature = try NKey(seed: seed).sign("a nonce")
        #expect(!signature.contains { "+/=".contains($0) })
        let standard = signature.replacing("-", with: "+").replacing("_", with: "/") + "=="
        let bytes = try #require(Data(base64Encoded: standard))
        // The 32 bytes behind the first of the public key, which is base32.
        let key = try Curve25519.Signing.PublicKey(rawRepresentation: Self.base32(publicKey)[1..<33])
        #expect(key.isValidSignature(bytes, for: Data("a nonce".utf8)))
    }

    private static func base32(_ text: String) -> [UInt8] {
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        for character in text {
            bits = bits << 5 | (Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567").firstIndex(of: character) ?? 0)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
            bits &= 0xFFFF
        }
        return bytes
    }

    @Test func `a seed with one other character is refused`() {
        for index in seed.indices {
            var text = seed
            text.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(throws: NATSCredentialsError.invalidSeed, "\(text)") { try NKey(seed: text) }
        }
    }

    @Test(arguments: ["", "SU", "su", "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VYAA", "S!"])
    func `a text that is no seed is refused`(_ text: String) {
        #expect(throws: NATSCredentialsError.invalidSeed) { try NKey(seed: text) }
    }

    @Test func `an account's seed is refused`() {
        // Made with the same bytes and the kind of an account.
        #expect(throws: NATSCredentialsError.notUserSeed) {
            try NKey(seed: "SAACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCTIMI")
        }
    }

    @Test func `a creds file has a JWT and a seed`() throws {
        let text = """
            -----BEGIN NATS USER JWT-----\r
            eyJ0eXAi.eyJqdGk.sig\r
            ------END NATS USER JWT------\r

            ************************* IMPORTANT *************************

            -----BEGIN USER NKEY SEED-----
            \(seed)
            ------END USER NKEY SEED------
            """
        guard case .jwt(let jwt, let key) = try NATSCredentials(fileText: text) else {
            Issue.record("the file has no JWT")
            return
        }
        #expect(jwt == "eyJ0eXAi.eyJqdGk.sig")
        #expect(key.publicKey == publicKey)
    }

    @Test func `a file with a seed alone is an NKey`() throws {
        guard case .nkey(let key) = try NATSCredentials(fileText: "\n  \(seed)\n") else {
            Issue.record("the file has no NKey")
            return
        }
        #expect(key.publicKey == publicKey)
        #expect(throws: NATSCredentialsError.noSeed) { try NATSCredentials(fileText: "secret") }
    }
}
