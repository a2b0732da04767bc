// Checks the reading of `Cookie`.

import RivuletHTTP
import Testing

@Suite struct HTTPCookiesTests {
    @Test func `all cookies of a name are found, in their order`() {
        let fields = ["a=1; b=2;a=3", "xa=4; a = 5; a=6 ;a", "a=\"7\"; A=8"]
        #expect(HTTPCookies.values(of: "a", in: fields) == ["1", "3", "6", "\"7\""])
        #expect(HTTPCookies.values(of: "c", in: fields) == [])
        #expect(HTTPCookies.values(of: "a", in: []) == [])
    }

    @Test func `a value may have equals signs and be empty`() {
        #expect(HTTPCookies.values(of: "a", in: ["a=b=c=; a="]) == ["b=c=", ""])
    }

    @Test func `a character that combines with a delimiter hides no cookie`() {
        #expect(HTTPCookies.values(of: "a", in: ["b=1;\u{301}c=2; a=3"]) == ["3"])
        #expect(HTTPCookies.values(of: "a", in: ["a=\u{301}1;\u{301}a=2"]) == ["\u{301}1"])
    }
}
