import RivuletAuth
import RivuletJSON
import Testing

@Suite struct RevocationsTests {
    private static func principal(
        _ subject: String,
        issuer: String? = "i",
        id: String? = nil,
        at time: Int
    ) -> Principal {
        Principal(
            subject: subject,
            issuer: issuer,
            credential: .token(id: id, keyID: nil),
            issuedAt: time,
            expires: time + 100,
            grants: [],
            claims: .object([])
        )
    }

    private static func key(_ id: String) -> Principal {
        Principal(
            subject: "key:\(id)",
            issuer: nil,
            credential: .apiKey(id: id),
            issuedAt: nil,
            expires: nil,
            grants: [],
            claims: .object([])
        )
    }

    private static func list(_ revocations: Revocation..., at now: Int = 1_000) -> Revocations {
        var list = Revocations()
        for (index, revocation) in revocations.enumerated() {
            let record = Revocations.record(revocation, id: "r\(index)", at: now, lifetimeSecondsMax: 3_600)
            let isInserted = list.insert(record)
            #expect(isInserted)
        }
        return list
    }

    private static let all: [Revocation] = [
        .token(id: "t1"), .token(id: "caf\u{E9}"), .subject("alice", issuer: "i", issuedUntil: 900),
        .subject("alice", issuer: nil, issuedUntil: 950), .subject("caf\u{E9}", issuer: "i", issuedUntil: 950),
        .apiKey(id: "abcdefgh"),
    ]

    @Test func `a list covers exactly what one of its revocations covers`() {
        var list = Revocations()
        for (index, revocation) in Self.all.enumerated() {
            let record = Revocations.record(revocation, id: "\(index)", at: 1_000, lifetimeSecondsMax: 60)
            let isInserted = list.insert(record)
            #expect(isInserted)
        }
        var principals = [Self.key("abcdefgh"), Self.key("abcdefgi")]
        for subject in ["alice", "bob", "caf\u{E9}", "cafe\u{301}", "key:abcdefgh"] {
            for issuer in ["i", "j", nil] {
                let tokens = [("t1", 10_000), (nil, 900), (nil, 905), (nil, 906), ("cafe\u{301}", 955), ("x", 956)]
                principals += tokens.map { Self.principal(subject, issuer: issuer, id: $0, at: $1) }
            }
        }
        for principal in principals {
            let isCovered = Self.all.contains { $0.covers(principal) }
            #expect(list.covers(principal) == isCovered, "\(principal)")
        }
        #expect(principals.count(where: list.covers) > 20)
        #expect(principals.allSatisfy { !Revocations().covers($0) })
    }

    @Test func `a revocation that is taken back covers nothing, and the others stay`() {
        var list = Self.list(
            .subject("a", issuer: "i", issuedUntil: 10),
            .subject("a", issuer: "i", issuedUntil: 20),
            .token(id: "t")
        )
        let late = Self.principal("a", at: 20)
        #expect(list.covers(late))
        let removals = [list.remove(id: "r1"), list.remove(id: "r1"), list.remove(id: "x")]
        #expect(removals == [true, false, false])
        #expect(!list.covers(late) && list.covers(Self.principal("a", at: 10)))
        #expect(list.records.map(\.id) == ["r0", "r2"])
        #expect(list.count == 2)
    }

    @Test func `a record is kept as long as a token that it covers can be valid`() {
        func until(_ revocation: Revocation) -> Int? {
            Revocations.record(revocation, id: "r", at: 1_000, lifetimeSecondsMax: 3_600).until
        }
        #expect(until(.token(id: "t")) == 4_610)
        #expect(until(.subject("a", issuer: nil, issuedUntil: 10)) == 4_610)
        #expect(until(.subject("a", issuer: nil, issuedUntil: 2_000)) == 5_610)
        #expect(until(.apiKey(id: "k")) == nil)
        var list = Self.list(.token(id: "t"), .apiKey(id: "k"), .subject("a", issuer: nil, issuedUntil: 2_000))
        let removed = [4_609, 4_610, 253_402_300_799].map { list.removeExpired(at: $0) }
        #expect(removed == [[], ["r0"], ["r2"]])
        #expect(list.records.map(\.id) == ["r1"])
        #expect(list.covers(Self.key("k")))
    }

    @Test func `a record is read as it was written`() throws {
        for revocation in Self.all {
            let record = Revocations.record(revocation, id: "r", at: 1_000, lifetimeSecondsMax: 60)
            let read = try #require(Revocations.Record(json: JSONValue(parsing: record.json.description)))
            #expect(read.json == record.json)
            #expect(read.until == record.until)
        }
        #expect(
            Revocations.record(Self.all[3], id: "r", at: 1_000, lifetimeSecondsMax: 60).json.description
                == #"{"id":"r","subject":"alice","issuer":null,"before":950,"until":1070}"#
        )
        for text in [
            "{}", "[]", #"{"id":"r"}"#, #"{"id":"r","jti":"t"}"#, #"{"jti":"t","until":1}"#,
            #"{"id":"r","subject":"a","until":1}"#,
        ] {
            #expect(try Revocations.Record(json: JSONValue(parsing: text)) == nil, "\(text)")
        }
    }

    @Test func `the list has a limit, and a known id takes no more`() {
        var list = Revocations()
        for number in 0..<Revocations.countMax {
            let id = "\(1_000_000 + number)"
            let record = Revocations.record(.token(id: id), id: id, at: 0, lifetimeSecondsMax: 1)
            guard list.insert(record) else {
                Issue.record("the list is full at \(number)")
                return
            }
        }
        let other = Revocations.record(.token(id: "x"), id: "x", at: 0, lifetimeSecondsMax: 1)
        let again = Revocations.record(.token(id: "y"), id: "1000000", at: 0, lifetimeSecondsMax: 1)
        let insertions = [list.insert(other), list.insert(again)]
        #expect(insertions == [false, true])
        #expect(list.count == Revocations.countMax)
        #expect(list.covers(Self.principal("a", id: "y", at: 0)))
        #expect(!list.covers(Self.principal("a", id: "1000000", at: 0)))
    }

    @Test func `a page has the records after an id, which need not be there`() {
        var list = Revocations()
        for id in ["b", "d", "a", "f", "c"] {
            let isInserted = list.insert(Revocations.record(.token(id: id), id: id, at: 0, lifetimeSecondsMax: 1))
            #expect(isInserted)
        }
        func page(_ id: String?, _ limit: Int) -> String {
            let (records, hasMore) = list.page(after: id, limit: limit)
            return records.map(\.id).joined() + (hasMore ? "…" : "")
        }
        #expect(page(nil, 2) == "ab…" && page("b", 2) == "cd…" && page("d", 2) == "f")
        #expect(page("bb", 9) == "cdf" && page("f", 9).isEmpty && page("", 5) == "abcdf")
        #expect(list.record(id: "d")?.id == "d" && list.record(id: "e") == nil)
    }

    @Test func `a request names a token, a subject or a key`() throws {
        let keys = try KeySet(keyFile: TestKeys.secret, algorithm: nil)
        let issuer = try TokenIssuer(name: "i", audiences: [], keys: keys)
        func read(_ text: String, sole: TokenIssuer? = issuer) throws -> String {
            let value = try JSONValue(parsing: text)
            do throws(RevocationError) {
                return "\(try Revocation(reading: value, soleIssuer: sole, at: 1_000))"
            } catch {
                return error.description
            }
        }
        #expect(try read(#"{"jti":"t"}"#) == #"token(id: "t")"#)
        #expect(try read(#"{"key":"k"}"#) == #"apiKey(id: "k")"#)
        #expect(try read(#"{"subject":"a"}"#) == #"subject("a", issuer: Optional("i"), issuedUntil: 1000)"#)
        #expect(
            try read(#"{"subject":"a","issuer":null,"before":7}"#, sole: nil)
                == #"subject("a", issuer: nil, issuedUntil: 7)"#
        )
        #expect(
            try read(#"{"subject":"a","issuer":"j","before":"1970-01-01T00:01:00Z"}"#)
                == #"subject("a", issuer: Optional("j"), issuedUntil: 60)"#
        )
        let missing = #""issuer" is missing, and there is no single issuer. Name it."#
        #expect(try read(#"{"subject":"a"}"#, sole: nil) == missing)
        let one = #"The body needs one of "jti", "subject" and "key"."#
        for text in ["{}", #"{"jti":"t","key":"k"}"#] { #expect(try read(text) == one) }
        #expect(try read("[]") == "The body is not an object.")
        #expect(try read(#"{"jti":"t","before":1}"#) == #"The body has the member "before" beside "jti". Remove it."#)
        for text in ["1", "\"\"", "null", "\"\(String(repeating: "a", count: 256))\""] {
            #expect(try read("{\"jti\":\(text)}") == #""jti" needs a text of 1 to 255 bytes."#)
        }
        for text in ["-1", "1.5", "\"tomorrow\"", "null", "253402300800"] {
            #expect(try read("{\"subject\":\"a\",\"before\":\(text)}").hasPrefix(#""before" needs a time"#), "\(text)")
        }
    }
}
