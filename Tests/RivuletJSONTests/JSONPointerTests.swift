// This file owns the tests of JSON Pointers.

import RivuletJSON
import Testing

struct JSONPointerTests {
    @Test(arguments: [
        ("", []), ("/", [""]), ("/a", ["a"]), ("/a/", ["a", ""]), ("//", ["", ""]), ("/a~1b/m~0n", ["a/b", "m~n"]),
        ("/~01", ["~1"]), ("/ /k\"l/é", [" ", "k\"l", "é"]), ("/\u{301}/\u{301}x", ["\u{301}", "\u{301}x"]),
        ("/p/todos/0", ["p", "todos", "0"]),
    ])
    func `text and tokens are two forms of one pointer`(text: String, tokens: [String]) throws {
        let pointer = try JSONPointer(parsing: text)
        #expect(pointer.tokens == tokens)
        #expect(pointer.description == text)
        #expect(JSONPointer(tokens: tokens) == pointer)
    }

    @Test(arguments: [("a", 0), ("p/q", 0), ("#/a", 0), ("/~", 1), ("/a~", 2), ("/~2", 1), ("/a/b~~0", 4), ("/~/x", 1)])
    func `text that is no pointer is malformed`(text: String, offset: Int) {
        let error = #expect(throws: JSONError.self) { _ = try JSONPointer(parsing: text) }
        #expect(error?.kind == .malformed)
        #expect(error?.offset == offset)
    }

    @Test(arguments: [
        ("", "", true), ("", "/a", true), ("/a", "/a", true), ("/a", "/a/b", true), ("/a", "/ab", false),
        ("/a/b", "/a", false),
    ])
    func `a pointer covers itself and what is below it`(outer: String, inner: String, covers: Bool) throws {
        let outer = try JSONPointer(parsing: outer)
        let inner = try JSONPointer(parsing: inner)
        #expect(outer.covers(inner) == covers)
        #expect(outer.isPrefix(of: inner) == covers)
    }

    @Test(arguments: [
        ("0", 0), ("7", 7), ("10", 10), ("999999999999999999", 999_999_999_999_999_999), ("", nil), ("00", nil),
        ("01", nil), ("-1", nil),
        ("+1", nil), ("1.0", nil), ("-", nil), ("1000000000000000000", nil), ("x", nil), ("1 ", nil), ("١", nil),
    ])
    func `an index is digits without a leading zero`(token: String, index: Int?) {
        #expect(JSONPointer.index(token) == index)
    }

    @Test func `tokens are escaped only where they must be`() {
        #expect(JSONPointer.escape("plain") == "plain")
        #expect(JSONPointer.escape("~/~1") == "~0~1~01")
    }
}
