// Checks that each type of problem has a page, and each refusal a type.

import RivuletHTTP
import RivuletJSON
import Testing

@testable import RivuletServer

@Suite struct ProblemPagesTests {
    @Test(arguments: ProblemType.allCases)
    func `the page of a type has its status, its words and an example`(_ type: ProblemType) {
        let page = ProblemPages.page(of: type)
        let text = String(decoding: page.bytes, as: UTF8.self)
        #expect(page.contentType == "text/html; charset=utf-8")
        #expect(text.contains("Status \(type.status) "))
        #expect(text.contains("<code>\(type.address)</code>"))
        for part in ["<h2>Cause</h2>", "<h2>Remedy</h2>", "&quot;status&quot;: \(type.status),"] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func `the list leads to the page of each type`() {
        let text = String(decoding: ProblemPages.list.bytes, as: UTF8.self)
        for type in ProblemType.allCases {
            #expect(text.contains("<td>\(type.status)<td><a href=\"/problems/\(type.rawValue)\">"))
        }
    }

    @Test func `markup in the words of a page is text`() {
        let text = String(decoding: ProblemPages.page(of: .invalidSessionID).bytes, as: UTF8.self)
        #expect(text.contains("digits, &quot;_&quot; or &quot;-&quot;"))
        #expect(!text.contains("`"))
    }

    @Test func `a type's name has lower-case letters and hyphens, and each title belongs to one type`() {
        for type in ProblemType.allCases {
            #expect(type.rawValue.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(type.rawValue)")
        }
        #expect(Set(ProblemType.allCases.map(\.title)).count == ProblemType.allCases.count)
    }

    @Test func `the type of a problem is the path of its page, except for the registered type of 429`() throws {
        for type in ProblemType.allCases {
            let document = try JSONValue(parsing: Problem(type, "x").json)
            #expect(document["type"]?.stringValue == (type.status == 429 ? registered : "/problems/\(type.rawValue)"))
            #expect(document["title"]?.stringValue == type.title)
            #expect(document["status"]?.integerValue == type.status)
            #expect(type.example["type"] == document["type"] && type.example["title"] == document["title"])
            #expect(type.example["status"] == document["status"])
            #expect(type.example["detail"]?.stringValue?.isEmpty == false, "\(type)")
        }
    }

    @Test func `an example has the members that answers of its type have`() {
        let common: Set = ["type", "title", "status", "detail"]
        let members = ProblemType.allCases.reduce(into: [String: [String]]()) { members, type in
            let names = (type.example.members ?? []).map(\.name).filter { !common.contains($0) }
            if !names.isEmpty { members[names.joined(separator: " "), default: []].append(type.rawValue) }
        }
        #expect(
            members == [
                "errors": ["malformed-body", "invalid-body", "event-rejected", "coercion-refused"],
                "errors needs": ["not-granted"],
                "cursor value": ["precondition-failed"],
                "oldest": ["version-gone"],
                "violated-policies": ["quota-exceeded"],
                "quota": ["quota"],
                "trace_id": [
                    "app-failed", "session-unreadable", "stored-value-unreadable", "kept-answer-unreadable",
                    "storage-indeterminate", "storage-damaged", "storage-incompatible", "server-fault",
                    "storage-unavailable", "secrets-unavailable", "not-ready", "disk-full",
                ],
            ]
        )
    }

    @Test(
        arguments: [
            (.headTooLarge, "16384"), (.targetTooLong, "8192"), (.bodyTooLarge, "1048576"), (.requestTimeout, "10.0"),
            (.answersTooLarge, "8388608"), (.streamTooLarge, "67108864"), (.stateFull, "16777216"),
            (.storeFull, "268435456"),
        ] as [(ProblemType, String)]
    )
    func `an example has the default value of its limit`(_ type: ProblemType, _ limit: String) {
        #expect(type.example["detail"]?.stringValue?.contains(" \(limit) ") == true)
    }

    private let registered = "https://iana.org/assignments/http-problem-types#quota-exceeded"

    @Test func `each status has its own label in the metrics`() {
        let other = ProblemStatus(HTTPStatus(599))
        for type in ProblemType.allCases {
            #expect(ProblemStatus(HTTPStatus(UInt16(type.status))).index != other.index, "\(type.status)")
        }
    }

    @Test(
        arguments: [
            .badRequest, .requestTimeout, .contentTooLarge, .uriTooLong, .expectationFailed,
            .requestHeaderFieldsTooLarge,
            .notImplemented, .httpVersionNotSupported,
        ] as [HTTPError.Kind]
    )
    func `a request that could not be read has a type of its status`(_ kind: HTTPError.Kind) {
        #expect(ProblemType(kind).status == Int(HTTPError(kind, "x").status.code))
    }

    @Test func `the pages are below the path problems, and any other path there is a file`() throws {
        #expect(try Route(segments: ["problems"]) == .problems)
        #expect(try Route(segments: ["problems", ""]) == .problems)
        #expect(try Route(segments: ["problems", "key-reused"]) == .problem(.keyReused))
        #expect(try Route(segments: ["problems", "keyReused"]) == .file("problems/keyReused"))
        #expect(try Route(segments: ["problems", "key-reused", ""]) == .file("problems/key-reused/index.html"))
    }
}
