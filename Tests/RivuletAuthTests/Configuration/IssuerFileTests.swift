import RivuletAuth
import Testing

@Suite struct IssuerFileTests {
    private static func read(_ issuers: String) throws -> IssuerFile {
        try IssuerFile(parsing: Array("{\"issuers\":[\(issuers)]}".utf8), audiences: ["public"])
    }

    private static func fault(document: String) -> String? {
        do throws(AuthConfigurationError) {
            _ = try IssuerFile(parsing: Array(document.utf8), audiences: [])
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a file describes issuers, and names files without reading them`() throws {
        let file = try Self.read(
            #"{"issuer":"https://i","jwks":"https://i/keys","audiences":["a","b"],"types":["JWT","at+jwt"],"#
                + #""rolesClaim":"realm_access.roles","algorithm":"PS256"},"#
                + #"{"issuer":"j","keyFile":"/k.pem","algorithm":"ES256","lifetime":600},{"keyFile":"secret"}"#
        )
        #expect(file.issuers.map(\.name) == ["https://i", "j", nil])
        #expect(file.issuers.map(\.audiences) == [["a", "b"], ["public"], ["public"]])
        #expect(file.issuers.map(\.types) == [[.jwt, .accessToken], [.accessToken], [.accessToken]])
        #expect(file.issuers.map(\.rolesClaim?.description) == ["realm_access.roles", nil, nil])
        #expect(file.issuers.map(\.lifetimeSecondsMax) == [86_400, 600, 86_400])
        #expect(file.issuers[0].source == .keySet("https://i/keys", .ps256))
        #expect(file.issuers[1].source == .keyFile(path: "/k.pem", .es256))
        #expect(file.issuers[2].source == .keyFile(path: "secret", nil))
        let issuer = try file.issuers[2].issuer(keys: KeySet(keyFile: TestKeys.secret, algorithm: nil))
        #expect(issuer.audiences == ["public"] && issuer.name == nil && issuer.lifetimeSecondsMax == 86_400)
    }

    private static let faults: [(String, String)] = [
        ("1", "The issuer at index 0 of the file of issuers is not an object."),
        (#"{"issuer":"i"}"#, #"The issuer "i" of the file of issuers needs one of "keyFile" and "jwks"."#),
        (
            #"{"issuer":"i","keyFile":"a","jwks":"b"}"#,
            #"The issuer "i" of the file of issuers needs one of "keyFile" and "jwks"."#
        ),
        (#"{"issuer":1}"#, #"The issuer at index 0 of the file of issuers needs a text as "issuer"."#),
        (#"{"issuer":""}"#, #"The issuer "" of the file of issuers needs a text as "issuer"."#),
        (
            #"{"issuer":"i","key":"a"}"#,
            #"The issuer "i" of the file of issuers has the unknown member "key". Remove it."#
        ),
        (
            #"{"issuer":"i","jwks":"http://i/keys"}"#,
            #"The issuer "i" of the file of issuers has a "jwks" without TLS. Use https."#
        ),
        (
            #"{"issuer":"i","jwks":"a","types":["jwt"]}"#,
            #"The issuer "i" of the file of issuers has the unknown type "jwt". Use at+jwt or JWT."#
        ),
        (
            #"{"issuer":"i","jwks":"a","audiences":[]}"#,
            #"The issuer "i" of the file of issuers needs an array of texts as "audiences"."#
        ),
        (
            #"{"issuer":"i","keyFile":"a","algorithm":"none"}"#,
            "The issuer \"i\" of the file of issuers has the unknown algorithm \"none\". Use one of HS256, RS256, PS256, "
                + "ES256, ES384, EdDSA."
        ),
        (
            #"{"issuer":"i","jwks":"a","algorithm":"ES256"}"#,
            "The issuer \"i\" of the file of issuers has \"algorithm\" beside \"jwks\": each key names its own. "
                + "Use RS256, PS256 or none."
        ),
        (
            #"{"issuer":"i","jwks":"a","lifetime":0}"#,
            #"The issuer "i" of the file of issuers needs 1 to 31536000 seconds as "lifetime"."#
        ),
    ]

    @Test(arguments: faults)
    func `an issuer at fault is named with its member`(_ text: String, _ line: String) {
        #expect(Self.fault(document: "{\"issuers\":[\(text)]}") == line)
    }

    @Test func `a document at fault is one line`() {
        let form = "The file of issuers needs an object with 1 to 64 objects as \"issuers\" alone."
        let many = Array(repeating: #"{"keyFile":"a"}"#, count: 65).joined(separator: ",")
        let documents = [
            "[]", "{}", #"{"issuers":[]}"#, #"{"issuers":[{"keyFile":"a"}],"x":1}"#, "{\"issuers\":[\(many)]}",
        ]
        for text in documents {
            #expect(Self.fault(document: text) == form, "\(text.prefix(60))")
        }
        let line = Self.fault(document: "{\"a\n\u{2028}\":1,}")
        #expect(line?.hasPrefix("The file of issuers is not JSON: ") == true)
        #expect(line?.contains(where: \.isNewline) == false)
        let long = String(repeating: " ", count: IssuerFile.documentBytesMax + 1)
        #expect(Self.fault(document: long) == "The file of issuers has 65537 bytes. Use at most 65536.")
    }
}
