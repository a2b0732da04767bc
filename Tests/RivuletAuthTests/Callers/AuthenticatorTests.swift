import Crypto
import RivuletAccess
import RivuletAuth
import RivuletJSON
import SeededRandom
import Testing

@Suite struct AuthenticatorTests {
    private static let now = TestIssuer.now
    private static let policy = #"""
        {"roles":{"editor":[{"actions":["dispatch"],"app":"a","sessions":["${me}"]}]},
         "authenticated":[{"actions":["read"],"app":"a","sessions":["${sub}"]}],
         "anonymous":[{"actions":["read"],"app":"a","sessions":["home"]}]}
        """#

    private static func secret(_ seed: UInt8 = 1) -> SymmetricKey {
        SymmetricKey(data: Array(repeating: seed, count: 32))
    }

    private static func authenticator(
        claim: String = "roles",
        keys: APIKeyFile = APIKeyFile(),
        policy: String = policy,
        keyDocument: [UInt8] = [1],
        number: UInt64 = 0
    ) throws -> (Authenticator, TestIssuer) {
        let issuer = TestIssuer(kind: .hmac)
        let configured = try TokenIssuer(
            name: TestIssuer.name,
            audiences: [TestIssuer.audience],
            keys: KeySet(keyFile: TestKeys.secret, algorithm: nil)
        )
        let authenticator = try Authenticator(
            issuers: [configured],
            apiKeys: keys,
            policy: AccessPolicy(parsing: Array(policy.utf8)),
            rolesClaim: claim,
            secret: secret(),
            keyDocuments: [keyDocument],
            number: number
        )
        return (authenticator, issuer)
    }

    private static func identity(_ claims: [String: String?], claim: String = "roles") throws -> Identity {
        let (authenticator, issuer) = try authenticator(claim: claim)
        return try authenticator.identify(Array(issuer.token(claims: claims).utf8), at: now)
    }

    @Test func `a token has the grants of its claims, of its roles and of all callers`() throws {
        let own = #"[{"type":"rivulet","actions":["operate"]}]"#
        let identity = try Self.identity(["roles": #"["editor","other"]"#, "authorization_details": own])
        let caller = identity.caller
        let me = try #require(caller.me)
        #expect(caller.subject == "alice" && caller.issuer == TestIssuer.name)
        #expect(caller.roles == ["editor", "other"])
        #expect(caller.isOperator && !caller.isAnonymous)
        #expect(caller.claims["jti"]?.stringValue == "t1")
        #expect(identity.grants.access(to: me, of: "a").actions == [.dispatch])
        #expect(identity.grants.access(to: "alice", of: "a").actions == [.read])
        #expect(identity.grants.access(to: "home", of: "a").actions == [.read])
        #expect(identity.grants.access(to: "bob", of: "a") == .none)
        #expect(identity.sources.count == 4)
        #expect(try !Self.identity([:]).caller.isOperator)
        #expect(try Self.identity([:]).grants.access(to: me, of: "a") == .none)
    }

    private static let roles: [(String, [String: String?], Set<String>)] = [
        ("roles", ["roles": #"["a","b"]"#], ["a", "b"]), ("roles", ["roles": #""a b""#], ["a", "b"]),
        ("roles", ["roles": #"["a",1,null]"#, "scope": #""c  d""#], ["a", "c", "d"]),
        ("roles", ["roles": "1", "scope": "[]"], []), ("roles", ["role": #"["a"]"#], []),
        ("realm_access.roles", ["realm_access": #"{"roles":["a"]}"#], ["a"]),
        ("realm_access.roles", ["realm_access.roles": #"["b"]"#, "realm_access": #"{"roles":["a"]}"#], ["b"]),
        ("realm_access.roles", ["roles": #"["a"]"#, "realm_access": "[]"], []),
        ("https://e.com/roles", ["https://e.com/roles": #"["a"]"#], ["a"]),
        ("roles", ["r\u{F6}les": #"["a"]"#, "roles": #"["a b"]"#], ["a b"]),
    ]

    @Test(arguments: roles)
    func `roles come from their claim and from the scope`(
        _ claim: String,
        _ claims: [String: String?],
        _ roles: Set<String>
    ) throws {
        #expect(try Self.identity(claims, claim: claim).caller.roles == roles)
    }

    @Test func `an issuer has its own claim of roles`() throws {
        let issuer = TestIssuer(kind: .hmac)
        let configured = try TokenIssuer(
            name: TestIssuer.name,
            audiences: [TestIssuer.audience],
            keys: KeySet(keyFile: TestKeys.secret, algorithm: nil),
            rolesClaim: RolesClaim("groups")
        )
        let token = Array(try issuer.token(claims: ["groups": #"["a"]"#, "roles": #"["b"]"#]).utf8)
        let authenticator = try Authenticator(issuers: [configured], secret: Self.secret())
        #expect(try authenticator.identify(token, at: Self.now).caller.roles == ["a"])
        #expect(throws: AuthConfigurationError.self) {
            try Authenticator(issuers: [], rolesClaim: "", secret: Self.secret())
        }
    }

    @Test func `the name of a caller stands for its issuer and its subject`() throws {
        let key = PseudonymKey(Self.secret())
        let names = [
            key.name(issuer: "i", subject: "a"), key.name(issuer: "ia", subject: ""),
            key.name(issuer: nil, subject: "ia"), key.name(issuer: "", subject: "ia"),
            key.name(issuer: "i", subject: "b"), key.name(issuer: "j", subject: "a"),
            PseudonymKey(Self.secret(2)).name(issuer: "i", subject: "a"), key.name(issuer: "i", subject: "cafe\u{301}"),
            key.name(issuer: "i", subject: "caf\u{E9}"),
        ]
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.wholeMatch(of: /[a-z2-7]{26}/) != nil })
        // Python: base64.b32encode(hmac.new(b"\1" * 32, b"rivulet-me\1" + (1).to_bytes(8) + b"ia", "sha256").digest())
        #expect(names[0] == "rjouvaz5ebbxdixyucwn46bxrv")
        var dump = ""
        Swift.dump(key, to: &dump)
        #expect(dump == "- PseudonymKey\n")
    }

    @Test func `an API key has its own grants, and those of all callers with a credential`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        let grant = try JSONValue(parsing: #"{"actions":["delete"],"app":"a","sessions":["*"]}"#)
        let key = try file.add(name: "billing", grants: [grant], expires: Self.now + 10, using: &random)
        let (authenticator, _) = try Self.authenticator(keys: file)
        let identity = try authenticator.identify(Array(key.text.utf8), at: Self.now)
        #expect(identity.caller.subject == "key:\(key.id)" && identity.caller.issuer == nil)
        #expect(identity.grants.access(to: "home", of: "a").actions == [.read, .delete])
        #expect(identity.grants.access(to: "key:\(key.id)", of: "a").actions == [.read, .delete])
        #expect(identity.caller.roles.isEmpty)
        #expect(identity.isExpired(at: Self.now + 15) && !identity.isExpired(at: Self.now + 14))
    }

    @Test func `newer rules decide about a verified caller, and other keys do not know it`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        let key = try file.add(
            name: nil,
            grants: [JSONValue(parsing: #"{"actions":["delete"],"app":"a","sessions":["*"]}"#)],
            expires: nil,
            using: &random
        )
        let (first, issuer) = try Self.authenticator(keys: file, number: 1)
        let token = try first.identify(Array(issuer.token(claims: [:]).utf8), at: Self.now)
        let backend = try first.identify(Array(key.text.utf8), at: Self.now)
        let visitor = first.anonymous(me: "cookie")
        #expect([token, backend, visitor].map(\.authenticator) == [1, 1, 1])
        let policy = #"{"authenticated":[{"actions":["dispatch"],"app":"a","sessions":["*"]}]}"#
        let (second, _) = try Self.authenticator(keys: file, policy: policy, number: 2)
        let again = [token, backend, visitor].map { second.identify(again: $0) }
        #expect(again.map { $0?.authenticator } == [2, 2, 2])
        #expect(again.map { $0?.caller.me } == [token.caller.me, backend.caller.me, "cookie"])
        let actions = again.map { $0?.grants.access(to: "home", of: "a").actions }
        #expect(actions == [[.dispatch], [.dispatch, .delete], []])
        #expect(again[0]?.principal?.expires == token.principal?.expires)
        // Another document of keys, and a file without the API key.
        let (third, _) = try Self.authenticator(policy: policy, keyDocument: [2], number: 3)
        #expect(third.identify(again: token) == nil && third.identify(again: backend) == nil)
        #expect(third.identify(again: visitor) != nil)
        // The secret of the API key is another one under the same id.
        let text = String(decoding: file.bytes, as: UTF8.self)
        let start = try #require(text.firstRange(of: "\"sha256\":\"")).upperBound
        let other = text[..<start] + (text[start] == "0" ? "1" : "0") + text[text.index(after: start)...]
        let (fourth, _) = try Self.authenticator(keys: APIKeyFile(parsing: Array(other.utf8)), number: 4)
        #expect(fourth.identify(again: backend) == nil && fourth.identify(again: token) != nil)
    }

    @Test func `another server with the same keys makes a caller of its description, without the credential`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        let grant = try JSONValue(parsing: #"{"actions":["delete"],"app":"a","sessions":["*"]}"#)
        let key = try file.add(name: "billing", grants: [grant], expires: Self.now + 10, using: &random)
        let (first, issuer) = try Self.authenticator(keys: file, number: 1)
        let text = try issuer.token(claims: [:])
        let token = try first.identify(Array(text.utf8), at: Self.now)
        let backend = try first.identify(Array(key.text.utf8), at: Self.now)
        let policy = #"{"authenticated":[{"actions":["dispatch"],"app":"a","sessions":["*"]}]}"#
        let (second, _) = try Self.authenticator(keys: file, policy: policy, number: 2)
        for identity in [token, backend] {
            let described = identity.described
            let again = try #require(second.identify(described: described))
            #expect(again.caller.me == identity.caller.me && again.caller.subject == identity.caller.subject)
            #expect(again.principal?.expires == identity.principal?.expires && again.authenticator == 2)
            let expected = try #require(second.identify(again: identity)).grants.access(to: "home", of: "a").actions
            #expect(again.grants.access(to: "home", of: "a").actions == expected && !expected.isEmpty)
            #expect(second.identify(again: again) != nil)
            let shown = String(decoding: described, as: UTF8.self)
            #expect(!shown.contains(text) && !shown.contains(key.text))
            for count in 0..<described.count {
                #expect(second.identify(described: Array(described.prefix(count))) == nil)
            }
        }
        #expect(first.anonymous(me: "cookie").described.isEmpty)
        let (third, _) = try Self.authenticator(policy: policy, keyDocument: [2], number: 3)
        #expect(third.identify(described: token.described) == nil)
        #expect(third.identify(described: backend.described) == nil)
    }

    @Test func `a revoked credential is refused, and never anonymous`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        let grant = try JSONValue(parsing: #"{"actions":["operate"]}"#)
        let key = try file.add(name: nil, grants: [grant], expires: nil, using: &random)
        let (authenticator, issuer) = try Self.authenticator(keys: file)
        let token = Array(try issuer.token().utf8)
        func identify(_ credential: [UInt8], _ revocation: Revocation) -> CredentialError? {
            var list = Revocations()
            guard list.insert(Revocations.record(revocation, id: "r", at: Self.now, lifetimeSecondsMax: 60)) else {
                return nil
            }
            do throws(CredentialError) {
                _ = try authenticator.identify(credential, at: Self.now, isRevoked: list.covers)
                return nil
            } catch {
                return error
            }
        }
        #expect(identify(token, .token(id: "t1")) == .revoked)
        #expect(identify(token, .token(id: "t2")) == nil)
        #expect(identify(token, .subject("alice", issuer: TestIssuer.name, issuedUntil: Self.now)) == .revoked)
        #expect(identify(token, .subject("alice", issuer: nil, issuedUntil: Self.now)) == nil)
        #expect(identify(Array(key.text.utf8), .apiKey(id: key.id)) == .revoked)
        #expect(identify(Array("x".utf8), .token(id: "t1")) == .parts(1))
        #expect(identify([], .token(id: "t1")) == .parts(1))
        #expect(identify(Array("rvk_".utf8), .token(id: "t1")) == .apiKeyForm)
    }

    @Test func `an anonymous identity has the grants of anonymous callers alone`() throws {
        let (authenticator, _) = try Self.authenticator()
        let identity = authenticator.anonymous(me: "cookie")
        #expect(identity.caller.isAnonymous && identity.principal == nil && identity.caller.me == "cookie")
        #expect(identity.grants.access(to: "home", of: "a").actions == [.read])
        #expect(identity.grants.access(to: "cookie", of: "a") == .none)
        #expect(!identity.isExpired(at: .max))
        #expect(authenticator.anonymous.caller == .anonymous)
        #expect(authenticator.issuerNames == [TestIssuer.name])
        #expect(authenticator.soleIssuer?.name == TestIssuer.name)
    }

    @Test func `a revocation lasts as long as any token could, and in a fuller list as those of its issuers`() throws {
        let (authenticator, _) = try Self.authenticator()
        let own = Revocation.subject("alice", issuer: TestIssuer.name, issuedUntil: 0)
        let other = Revocation.subject("alice", issuer: "another", issuedUntil: 0)
        func lifetimes(among count: Int) -> [Int] {
            [.token(id: "t"), own, other].map { authenticator.lifetimeSecondsMax(of: $0, among: count) }
        }
        #expect(lifetimes(among: Revocations.keptForYearMax - 1) == Array(repeating: 31_536_000, count: 3))
        #expect(lifetimes(among: Revocations.keptForYearMax) == [86_400, 86_400, 31_536_000])
    }

    @Test func `a server without credentials has identities of all permissions`() {
        let all = Identity(caller: .anonymous, grants: .all)
        let operators = Identity(caller: .anonymous, grants: .allWithOperate)
        #expect(!all.caller.isOperator && operators.caller.isOperator)
        #expect(all.grants.access(to: "x", of: "y") == .all)
    }
}
