import RivuletAccess
import RivuletAuth
import RivuletJSON
import Testing

@Suite struct TokenGrantTests {
    @Test func `a token has its grants, and other types are ignored`() throws {
        let issuer = TestIssuer(kind: .hmac)
        let keys = try KeySet(keyFile: TestKeys.secret, algorithm: nil)
        let verifier = try TokenVerifier(issuers: [
            TokenIssuer(name: TestIssuer.name, audiences: [TestIssuer.audience], keys: keys)
        ])
        func verify(_ details: String) throws(CredentialError) -> [Grant] {
            var token: [UInt8] = []
            do { token = Array(try issuer.token(claims: ["authorization_details": details]).utf8) } catch {}
            return try verifier.verify(token, at: TestIssuer.now).grants
        }
        let own = #"{"type":"rivulet","actions":["operate"]}"#
        #expect(try verify("[\(own),{\"type\":\"payment\",\"amount\":1}]").map(\.actions) == [[.operate]])
        #expect(try verify("[]").isEmpty)
        for (details, line) in [
            ("{}", "The token's claim \"authorization_details\" needs an array of at most 64 objects."),
            ("[{}]", "The token's claim \"authorization_details\" needs a string \"type\" in each object."),
            (
                "[\(own),{\"type\":\"rivulet\"}]",
                "The token's grant at index 1 needs an array of 1 to 64 strings as \"actions\"."
            ),
            (
                "[" + Array(repeating: own, count: 65).joined(separator: ",") + "]",
                "The token's claim \"authorization_details\" needs an array of at most 64 objects."
            ),
        ] {
            do throws(CredentialError) {
                _ = try verify(details)
                Issue.record("\(details) is accepted")
            } catch {
                #expect(error.description == line)
                #expect(error.reason == "authorization_details")
            }
        }
    }
}
