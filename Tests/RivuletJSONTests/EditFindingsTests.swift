// Checks the record of edits that search for paths.

import RivuletJSON
import Testing

@Suite struct EditFindingsTests {
    private let document = #"{"p":{"title":"T","none":null,"items":[{"id":1},{"id":2,"n":0}],"empty":[]}}"#

    private func findings(_ body: (inout JSONValue) throws -> Void) throws -> EditFindings {
        var value = try JSONValue(parsing: document)
        return try EditFindings.noting { try body(&value) }
    }

    @Test func `each edit records its path as found or missing`() throws {
        let findings = try findings { document in
            try document.move("/p/title", to: "/p/name")
            try document.move("/title", to: "/name")
            try document.remove("/p/none")
            try document.remove("/q")
            try document.update("/p/empty") { _ in }
            try document.update("/r") { _ in }
            try document.updateEach("/p/items") { _ in }
            try document.updateEach("/s") { _ in }
        }
        #expect(findings.found == ["/p/title", "/p/none", "/p/empty", "/p/items"])
        #expect(findings.missing == ["/title", "/q", "/r", "/s"])
    }

    @Test func `reads, writes and edits that are not required record no missing path`() throws {
        let findings = try findings { document in
            _ = try document.value(at: "/x")
            try document.set("/y", to: .null)
            try document.move("/a", to: "/b", required: false)
            try document.remove("/c", required: false)
            try document.update("/d", required: false) { _ in }
            try document.updateEach("/e", required: false) { _ in }
        }
        #expect(findings == EditFindings())
    }

    @Test func `edits in a closure are recorded below its path, and edits of elements once for all elements`() throws {
        let findings = try findings { document in
            try document.update("/p") { part in
                try part.updateEach("/items") { item in
                    try item.move("/n", to: "/count")
                    try item.remove("/m")
                }
                try part.updateEach("/empty") { try $0.remove("/never") }
            }
            try document.remove("/after")
        }
        #expect(findings.found == ["/p", "/p/items", "/p/items/*/n", "/p/empty"])
        #expect(findings.missing == ["/p/items/*/m", "/after"], "a path that no element reached is not missing")
    }

    @Test func `edits of a dictionary's values are recorded once for all keys`() throws {
        let scores: JSONValue = [
            "scores": ["anna": ["count": 1], "ben": ["count": 2], "a/b": ["total": 3]], "none": [:],
        ]
        var document = scores
        let findings = try EditFindings.noting {
            try document.updateEach("/scores") { try $0.move("/count", to: "/total") }
            try document.updateEach("/scores") { try $0.remove("/lost") }
            try document.updateEach("/none") { try $0.remove("/never") }
        }
        #expect(document == ["scores": ["anna": ["total": 1], "ben": ["total": 2], "a/b": ["total": 3]], "none": [:]])
        #expect(findings.found == ["/scores", "/scores/*/count", "/none"])
        #expect(findings.missing == ["/scores/*/lost"])
    }

    @Test func `a path of elements is found at an empty array or null, and missing at other values`() throws {
        let findings = try findings { document in
            try document.updateEach("/p/none") { _ in }
            try document.updateEach("/p/empty") { _ in }
            try document.updateEach("/p/title") { _ in }
        }
        #expect(findings.found == ["/p/none", "/p/empty"])
        #expect(findings.missing == ["/p/title"])
    }

    @Test func `a path that an edit found is not missing, even if another edit did not find it`() throws {
        let findings = try findings { document in
            try document.remove("/p/title")
            try document.remove("/p/title")
        }
        #expect(findings.found == ["/p/title"])
        #expect(findings.missing.isEmpty)
    }

    @Test func `a closure that fails does not change the paths of later edits`() throws {
        struct Failure: Error {}
        let findings = try findings { document in
            #expect(throws: Failure.self) { try document.update("/p") { _ in throw Failure() } }
            try document.remove("/q")
        }
        #expect(findings.missing == ["/q"])
    }
}
