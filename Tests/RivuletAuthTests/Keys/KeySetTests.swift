import Crypto
import Foundation
import RivuletAuth
import Testing

@Suite struct KeySetTests {
    private static let ec = #""kty":"EC","crv":"P-256","x":"X","y":"Y""#

    /// The line of the refusal; nil if the set is accepted.
    private static func fault(_ document: String) -> String? {
        do throws(AuthConfigurationError) {
            _ = try KeySet(jwks: Array(document.utf8))
            return nil
        } catch {
            return error.description
        }
    }

    private static func fault(file: String, _ algorithm: SignatureAlgorithm? = nil) -> String? {
        do throws(AuthConfigurationError) {
            _ = try KeySet(keyFile: Array(file.utf8), algorithm: algorithm)
            return nil
        } catch {
            return error.description
        }
    }

    /// The fault of a set with this one key.
    private static func fault(key: String) -> String? { fault("{\"keys\":[\(key)]}") }

    /// The key of an issuer with one member more, or with another value of a member.
    private static func key(_ kind: TestIssuer.Kind, _ member: String, _ value: String?) throws -> String {
        let key = try TestIssuer(kind: kind).key()
        let found = try #require(try JSONSerialization.jsonObject(with: Data(key.utf8)) as? [String: Any])
        var members = found.mapValues { "\"\($0)\"" }
        members[member] = value
        return "{" + members.sorted { $0.key < $1.key }.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    @Test(arguments: TestIssuer.Kind.allCases)
    func `a key of each kind is read, with its id and algorithm`(_ kind: TestIssuer.Kind) throws {
        let set = try KeySet(jwks: Array("{\"keys\":[\(TestIssuer(kind: kind).key())],\"more\":1}".utf8))
        #expect(set.keys.map(\.id) == ["k1"])
        #expect(set.keys.map(\.algorithm.rawValue) == [kind.rawValue])
        #expect(set.skipped.isEmpty)
        #expect("\(set.keys[0])" == "VerificationKey(\(kind.rawValue), \"k1\")")
    }

    @Test func `a key without an algorithm has that of its curve, or the one that is given for RSA`() throws {
        for kind in TestIssuer.Kind.allCases where kind != .pss {
            let set = try KeySet(jwks: Array("{\"keys\":[\(Self.key(kind, "alg", nil))]}".utf8))
            #expect(set.keys.map(\.algorithm.rawValue) == [kind.rawValue])
        }
        let set = try KeySet(jwks: Array("{\"keys\":[\(Self.key(.rsa, "alg", nil))]}".utf8), rsaAlgorithm: .ps256)
        #expect(set.keys.map(\.algorithm) == [.ps256])
    }

    @Test(
        arguments: [
            ("kid", "1", "The key at index 0 needs a string as \"kid\"."),
            ("kid", "\"\"", "The key \"\" needs a string of 1 to 255 bytes as \"kid\"."),
            ("kty", nil, "The key \"k1\" needs a string as \"kty\"."),
            ("kty", "[]", "The key \"k1\" needs a string as \"kty\"."),
            ("crv", nil, "The key \"k1\" needs a string as \"crv\"."),
            ("alg", "1", "The key \"k1\" needs a string as \"alg\"."),
            ("use", "1", "The key \"k1\" needs a string as \"use\"."),
            ("key_ops", "\"verify\"", "The key \"k1\" needs an array of strings as \"key_ops\"."),
            ("key_ops", "[1]", "The key \"k1\" needs an array of strings as \"key_ops\"."),
            ("key_ops", "[\"verify\",\"verify\"]", "The key \"k1\" has \"verify\" twice in \"key_ops\". Remove one."),
            ("x", nil, "The key \"k1\" needs base64url without padding as \"x\"."),
            ("x", "\"AA==\"", "The key \"k1\" needs base64url without padding as \"x\"."),
            ("x", "\"AAAA\"", "The key \"k1\" has 3 bytes in \"x\". P-256 needs 32."),
            ("y", "\"\"", "The key \"k1\" has 0 bytes in \"y\". P-256 needs 32."),
            (
                "y", "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"",
                "The key \"k1\" is not a point of its curve. Copy the key again."
            ),
            (
                "d", "\"AQ\"",
                "The key \"k1\" has the private member \"d\". Give the public key only, and replace a key that leaked."
            ),
            (
                "alg", "\"RS256\"",
                "The key \"k1\" contradicts itself: \"alg\" is RS256 and the key is P-256. Correct one of the members."
            ),
            (
                "alg", "\"ES384\"",
                "The key \"k1\" contradicts itself: \"alg\" is ES384 and the key is P-256. Correct one of the members."
            ),
        ] as [(String, String?, String)]
    )
    func `a fault of a key names the key and the fix`(_ member: String, _ value: String?, _ line: String) throws {
        #expect(try Self.fault(key: Self.key(.p256, member, value)) == line)
    }

    @Test func `use and operations that contradict each other are refused`() throws {
        let text = "The key \"a\" contradicts itself: "
        let end = ". Correct one of the members."
        #expect(
            Self.fault(key: "{\"kid\":\"a\",\(Self.ec),\"use\":\"sig\",\"key_ops\":[\"verify\",\"encrypt\"]}")
                == text + "\"use\" is \"sig\" and \"key_ops\" has \"encrypt\"" + end
        )
        #expect(
            Self.fault(key: "{\"kid\":\"a\",\(Self.ec),\"use\":\"enc\",\"key_ops\":[\"verify\"]}")
                == text + "\"use\" is \"enc\" and \"key_ops\" has \"verify\"" + end
        )
    }

    @Test(
        arguments: [
            (TestIssuer.Kind.p256, "use", "\"enc\"", "is not for signatures: \"use\" is \"enc\". It is not used."),
            (
                .p256, "key_ops", "[\"deriveKey\"]",
                "is not for signatures: \"key_ops\" has no \"verify\". It is not used."
            ),
            (.rsa, "alg", "\"RSA-OAEP\"", nil), (.rsa, "alg", "\"RS512\"", nil), (.p256, "crv", "\"P-521\"", nil),
            (.ed25519, "crv", "\"X25519\"", nil), (.p256, "kty", "\"AKP\"", nil),
        ] as [(TestIssuer.Kind, String, String, String?)]
    )
    func `a key for another purpose is skipped beside a usable one, and refused alone`(
        _ kind: TestIssuer.Kind,
        _ member: String,
        _ value: String,
        _ end: String?
    ) throws {
        let other = try Self.key(kind, member, value)
        let usable = try TestIssuer(kind: .p384).key()
        let set = try KeySet(jwks: Array("{\"keys\":[\(other),\(usable)]}".utf8))
        #expect(set.keys.map(\.algorithm) == [.es384])
        #expect(set.skipped.count == 1)
        if let end { #expect(set.skipped.first?.description == "The key \"k1\" \(end)") }
        let fault = try #require(Self.fault(key: other))
        #expect(fault.hasPrefix("The key set has no key that verifies signatures. Add one. The key \"k1\" "))
    }

    @Test func `a private key is refused even if it is for another purpose`() throws {
        let line = try #require(Self.fault(key: "{\"kid\":\"a\",\(Self.ec),\"use\":\"enc\",\"d\":\"AQ\"}"))
        #expect(line.hasPrefix("The key \"a\" has the private member \"d\"."))
        for member in ["d", "p", "q", "dp", "dq", "qi", "oth"] {
            let line = try #require(try Self.fault(key: Self.key(.rsa, member, "\"AQ\"")))
            #expect(line.hasPrefix("The key \"k1\" has the private member \"\(member)\"."))
        }
    }

    @Test func `weak secrets and numbers are refused`() throws {
        func secret(_ bytes: [UInt8]) throws -> String? {
            try Self.fault(key: Self.key(.hmac, "k", "\"\(Base64URL.encode(bytes))\""))
        }
        #expect(try secret(Array(repeating: 1, count: 32)) == nil)
        #expect(
            try secret(Array(repeating: 1, count: 31))
                == "The key \"k1\" is a secret of 31 bytes. Use at least 32: openssl rand -out FILE 48"
        )
        #expect(try secret([])?.hasPrefix("The key \"k1\" is a secret of 0 bytes.") == true)
        #expect(try secret(Array(TestKeys.rsaPublicPEM.utf8))?.hasPrefix("The key \"k1\" is a PEM document") == true)
        func exponent(_ bytes: [UInt8]) throws -> String? {
            try Self.fault(key: Self.key(.rsa, "e", "\"\(Base64URL.encode(bytes))\""))
        }
        let range = "The key \"k1\" has a public exponent out of range. Use 65537."
        let zero =
            "The key \"k1\" has an empty \"n\" or \"e\", or one that begins with zero. Remove leading zeros."
        #expect(try exponent([1, 0, 1]) == nil)
        #expect(try exponent([1]) == range)
        #expect(try exponent([3]) == range)
        #expect(try exponent([1, 0, 0]) == range)
        #expect(try exponent([1, 0, 2]) == range)
        #expect(try exponent(Array(repeating: 0xFF, count: 5)) == range)
        #expect(try exponent(Array(repeating: 0xFF, count: 9)) == range)
        #expect(try exponent([0, 1, 0, 1]) == zero)
        #expect(try exponent([]) == range)
        func modulus(_ bytes: [UInt8]) throws -> String? {
            try Self.fault(key: Self.key(.rsa, "n", "\"\(Base64URL.encode(bytes))\""))
        }
        #expect(
            try modulus([0x7F] + Array(repeating: 0xFF, count: 255))
                == "The key \"k1\" is an RSA key of 2047 bits. Use at least 2048."
        )
        #expect(
            try modulus(Array(repeating: 0xFF, count: 1_025))
                == "The key \"k1\" is an RSA key of 8200 bits. Use at most 8192."
        )
        #expect(try modulus([0] + Array(repeating: 0xFF, count: 256)) == zero)
        #expect(try modulus([]) == zero)
        #expect(
            try modulus(Array(repeating: 0xFE, count: 256)) == "The key \"k1\" is not a valid RSA key. Make a new key."
        )
    }

    @Test(arguments: [
        #"{"keys":[{"kty":"EC","crv":"P-256","x":"X","y":"Y"}]}"#, "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 me@host",
        "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI", "---- BEGIN SSH2 PUBLIC KEY ----\nAAAAB3NzaC1yc2E",
        // base64 of a SEQUENCE of 30 bytes, in one line and in two.
        "MB4AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "MB4AAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAA=",
    ])
    func `a public document is no secret`(text: String) {
        #expect(Self.fault(file: text)?.contains("is a public document given as a secret") == true)
    }

    @Test func `a public key in DER or in UTF-16 is no secret`() {
        let documents: [[UInt8]] = [
            [0x30, 30] + Array(repeating: 7, count: 30), [0x30, 0x82, 0x01, 0x00] + Array(repeating: 7, count: 256),
            [0xFF, 0xFE] + Array(repeating: 65, count: 40),
        ]
        for bytes in documents {
            #expect(throws: AuthConfigurationError.self) { try KeySet(keyFile: bytes, algorithm: nil) }
        }
        #expect(throws: Never.self) {
            try KeySet(keyFile: [0x30, 31] + Array(repeating: 7, count: 30), algorithm: nil)
        }
    }

    @Test func `points of Ed25519 for which a signature needs no key are refused`() throws {
        let ends = Array(repeating: UInt8(0xFF), count: 30)
        let points: [[UInt8]] = [
            Array(repeating: 0, count: 32), [1] + Array(repeating: 0, count: 31), [0xEC] + ends + [0x7F],
            [0xED] + ends + [0x7F], [0xEE] + ends + [0xFF], Array(repeating: 0, count: 31) + [0x80],
        ]
        for point in points {
            #expect(
                try Self.fault(key: Self.key(.ed25519, "x", "\"\(Base64URL.encode(point))\""))
                    == "The key \"k1\" is a point of small order, for which a signature needs no key. Make a new key."
            )
        }
        #expect(
            try Self.fault(key: Self.key(.ed25519, "x", "\"AAAA\""))
                == "The key \"k1\" has 3 bytes in \"x\". Ed25519 needs 32."
        )
    }

    @Test func `keys that one token could match are refused`() throws {
        let (first, second) = (TestIssuer(kind: .p256), TestIssuer(kind: .p256, isForeign: true))
        #expect(
            try Self.fault("{\"keys\":[\(first.key()),\(second.key())]}")
                == "The key \"k1\" has the kid of an earlier key. Give each key its own."
        )
        #expect(
            try Self.fault("{\"keys\":[\(first.key()),\(second.key(id: nil))]}")
                == "The key at index 1 has no kid, and the set has several keys. Give each key its own kid."
        )
        #expect(try Self.fault("{\"keys\":[\(first.key(id: nil))]}") == nil)
        let line = try #require(
            try Self.fault("{\"keys\":[\(first.key()),\(TestIssuer(kind: .hmac).key(id: "k2"))]}")
        )
        #expect(line.hasPrefix("The key \"k2\" is of another kind than the first key"))
    }

    @Test(arguments: [
        ("", "malformed"), ("[]", "expected an object"), ("{}", "expected an object"),
        ("{\"keys\":{}}", "expected an object"),
        ("{\"keys\":[],\"keys\":[]}", "twice"), ("{\"keys\":[]", "expected"),
    ])
    func `a document that is no key set is refused with the place`(_ document: String, _ part: String) throws {
        let line = try #require(Self.fault(document))
        #expect(line.hasPrefix("The key set is not a JSON Web Key Set: "), "\(line)")
        #expect(line.contains(part) || part == "malformed", "\(line)")
    }

    @Test func `documents have limits`() throws {
        #expect(Self.fault("{\"keys\":[]}") == "The key set has no key that verifies signatures. Add one.")
        #expect(Self.fault(key: "7") == "The key at index 0 is not an object. Write each key as RFC 7517 has it.")
        let many = try (0..<65).map { try TestIssuer(kind: .p256).key(id: "k\($0)") }.joined(separator: ",")
        #expect(Self.fault("{\"keys\":[\(many)]}") == "The key set has 65 keys. Use at most 64.")
        #expect(Self.fault(String(repeating: " ", count: 65_537)) == "The keys have 65537 bytes. Use at most 65536.")
    }

    @Test(arguments: [
        (TestKeys.rsaPublicPEM, SignatureAlgorithm.rs256), (TestKeys.rsaPublicPEM + "\n", .ps256),
        (TestKeys.p256PublicPEM, .es256), (TestKeys.p384PublicPEM, .es384), (TestKeys.ed25519PublicPEM + "\n", .edDSA),
    ])
    func `a PEM document is read with its algorithm`(_ file: String, _ algorithm: SignatureAlgorithm) throws {
        let set = try KeySet(keyFile: Array(file.utf8), algorithm: algorithm)
        #expect(set.keys.map(\.algorithm) == [algorithm])
        #expect(set.keys.map(\.id) == [nil])
        for other in SignatureAlgorithm.allCases where other.rawValue.prefix(2) != algorithm.rawValue.prefix(2) {
            // RS256 and PS256 have the same keys.
            if algorithm == .rs256 && other == .ps256 || algorithm == .ps256 && other == .rs256 { continue }
            let line = try #require(Self.fault(file: file, other), "\(algorithm) as \(other)")
            #expect(line.hasPrefix("The key of the file is "), "\(line)")
        }
    }

    @Test func `a file of a key names its fix`() {
        #expect(
            Self.fault(file: TestKeys.rsaPublicPEM)
                == "The key of the file is a PEM document without an algorithm. Name it with --jwt-alg, one of "
                + "HS256, RS256, PS256, ES256, ES384, EdDSA."
        )
        #expect(
            Self.fault(file: TestKeys.rsaPublicPEM, .hs256)
                == "The key of the file is a PEM document given as a secret. Name the algorithm with --jwt-alg."
        )
        #expect(
            Self.fault(file: TestKeys.rsaPrivatePEM, .rs256)
                == "The key of the file is a private key. Give the public one: openssl pkey -in FILE -pubout"
        )
        let other =
            "The key of the file is not one PEM document \"PUBLIC KEY\". Make one: openssl pkey -pubin -in FILE -pubout"
        #expect(Self.fault(file: TestKeys.certificatePEM, .es256) == other)
        #expect(Self.fault(file: TestKeys.p256PublicPEM + "\n" + TestKeys.p256PublicPEM, .es256) == other)
        #expect(Self.fault(file: "x\n" + TestKeys.p256PublicPEM, .es256) == other)
        #expect(
            Self.fault(file: TestKeys.shortRSAPublicPEM, .rs256)
                == "The key of the file is an RSA key of 1024 bits. Use at least 2048."
        )
        #expect(
            Self.fault(file: String(repeating: "s", count: 31) + "\n")
                == "The key of the file is a secret of 31 bytes. Use at least 32: openssl rand -out FILE 48"
        )
        #expect(Self.fault(file: String(repeating: "s", count: 32), .es256) == other)
    }

    @Test func `a secret of a file is its bytes without one newline`() throws {
        let text = String(repeating: "s", count: 32)
        for (file, isSame) in [(text, true), (text + "\n", true), (text + "\n\n", false), (text + " ", false)] {
            let key = try #require(try KeySet(keyFile: Array(file.utf8), algorithm: nil).keys.first)
            let own = try #require(try KeySet(keyFile: Array(text.utf8), algorithm: .hs256).keys.first)
            #expect(key.algorithm == .hs256)
            // The test's own HMAC of the empty text under 32 times "s".
            let signature = try Self.signature(secret: text)
            #expect(own.isValid(signature, of: []))
            #expect(key.isValid(signature, of: []) == isSame)
        }
    }

    private static func signature(secret: String) throws -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: [UInt8](), using: SymmetricKey(data: Array(secret.utf8))))
    }

    @Test func `no text of a key has its secret`() throws {
        let key = try #require(try KeySet(keyFile: Array(repeating: 65, count: 40), algorithm: nil).keys.first)
        var dump = ""
        Swift.dump(key, to: &dump)
        #expect(dump == "- VerificationKey(HS256, no id)\n")
    }
}
