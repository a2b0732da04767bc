import RivuletAuth
import RivuletJSON
import SeededRandom
import Testing

/// Documents with random changes: each is read, or refused with one line.
@Suite struct MutationTests {
    private static let count = 1_000

    /// Changes one to four places: another byte, a byte more or less, or a piece of the text again.
    private static func changed(_ bytes: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(UInt8(ascii: "\""), at: place)
            default: bytes.insert(contentsOf: bytes[place...].prefix(40), at: bytes.count - place)
            }
        }
        return bytes
    }

    private static func expectLine(_ error: some CustomStringConvertible) {
        let line = error.description
        #expect(!line.contains("\n") && line.utf8.count < 1_000, "\(line)")
    }

    @Test(arguments: TestIssuer.Kind.allCases)
    func `a changed key set is read, or refused with a line`(_ kind: TestIssuer.Kind) throws {
        var random = SeededGenerator(seed: 1)
        let set = Array("{\"keys\":[\(try TestIssuer(kind: kind).key())]}".utf8)
        for _ in 0..<Self.count {
            do throws(AuthConfigurationError) {
                _ = try KeySet(jwks: Self.changed(set, using: &random))
            } catch {
                Self.expectLine(error)
            }
        }
    }

    @Test(arguments: [TestIssuer.Kind.hmac, .p256])
    func `a changed token is refused with a line`(_ kind: TestIssuer.Kind) throws {
        var random = SeededGenerator(seed: 2)
        let issuer = TestIssuer(kind: kind)
        let keys = try KeySet(jwks: Array("{\"keys\":[\(issuer.key())]}".utf8))
        let verifier = try TokenVerifier(issuers: [
            TokenIssuer(name: TestIssuer.name, audiences: [TestIssuer.audience], keys: keys)
        ])
        let token = Array(try issuer.token().utf8)
        for _ in 0..<Self.count {
            let changed = Self.changed(token, using: &random)
            guard changed != token else { continue }
            do throws(CredentialError) {
                _ = try verifier.verify(changed, at: TestIssuer.now)
                Issue.record("accepted: \(String(decoding: changed, as: UTF8.self))")
            } catch {
                Self.expectLine(error)
            }
        }
    }

    /// The issuer signs claims that have faults of their own.
    @Test func `changed claims under a right signature are read, or refused with a line`() throws {
        var random = SeededGenerator(seed: 3)
        let issuer = TestIssuer(kind: .hmac)
        let keys = try KeySet(jwks: Array("{\"keys\":[\(issuer.key())]}".utf8))
        let verifier = try TokenVerifier(issuers: [
            TokenIssuer(name: TestIssuer.name, audiences: [TestIssuer.audience], keys: keys)
        ])
        let grant = #"[{"type":"rivulet","actions":["read"],"app":"a","sessions":["${me}-*"],"paths":["/p/${sub}"]}]"#
        let (header, claims) = (issuer.header(), issuer.claims(["authorization_details": grant]))
        for _ in 0..<Self.count {
            let changedHeader = Bool.random(using: &random)
            let token = try issuer.sign(
                header: changedHeader ? Self.changed(Array(header.utf8), using: &random) : Array(header.utf8),
                payload: changedHeader ? Array(claims.utf8) : Self.changed(Array(claims.utf8), using: &random)
            )
            do throws(CredentialError) {
                let principal = try verifier.verify(Array(token.utf8), at: TestIssuer.now)
                #expect(principal.issuer == TestIssuer.name)
                #expect((1...255).contains(principal.subject.utf8.count))
            } catch {
                Self.expectLine(error)
            }
        }
    }

    @Test func `a changed file of API keys is read and written back, or refused with a line`() throws {
        var random = SeededGenerator(seed: 4)
        var file = APIKeyFile()
        let grants = [
            try JSONValue(parsing: #"{"actions":["write"],"app":"notes","stores":["*"],"items":["${me}-*"]}"#)
        ]
        let key = try file.add(name: "billing", grants: grants, expires: 2_000_000_000, using: &random)
        for _ in 0..<Self.count {
            do throws(AuthConfigurationError) {
                let read = try APIKeyFile(parsing: Self.changed(file.bytes, using: &random))
                #expect(try APIKeyFile(parsing: read.bytes).bytes == read.bytes)
            } catch {
                Self.expectLine(error)
            }
            let text = Array(key.text.utf8)
            let changed = Self.changed(text, using: &random)
            guard changed != text else { continue }
            #expect(throws: CredentialError.self) { try file.verify(changed, at: 0) }
        }
    }
}
