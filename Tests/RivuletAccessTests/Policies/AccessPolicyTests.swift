import RivuletAccess
import Testing

@Suite struct AccessPolicyTests {
    private static func policy(_ text: String) throws -> AccessPolicy { try AccessPolicy(parsing: Array(text.utf8)) }

    private static func fault(_ text: String) -> String? {
        do throws(AccessPolicyError) {
            _ = try AccessPolicy(parsing: Array(text.utf8))
            return nil
        } catch {
            return error.description
        }
    }

    private static func grant(_ app: String) -> String { #"{"actions":["read"],"app":"\#(app)","sessions":["*"]}"# }

    @Test func `callers have the grants of their roles and of all callers`() throws {
        let policy = try Self.policy(
            #"{"roles":{"admin":[\#(Self.grant("a")),{"actions":["operate"]}],"caf\u00e9":[\#(Self.grant("c"))]},"#
                + #""authenticated":[\#(Self.grant("t"))],"anonymous":[\#(Self.grant("n"))]}"#
        )
        func apps(_ roles: Set<String>, isAnonymous: Bool = false) -> [String?] {
            policy.grants(roles: roles, isAnonymous: isAnonymous).map(\.app)
        }
        #expect(apps([]) == ["n", "t"])
        #expect(apps(["admin"]) == ["n", "t", "a", nil])
        #expect(apps(["caf\u{E9}"]) == ["n", "t", "c"])
        #expect(apps(["cafe\u{301}", "Admin", ""]) == ["n", "t"])
        #expect(apps(["admin"], isAnonymous: true) == ["n"])
        #expect(policy.roleCount == 2)
        #expect(try Self.policy("{}").grants(roles: ["admin"], isAnonymous: false).isEmpty)
        #expect(AccessPolicy().grants(roles: ["admin"], isAnonymous: false).isEmpty)
    }

    @Test(arguments: [
        ("[]", "The policy is not an object. Use {\"roles\": {…}, \"authenticated\": […]}."),
        (
            #"{"role":{}}"#,
            "The policy has the unknown member \"role\". Use \"roles\", \"authenticated\" or \"anonymous\"."
        ),
        (#"{"roles":[]}"#, "The policy needs an object of at most 256 roles as \"roles\"."),
        (#"{"roles":{"a":{}}}"#, "The policy needs an array of at most 64 grants as the role \"a\"."),
        (#"{"authenticated":null}"#, "The policy needs an array of at most 64 grants as \"authenticated\"."),
        (
            #"{"roles":{"":[]}}"#,
            "The policy's role \"\" needs a name of 1 to 255 bytes without control characters."
        ),
        (
            #"{"roles":{"a\u202e\n":[]}}"#,
            "The policy's role \"a\\u202e\\n\" needs a name of 1 to 255 bytes without control characters."
        ),
        (
            #"{"anonymous":[{"actions":["read"],"app":"a","sessions":["*"]},{"actions":["read"]}]}"#,
            "The policy's grant at index 1 of \"anonymous\" needs the name of an app, or *, as \"app\"."
        ),
        (
            #"{"roles":{"x":[{"actions":["read"],"app":"a"}]}}"#,
            "The policy's grant at index 0 of the role \"x\" grants nothing: \"read\" needs \"sessions\", \"stores\" or "
                + "\"values\"."
        ),
        (
            #"{"anonymous":[{"actions":["read"],"app":"a","sessions":["s"],"paths":["/p/${sub}"]}]}"#,
            "The policy's grant at index 0 of \"anonymous\" has ${sub} or ${claim.NAME}, which an anonymous caller does "
                + "not have. Use ${me}, or move it to \"authenticated\"."
        ),
        (
            #"{"authenticated":[{"actions":["read"],"type":"rivulet","app":"a","sessions":["s"]}]}"#,
            "The policy's grant at index 0 of \"authenticated\" has the unknown member \"type\". Remove it."
        ),
    ])
    func `a policy at fault names the place`(_ text: String, _ line: String) {
        #expect(Self.fault(text) == line)
    }

    @Test(arguments: ["", "{", "{\"a\nb\u{2028}\":1,}", "{\"roles\":{},\"roles\":{}}", "{\"\u{202E}\u{85}x\":1 2}"])
    func `a policy that is not JSON is one line`(_ text: String) throws {
        let line = try #require(Self.fault(text))
        #expect(line.hasPrefix("The policy is not JSON: ") && line.hasSuffix(". Correct the place."))
        #expect(!line.unicodeScalars.contains { "\n\u{2028}\u{202E}\u{85}".unicodeScalars.contains($0) })
    }

    @Test func `a policy has limits`() {
        let grants = Array(repeating: Self.grant("a"), count: 65).joined(separator: ",")
        #expect(Self.fault("{\"anonymous\":[\(grants)]}") != nil)
        let roles = (0..<257).map { "\"r\($0)\":[]" }.joined(separator: ",")
        #expect(Self.fault("{\"roles\":{\(roles)}}") != nil)
        let long = "{" + String(repeating: " ", count: AccessPolicy.documentBytesMax) + "}"
        #expect(Self.fault(long) == "The policy has 262146 bytes. Use at most 262144.")
        #expect(Self.fault("{\"roles\":{\"\(String(repeating: "a", count: 256))\":[]}}") != nil)
    }
}
