// Owns the tests of entity tags and their conditions.

import RivuletHTTP
import Testing

@Suite struct HTTPEntityTagTests {
    @Test(arguments: [
        ("\"a\"", "\"a\"", true), ("\"b\", \"a\"", "\"a\"", true), ("W/\"a\"", "\"a\"", true),
        ("\"a\"", "W/\"a\"", true),
        ("*", "\"a\"", true), ("\"b\"", "\"a\"", false), ("", "\"a\"", false), ("a", "\"a\"", false),
        ("\"a,b\"", "\"a,b\"", true), ("\"a\" \"b\"", "\"a\"", false), ("\"a", "\"a\"", false),
        ("w/\"a\"", "\"a\"", false),
        (" ,\"a\",, ", "\"a\"", true), ("\"\"", "\"\"", true), ("*, \"b\"", "\"a\"", false),
    ])
    func `If-None-Match compares weakly`(field: String, tag: String, matches: Bool) {
        #expect(HTTPEntityTag.matchesWeakly(field, tag: tag) == matches)
    }

    @Test(arguments: [
        ("\"a\"", "\"a\"", true), ("W/\"a\"", "\"a\"", false), ("W/\"a\"", "W/\"a\"", false), ("*", "\"a\"", true),
        ("\"b\",\"a\"", "\"a\"", true), ("\"b\"", "\"a\"", false),
    ])
    func `If-Match compares strongly`(field: String, tag: String, matches: Bool) {
        #expect(HTTPEntityTag.matchesStrongly(field, tag: tag) == matches)
    }

    @Test func `a list returns its tags in order, or nothing if it is malformed`() {
        #expect(HTTPEntityTag.list("\"a\", W/\"b,c\"") == ["\"a\"", "W/\"b,c\""])
        #expect(HTTPEntityTag.list("") == [])
        #expect(HTTPEntityTag.list("\"a\" x") == nil)
        #expect(HTTPEntityTag.list("\"a b\"") == nil)
    }
}
