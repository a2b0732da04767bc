import RivuletAuth
import RivuletJSON
import Testing

@Suite struct AttackTests {
    /// Two keys for the attacked issuer, and another issuer that has the same kid.
    private static func verifier(_ kind: TestIssuer.Kind) throws -> TokenVerifier {
        let (own, foreign) = (TestIssuer(kind: kind), TestIssuer(kind: kind, isForeign: true))
        let unrelated = try second(kind)
        let keys = try KeySet(jwks: Array("{\"keys\":[\(own.key()),\(unrelated)]}".utf8))
        let others = try KeySet(jwks: Array("{\"keys\":[\(foreign.key()),\(unrelated)]}".utf8))
        return try TokenVerifier(issuers: [
            TokenIssuer(name: TestIssuer.name, audiences: ["https://x.example", TestIssuer.audience], keys: keys),
            TokenIssuer(name: "https://other.example", audiences: [TestIssuer.audience], keys: others),
        ])
    }

    /// A key with the kid "k2" that signs nothing here, by the algorithm of the attacked key.
    private static func second(_ kind: TestIssuer.Kind) throws -> String {
        guard kind == .hmac else { return try TestIssuer(kind: kind, isForeign: true).key(id: "k2") }
        let bytes = Array(repeating: UInt8(9), count: 32)
        return "{\"kid\":\"k2\",\"kty\":\"oct\",\"alg\":\"HS256\",\"k\":\"\(Base64URL.encode(bytes))\"}"
    }

    @Test(arguments: TestIssuer.Kind.allCases)
    func `each attack is refused for its reason, and the line has no token`(_ kind: TestIssuer.Kind) throws {
        let (verifier, issuer) = (try Self.verifier(kind), TestIssuer(kind: kind))
        var count = 0
        for attack in Attack.all where attack.kinds?.contains(kind) != false {
            count += 1
            let token = try attack.token(issuer)
            do throws(CredentialError) {
                let principal = try verifier.verify(Array(token.utf8), at: TestIssuer.now)
                Issue.record("\(kind) accepts \(attack): \(principal.claims)")
            } catch {
                #expect(error.reason == attack.reason, "\(kind), \(attack): \(error)")
                let line = error.description
                #expect(line.utf8.count < 500, "\(attack)")
                #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(attack)")
                for part in Attack.parts(token) where part.utf8.count > 40 {
                    #expect(!line.contains(part), "\(attack)")
                }
            }
        }
        #expect(count >= 80)
    }

    @Test func `the names of the attacks differ`() {
        #expect(Set(Attack.all.map(\.name)).count == Attack.all.count)
    }

    @Test(arguments: TestIssuer.Kind.allCases)
    func `the token without an attack is accepted`(_ kind: TestIssuer.Kind) throws {
        let (verifier, issuer) = (try Self.verifier(kind), TestIssuer(kind: kind))
        let principal = try verifier.verify(Array(issuer.token().utf8), at: TestIssuer.now)
        #expect(principal.subject == "alice")
    }

    @Test(arguments: [TestIssuer.Kind.hmac, .p256, .ed25519])
    func `no bit of a token can be flipped`(_ kind: TestIssuer.Kind) throws {
        let verifier = try Self.verifier(kind)
        let token = Array(try TestIssuer(kind: kind).token().utf8)
        var accepted: [Int] = []
        for bit in 0..<token.count * 8 {
            var changed = token
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            do { _ = try verifier.verify(changed, at: TestIssuer.now) } catch { continue }
            accepted.append(bit)
        }
        #expect(accepted == [])
    }
}
