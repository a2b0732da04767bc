import RivuletAuth
import RivuletJSON
import Testing

@Suite struct TokenVerifierTests {
    private static let now = TestIssuer.now

    private static func verifier(
        _ issuer: TestIssuer,
        types: Set<TokenIssuer.TokenType> = [.accessToken]
    ) throws -> TokenVerifier {
        let keys = try KeySet(jwks: Array("{\"keys\":[\(issuer.key())]}".utf8))
        let configured = try TokenIssuer(
            name: TestIssuer.name,
            audiences: [TestIssuer.audience],
            types: types,
            keys: keys
        )
        return try TokenVerifier(issuers: [configured])
    }

    private static func refusal(_ body: () throws(CredentialError) -> Principal) -> CredentialError? {
        do { _ = try body() } catch { return error }
        return nil
    }

    @Test func `a principal has the verified facts and all claims`() throws {
        let issuer = TestIssuer(kind: .p256)
        let token = try issuer.token(claims: ["roles": "[\"editor\"]"])
        let principal = try Self.verifier(issuer).verify(Array(token.utf8), at: Self.now)
        #expect(principal.subject == "alice")
        #expect(principal.issuer == TestIssuer.name)
        #expect(principal.issuedAt == Self.now)
        #expect(principal.expires == Self.now + 3_600)
        #expect(principal.claims["roles"]?[0]?.stringValue == "editor")
        guard case .token(id: "t1", keyID: "k1") = principal.credential else {
            Issue.record("\(principal.credential)")
            return
        }
    }

    @Test(
        arguments: [
            ["typ": "\"AT+JWT\""], ["typ": "\"application/at+jwt\""], ["typ": "\"Application/At+Jwt\""],
            ["kid": "\"\\u006b1\""], ["alg": "\"\\u0048S256\""], ["x5t": "\"AAAA\""],
            ["x": "[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]"],
        ] as [[String: String?]]
    )
    func `another spelling of a valid header is accepted`(_ header: [String: String?]) throws {
        let issuer = TestIssuer(kind: .hmac)
        _ = try Self.verifier(issuer).verify(Array(issuer.token(header: header).utf8), at: Self.now)
    }

    @Test func `Ed25519 is another name of EdDSA`() throws {
        let issuer = TestIssuer(kind: .ed25519)
        _ = try Self.verifier(issuer).verify(Array(issuer.token(header: ["alg": "\"Ed25519\""]).utf8), at: Self.now)
    }

    @Test(
        arguments: [
            ["exp": "\(now - 4)", "iat": "\(now - 60)"], ["exp": "\(now - 4).999", "iat": "\(now - 60)"],
            ["nbf": "\(now + 5)"], ["nbf": "\(now + 5).999"], ["iat": "\(now + 5)"], ["exp": "\(now + 86_400)"],
            ["exp": "1.79548e9"], ["nbf": "0"], ["jti": nil], ["sub": "\"\(String(repeating: "s", count: 255))\""],
            ["sub": "\"\u{E9}\""], ["aud": "[\"https://x.example\",\"https://api.example\"]"],
            ["authorization_details": "[]"],
        ] as [[String: String?]]
    )
    func `a claim at its limit is accepted`(_ claims: [String: String?]) throws {
        let issuer = TestIssuer(kind: .hmac)
        _ = try Self.verifier(issuer).verify(Array(issuer.token(claims: claims).utf8), at: Self.now)
    }

    @Test func `a token is valid until its leeway has passed, to the second`() throws {
        let issuer = TestIssuer(kind: .hmac)
        let (verifier, token) = (try Self.verifier(issuer), Array(try issuer.token().utf8))
        let expires = Self.now + 3_600
        let principal = try verifier.verify(token, at: expires + 4)
        #expect(
            Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: expires + 5) }
                == .expired(secondsAgo: 5)
        )
        _ = try verifier.verify(token, at: Self.now - 5)
        #expect(
            Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: Self.now - 6) }
                == .issuedInFuture(inSeconds: 6)
        )
        #expect(!principal.isExpired(at: expires - 1, leewaySeconds: 0))
        #expect(principal.isExpired(at: expires, leewaySeconds: 0))
        #expect(!principal.isExpired(at: expires + 4, leewaySeconds: TokenVerifier.leewaySeconds))
        #expect(principal.isExpired(at: expires + 5, leewaySeconds: TokenVerifier.leewaySeconds))
    }

    /// With a wrong signature each attack of another kind still has its own reason: the signature comes last.
    @Test(arguments: [TestIssuer.Kind.hmac, .p256])
    func `no signature is computed for a token that is wrong in anything else`(_ kind: TestIssuer.Kind) throws {
        let (issuer, foreign) = (TestIssuer(kind: kind), TestIssuer(kind: kind, isForeign: true))
        let verifier = try Self.verifier(issuer)
        for attack in Attack.claims + Attack.names + Attack.headers + Attack.algorithms
        where attack.kinds?.contains(kind) != false && attack.reason != "signature" {
            let token = Array(try attack.token(foreign).utf8)
            do throws(CredentialError) {
                _ = try verifier.candidate(token, at: Self.now)
                Issue.record("\(attack) reaches the signature")
            } catch {
                #expect(error.reason == attack.reason, "\(attack)")
            }
        }
        let candidate = try verifier.candidate(Array(foreign.token().utf8), at: Self.now)
        #expect(Self.refusal { () throws(CredentialError) in try candidate.verified() } == .signature)
    }

    @Test func `a token of 8,000 bytes is accepted, and of one more refused`() throws {
        let issuer = TestIssuer(kind: .hmac)
        let verifier = try Self.verifier(issuer)
        for size in 5_600..<5_800 {
            let token = Array(try issuer.token(claims: ["x": "\"\(String(repeating: "x", count: size))\""]).utf8)
            let refusal = Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: Self.now) }
            #expect(refusal == (token.count > 8_000 ? .tooLong : nil), "\(token.count)")
        }
    }

    @Test(
        arguments: [
            (nil, true), ("\"JWT\"", true), ("\"jwt\"", true), ("\"application/jwt\"", true), ("\"at+jwt\"", false),
            ("\"secevent+jwt\"", false),
        ] as [(String?, Bool)]
    )
    func `the type JWT admits tokens without a type, and no others`(_ type: String?, _ isAdmitted: Bool) throws {
        let issuer = TestIssuer(kind: .hmac)
        let verifier = try Self.verifier(issuer, types: [.jwt])
        let token = Array(try issuer.token(header: ["typ": type]).utf8)
        let refusal = Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: Self.now) }
        #expect(refusal?.reason == (isAdmitted ? nil : "typ"))
    }

    @Test func `a key from a file matches each kid, and takes no other issuer or audience`() throws {
        let issuer = TestIssuer(kind: .hmac)
        let keys = try KeySet(keyFile: TestKeys.secret, algorithm: nil)
        let verifier = try TokenVerifier(issuers: [TokenIssuer(name: nil, audiences: [], keys: keys)])
        func refusal(_ header: [String: String?], _ claims: [String: String?]) throws -> CredentialError? {
            let token = Array(try issuer.token(header: header, claims: claims).utf8)
            return Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: Self.now) }
        }
        #expect(try refusal(["kid": "\"anything\""], ["iss": nil, "aud": nil]) == nil)
        #expect(try refusal(["kid": nil], ["iss": nil, "aud": nil]) == nil)
        #expect(try refusal([:], ["iss": nil]) == .audience)
        #expect(try refusal([:], ["aud": nil]) == .issuer(TestIssuer.name))
        // A token must not be taken for an API key.
        #expect(try refusal([:], ["iss": nil, "aud": nil, "sub": "\"key:7m2k9xq4\""])?.reason == "sub")
    }

    @Test func `a single key of a set takes a token without a kid, and no other kid`() throws {
        let issuer = TestIssuer(kind: .hmac)
        let verifier = try Self.verifier(issuer)
        _ = try verifier.verify(Array(issuer.token(header: ["kid": nil]).utf8), at: Self.now)
        let other = Array(try issuer.token(header: ["kid": "\"k2\""]).utf8)
        #expect(
            Self.refusal { () throws(CredentialError) in try verifier.verify(other, at: Self.now) } == .keyID("k2")
        )
    }

    @Test func `names that only look the same are different names`() throws {
        // "é" composed, and decomposed.
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let issuer = TestIssuer(kind: .hmac)
        let keys = try KeySet(jwks: Array("{\"keys\":[\(issuer.key(id: composed))]}".utf8))
        let verifier = try TokenVerifier(issuers: [TokenIssuer(name: composed, audiences: [composed], keys: keys)])
        func reason(kid: String, iss: String, aud: String) throws -> String? {
            let token = Array(
                try issuer.token(header: ["kid": "\"\(kid)\""], claims: ["iss": "\"\(iss)\"", "aud": "\"\(aud)\""]).utf8
            )
            return Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: Self.now) }?.reason
        }
        #expect(try reason(kid: composed, iss: composed, aud: composed) == nil)
        #expect(try reason(kid: decomposed, iss: composed, aud: composed) == "kid")
        #expect(try reason(kid: composed, iss: decomposed, aud: composed) == "iss")
        #expect(try reason(kid: composed, iss: composed, aud: decomposed) == "aud")
    }

    @Test func `two issuers of one name are refused, and of different names have their own keys`() throws {
        let keys = try KeySet(keyFile: TestKeys.secret, algorithm: .hs256)
        let others = try KeySet(keyFile: TestKeys.otherSecret, algorithm: .hs256)
        let first = try TokenIssuer(name: "a", audiences: [], keys: keys)
        let second = try TokenIssuer(name: "b", audiences: [], keys: others)
        #expect(throws: AuthConfigurationError.issuer("a", "is configured twice. Merge the keys into one set.")) {
            try TokenVerifier(issuers: [first, second, first])
        }
        let verifier = try TokenVerifier(issuers: [first, second])
        let token = Array(try TestIssuer(kind: .hmac).token(claims: ["iss": "\"b\"", "aud": nil]).utf8)
        #expect(Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: Self.now) } == .signature)
    }

    @Test func `an issuer needs a name and an audience for a key set, and sensible limits`() throws {
        let keys = try KeySet(jwks: Array("{\"keys\":[\(TestIssuer(kind: .p256).key())]}".utf8))
        func fault(
            _ name: String?,
            _ audiences: [String],
            types: Set<TokenIssuer.TokenType> = [.accessToken],
            lifetime: Int = 60
        ) -> String? {
            do throws(AuthConfigurationError) {
                _ = try TokenIssuer(
                    name: name,
                    audiences: audiences,
                    types: types,
                    keys: keys,
                    lifetimeSecondsMax: lifetime
                )
                return nil
            } catch {
                return error.description
            }
        }
        #expect(fault("a", ["b"]) == nil)
        #expect(fault(nil, ["b"]) == "The issuer without a name has a key set. Name it with --issuer.")
        #expect(fault("a", []) == "The issuer \"a\" has a key set and no audience. Add --audience.")
        #expect(fault("", ["b"]) == "The issuer \"\" is an empty text. Give the value of \"iss\".")
        #expect(fault("a", ["b", ""]) == "The issuer \"a\" has an empty audience. Remove it.")
        #expect(fault("a", ["b"], types: []) == "The issuer \"a\" admits no type of token. Add --token-type.")
        #expect(fault("a", ["b"], lifetime: 0) == "The issuer \"a\" admits no lifetime. Use 1 second or more.")
        let many = (0..<17).map { "a\($0)" }
        #expect(fault("a", many) == "The issuer \"a\" has 17 audiences. Use at most 16.")
    }

    @Test(arguments: [
        ("cnf", #"{"jkt":"AA"}"#), ("cnf", "null"), ("events", "{}"),
        ("events", #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#),
    ])
    func `a token that needs a proof, or reports events, is no access token`(_ name: String, _ value: String) throws {
        let issuer = TestIssuer(kind: .p256)
        let token = Array(try issuer.token(header: ["typ": "\"JWT\""], claims: [name: value]).utf8)
        let verifier = try Self.verifier(issuer, types: [.jwt])
        let refusal = Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: Self.now) }
        #expect(refusal?.reason == name)
    }

    @Test(arguments: ["a\u{85}", "a\u{202E}b", "a\u{2028}", "\u{200B}"])
    func `a subject has no characters that are not visible`(_ subject: String) throws {
        let issuer = TestIssuer(kind: .hmac)
        let token = Array(try issuer.token(claims: ["sub": "\"\(subject)\""]).utf8)
        let verifier = try Self.verifier(issuer)
        let refusal = Self.refusal { () throws(CredentialError) in try verifier.verify(token, at: Self.now) }
        #expect(refusal?.reason == "sub")
    }
}
