// Checks targets that stand outside of a request.

import RivuletHTTP
import Testing

@Suite struct HTTPTargetTests {
    @Test func `a target has decoded segments and parameters`() throws {
        let target = try #require(HTTPTarget("/v1/a%20b//?path=/p/%7E1&x&y=1+2&&"))
        #expect(target.pathSegments == ["v1", "a b", "", ""])
        let items = [("path", "/p/~1"), ("x", ""), ("y", "1 2")]
        #expect(target.queryItems == items.map { HTTPQueryItem(name: $0.0, value: $0.1) })
        #expect(HTTPTarget("/")?.pathSegments == [""])
        #expect(HTTPTarget("/ä")?.pathSegments == ["ä"])
    }

    @Test(arguments: [
        "", "a", "*", "http://a/b", "?a", "/a b", "/a\r\nb", "/a\u{7F}", "/a\u{0}", "/a#b", "/%", "/%g1", "/%ff",
        "/a?%zz", "/%00",
    ])
    func `another text is no target`(_ text: String) { #expect(HTTPTarget(text) == nil) }
}
