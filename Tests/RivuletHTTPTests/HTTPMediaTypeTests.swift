// Owns the tests of content types.

import RivuletHTTP
import Testing

@Suite struct HTTPMediaTypeTests {
    @Test(arguments: [
        ("application/json", "application/json", true), ("Application/JSON; charset=UTF-8", "application/json", true),
        ("application/json;charset=\"utf-8\"", "application/json", true),
        ("text/plain;charset=latin1", "text/plain", false),
        (" application/x-ndjson ; x=y", "application/x-ndjson", true),
    ])
    func `a content type has an essence and a charset`(field: String, essence: String, isUTF8: Bool) throws {
        let type = try #require(HTTPMediaType(field))
        #expect(type.essence == essence)
        #expect(type.isUTF8 == isUTF8)
    }

    @Test(arguments: ["", "json", "a/", "/b", "a/b/c", "a b/c", ";charset=utf-8"])
    func `other text is no media type`(field: String) {
        #expect(HTTPMediaType(field) == nil)
    }
}
