import RivuletAccess
import RivuletAuth
import RivuletJSON
import Testing

extension PrincipalCache {
    fileprivate mutating func principal(of token: [UInt8], at now: Int) -> Principal? {
        identity(of: token, at: now)?.principal
    }

    fileprivate mutating func insert(_ principal: Principal, of token: [UInt8]) {
        insert(Identity(principal, Caller(subject: principal.subject), []), of: token)
    }
}

@Suite struct PrincipalCacheTests {
    private static func principal(
        _ subject: String,
        issuer: String? = "a",
        id: String? = nil,
        issuedAt: Int = 100,
        expires: Int? = 1_000
    ) -> Principal {
        Principal(
            subject: subject,
            issuer: issuer,
            credential: .token(id: id, keyID: "k1"),
            issuedAt: issuedAt,
            expires: expires,
            grants: [],
            claims: .object([])
        )
    }

    private static let apiKey = Principal(
        subject: "key:7m2k9xq4",
        issuer: nil,
        credential: .apiKey(id: "7m2k9xq4"),
        issuedAt: nil,
        expires: nil,
        grants: [],
        claims: .object([])
    )

    private static func token(_ number: Int) -> [UInt8] { Array("token \(number)".utf8) }

    @Test func `a token that was inserted is found, and no other`() {
        var cache = PrincipalCache(capacity: 4)
        cache.insert(Self.principal("alice"), of: Self.token(1))
        #expect(cache.principal(of: Self.token(1), at: 200)?.subject == "alice")
        #expect(cache.principal(of: Self.token(2), at: 200) == nil)
        #expect(cache.principal(of: [], at: 200) == nil)
    }

    @Test func `an expired principal is removed, after the leeway of requests`() {
        var cache = PrincipalCache(capacity: 4)
        cache.insert(Self.principal("alice"), of: Self.token(1))
        #expect(cache.principal(of: Self.token(1), at: 1_004) != nil)
        #expect(cache.principal(of: Self.token(1), at: 1_005) == nil)
        #expect(cache.count == 0)
        cache.insert(Self.apiKey, of: Self.token(2))
        #expect(cache.principal(of: Self.token(2), at: .max) != nil)
    }

    @Test func `the cache never has more entries than its capacity, and keeps those in use`() {
        var cache = PrincipalCache(capacity: 8)
        for number in 0..<1_000 {
            cache.insert(Self.principal("\(number)"), of: Self.token(number))
            #expect(cache.count <= 8)
            #expect(cache.principal(of: Self.token(0), at: 200)?.subject == "0")
        }
        #expect(cache.count == 8)
        #expect(cache.principal(of: Self.token(999), at: 200)?.subject == "999")
    }

    @Test func `a full cache of used entries still takes one`() {
        var cache = PrincipalCache(capacity: 2)
        for number in 0..<2 {
            cache.insert(Self.principal("\(number)"), of: Self.token(number))
            _ = cache.principal(of: Self.token(number), at: 200)
        }
        cache.insert(Self.principal("2"), of: Self.token(2))
        #expect(cache.count == 2)
        #expect(cache.principal(of: Self.token(2), at: 200) != nil)
        var one = PrincipalCache(capacity: 0)
        one.insert(Self.principal("1"), of: Self.token(1))
        one.insert(Self.principal("2"), of: Self.token(2))
        #expect(one.count == 1)
    }

    @Test func `a second insertion of a token replaces the first`() {
        var cache = PrincipalCache(capacity: 2)
        cache.insert(Self.principal("a"), of: Self.token(1))
        cache.insert(Self.principal("b"), of: Self.token(1))
        #expect(cache.count == 1)
        #expect(cache.principal(of: Self.token(1), at: 200)?.subject == "b")
    }

    @Test func `a revocation drops exactly the principals that it covers`() {
        let principals = [
            Self.principal("alice", id: "t1"), Self.principal("alice", id: "t2", issuedAt: 107),
            Self.principal("alice", issuer: "b", id: "t3"), Self.principal("alice", issuer: nil),
            Self.principal("bob", id: "t4"), Self.apiKey, Self.principal("caf\u{E9}", id: "caf\u{E9}"),
        ]
        func dropped(_ revocation: Revocation) -> [Int] {
            var cache = PrincipalCache(capacity: 8)
            for (index, principal) in principals.enumerated() { cache.insert(principal, of: Self.token(index)) }
            let count = cache.drop(revocation)
            let missing = principals.indices.filter { cache.principal(of: Self.token($0), at: 200) == nil }
            #expect(missing.count == count)
            #expect(cache.count == principals.count - count)
            return missing
        }
        #expect(dropped(.token(id: "t1")) == [0])
        #expect(dropped(.token(id: "t9")) == [])
        #expect(dropped(.token(id: "7m2k9xq4")) == [])
        #expect(dropped(.token(id: "cafe\u{301}")) == [])
        #expect(dropped(.token(id: "caf\u{E9}")) == [6])
        #expect(dropped(.subject("alice", issuer: "a", issuedUntil: 101)) == [0])
        #expect(dropped(.subject("alice", issuer: "a", issuedUntil: 102)) == [0, 1])
        #expect(dropped(.subject("alice", issuer: "a", issuedUntil: 95)) == [0])
        #expect(dropped(.subject("alice", issuer: "a", issuedUntil: 94)) == [])
        #expect(dropped(.subject("alice", issuer: nil, issuedUntil: 200)) == [3])
        #expect(dropped(.subject("cafe\u{301}", issuer: "a", issuedUntil: 200)) == [])
        #expect(dropped(.subject("key:7m2k9xq4", issuer: nil, issuedUntil: 200)) == [])
        #expect(dropped(.apiKey(id: "7m2k9xq4")) == [5])
        #expect(dropped(.apiKey(id: "t1")) == [])
    }

    @Test func `entries are found after others are removed`() {
        var cache = PrincipalCache(capacity: 16)
        for number in 0..<16 { cache.insert(Self.principal("\(number % 2)", id: "\(number)"), of: Self.token(number)) }
        #expect(cache.drop(.subject("0", issuer: "a", issuedUntil: 200)) == 8)
        for number in 0..<16 {
            #expect((cache.principal(of: Self.token(number), at: 200) == nil) == (number % 2 == 0))
        }
        for number in 16..<40 { cache.insert(Self.principal("new"), of: Self.token(number)) }
        #expect(cache.count == 16)
        cache.removeAll()
        #expect(cache.count == 0)
        #expect(cache.principal(of: Self.token(39), at: 200) == nil)
    }

    @Test(arguments: [true, false])
    func `an insertion cannot undo a revocation or a reload that came since its look-up`(_ isReload: Bool) {
        var cache = PrincipalCache(capacity: 4)
        guard case .unknown(let found) = cache.find(Self.token(1), at: 200) else {
            Issue.record("an empty cache knows a token")
            return
        }
        if isReload { cache.removeAll() } else { cache.drop(.token(id: "t1")) }
        let identity = Identity(Self.principal("alice", id: "t1"), Caller(subject: "alice"), [])
        cache.insert(identity, of: Self.token(1), found: found)
        cache.insert(.signature, of: Self.token(2), found: found, at: 200)
        for number in 1...2 {
            guard case .unknown(let later) = cache.find(Self.token(number), at: 200) else {
                Issue.record("the token \(number) is known")
                continue
            }
            #expect(later != found)
        }
        cache.insert(identity, of: Self.token(1), found: cache.generation)
        #expect(cache.count == 1)
    }

    @Test func `identities take a limited memory`() {
        var cache = PrincipalCache(capacity: 100, bytesMax: 20_000)
        let long = Array(repeating: UInt8(ascii: "a"), count: 1_000)
        for number in 0..<100 {
            cache.insert(Self.principal("\(number)"), of: long + Self.token(number))
            #expect(cache.bytes <= 20_000)
            #expect(cache.principal(of: long + Self.token(number), at: 200) != nil)
        }
        #expect(cache.count == 2)
        cache.insert(Self.principal("large"), of: Array(repeating: 0, count: 8_000))
        #expect(cache.count == 2)
        cache.drop(.subject("99", issuer: "a", issuedUntil: 100))
        #expect(cache.count == 1 && cache.bytes < 10_000)
        cache.removeAll()
        #expect(cache.bytes == 0)
    }

    @Test func `grants that a policy binds to a caller take memory too`() throws {
        let sessions = (0..<64).map { #""${me}-\#($0)""# }.joined(separator: ",")
        let own = try Grant(JSONValue(parsing: #"{"actions":["read"],"app":"a","sessions":[\#(sessions)]}"#))
        let shared = try Grant(JSONValue(parsing: #"{"actions":["read"],"app":"a","sessions":["a","b","c"]}"#))
        func bytes(_ grants: [Grant], of token: [Grant] = []) -> Int {
            let principal = Principal(
                subject: "s",
                issuer: nil,
                credential: .token(id: nil, keyID: nil),
                issuedAt: nil,
                expires: nil,
                grants: token,
                claims: .object([])
            )
            var cache = PrincipalCache()
            cache.insert(Identity(principal, Caller(subject: "s", me: "m"), token + grants), of: [])
            return cache.bytes
        }
        #expect(bytes([shared]) == bytes([]) && bytes([shared], of: [shared]) > bytes([]))
        #expect((6_000...12_000).contains(bytes([own]) - bytes([])))
        var cache = PrincipalCache(bytesMax: 4_000)
        cache.insert(Identity(Self.principal("a"), Caller(subject: "a", me: "m"), [own]), of: Self.token(1))
        #expect(cache.count == 0)
    }

    @Test func `a refused token is known for a minute, with its reason`() {
        var cache = PrincipalCache(capacity: 4)
        cache.insert(.signature, of: Self.token(1), found: cache.generation, at: 100)
        func refusal(_ number: Int, at now: Int) -> CredentialError? {
            guard case .refused(let reason) = cache.find(Self.token(number), at: now) else { return nil }
            return reason
        }
        #expect(refusal(1, at: 100) == .signature)
        #expect(refusal(1, at: 159) == .signature)
        #expect(refusal(1, at: 160) == nil)
        cache.insert(.notYetValid(inSeconds: 10), of: Self.token(2), found: cache.generation, at: 100)
        cache.insert(.issuedInFuture(inSeconds: 10), of: Self.token(2), found: cache.generation, at: 100)
        #expect(refusal(2, at: 100) == nil)
        for number in 3..<3 + PrincipalCache.refusedMax {
            cache.insert(.tooLong, of: Self.token(number), found: cache.generation, at: 100)
        }
        #expect(refusal(1, at: 100) == nil)
        #expect(refusal(3, at: 100) == .tooLong)
        cache.insert(.tooLong, of: Self.token(1), found: cache.generation, at: 100)
        #expect(refusal(3, at: 100) == nil)
        #expect(refusal(4, at: 100) == .tooLong)
        cache.insert(Self.principal("late"), of: Self.token(4))
        #expect(cache.principal(of: Self.token(4), at: 100)?.subject == "late")
        cache.removeAll()
        #expect(refusal(5, at: 100) == nil)
    }
}
