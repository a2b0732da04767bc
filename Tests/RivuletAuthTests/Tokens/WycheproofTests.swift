import Foundation
import RivuletAuth
import RivuletJSON
import Testing

/// The vectors of Wycheproof for signatures and key sets of JOSE.
///
/// `Tests/Corpora/README.md` names their origin.
@Suite struct WycheproofTests {
    /// Valid vectors that are refused here, each with its reason.
    private static let refusedThoughValid: [String: [ClosedRange<Int>: String]] = [
        "json_web_signature_test": [
            264...271: "RS384 and RS512 are no algorithms here",
            320...323: "PS384 is no algorithm here",
            325...328: "PS512 is no algorithm here",
            346...346: "the key is one of PS256, and the token of PS384",
            347...347: "the key names ES521, which is no algorithm",
            350...350: "the key is one of PS256, and the token of PS384",
            351...351: "the key names ES521, which is no algorithm",
            372...373: "a question mark is no base64url",
        ],
        "json_web_key_test": [14...15: "HS384 and HS512 are no algorithms here"],
    ]
    /// Invalid vectors that are accepted here: both are byte for byte the valid vector 357.
    private static let acceptedThoughInvalid: [String: Set<Int>] = ["json_web_signature_test": [367, 370]]

    private static func document(_ name: String) throws -> JSONValue {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = folder.appending(path: "Corpora/wycheproof/\(name).json")
        return try JSONValue(parsing: Array(Data(contentsOf: file)))
    }

    private static func verify(_ token: String, with key: JSONValue) throws {
        let set = key["keys"] == nil ? JSONValue.object([.init(name: "keys", value: .array([key]))]) : key
        let keys = try KeySet(jwks: Array(set.description.utf8))
        let token = try CompactToken(parsing: Array(token.utf8)[...])
        try token.verify(with: keys.key(id: token.keyID))
    }

    @Test(arguments: [("json_web_signature_test", 401), ("json_web_key_test", 26)])
    func `every vector has its verdict, or a listed reason for the other one`(_ name: String, _ count: Int) throws {
        var seen = 0
        for group in try #require(Self.document(name)["testGroups"]?.elements) {
            let key = try #require(group["public"] ?? group["private"])
            for test in try #require(group["tests"]?.elements) {
                let (id, token) = (try #require(test["tcId"]?.integerValue), try #require(test["jws"]?.stringValue))
                seen += 1
                var isAccepted = true
                do { try Self.verify(token, with: key) } catch { isAccepted = false }
                let reason = Self.refusedThoughValid[name]?.first { $0.key.contains(id) }?.value
                var expected = test["result"]?.stringValue == "valid"
                if reason != nil {
                    #expect(expected, "\(name) \(id) is listed and not valid")
                    expected = false
                }
                if Self.acceptedThoughInvalid[name]?.contains(id) == true {
                    #expect(!expected, "\(name) \(id) is listed and valid")
                    expected = true
                }
                #expect(isAccepted == expected, "\(name) \(id): \(test["comment"]?.stringValue ?? "")")
            }
        }
        #expect(seen == count)
    }
}
