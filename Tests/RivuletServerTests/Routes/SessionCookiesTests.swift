// Checks the identification of the caller of a request for `me`.

import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct SessionCookiesTests {
    private let callers = SessionCookies(SecretKey(), isSecure: false)

    private func cookie(_ value: String) -> [String] { ["theme=dark; rivulet-session=\(value)"] }

    @Test func `a caller without a cookie is new, and its cookie names it from then on`() throws {
        let new = callers.caller(cookies: [])
        let value = try #require(new.newCookie)
        #expect(
            callers.caller(cookies: cookie(value)) == SessionCookies.Caller(sessionID: new.sessionID, newCookie: nil)
        )
        #expect(callers.caller(cookies: []).sessionID != new.sessionID)
    }

    @Test func `a cookie with any change is invalid`() throws {
        let new = callers.caller(cookies: [])
        let value = Array(try #require(new.newCookie).utf8)
        for index in value.indices {
            var changed = value
            changed[index] = changed[index] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
            let caller = callers.caller(cookies: cookie(String(decoding: changed, as: UTF8.self)))
            #expect(caller.newCookie != nil)
            #expect(caller.sessionID != new.sessionID)
        }
    }

    @Test(arguments: ["", ".", "a", "a.b", "a.b.c", "é.é", "me.\(String(repeating: "0", count: 64))"])
    func `a cookie of another form is invalid`(_ value: String) {
        #expect(callers.caller(cookies: cookie(value)).newCookie != nil)
    }

    @Test func `a cookie of another server is invalid, and the first valid one of several is used`() throws {
        let foreign = try #require(SessionCookies(SecretKey(), isSecure: false).caller(cookies: []).newCookie)
        let own = callers.caller(cookies: [])
        let value = try #require(own.newCookie)
        #expect(callers.caller(cookies: cookie(foreign)).newCookie != nil)
        let both = ["rivulet-session=\(foreign)", "rivulet-session=\(value)"]
        #expect(callers.caller(cookies: both).sessionID == own.sessionID)
    }

    @Test func `a cookie of the older key is valid, and is replaced by one of the current key`() throws {
        let (old, new) = (SecretKey(), SecretKey())
        let first = SessionCookies(old, isSecure: false).caller(cookies: [])
        let rotated = SessionCookies(new, older: old, isSecure: false)
        let again = rotated.caller(cookies: cookie(try #require(first.newCookie)))
        #expect(again.sessionID == first.sessionID)
        let renewed = cookie(try #require(again.newCookie))
        let known = SessionCookies.Caller(sessionID: first.sessionID, newCookie: nil)
        #expect(rotated.caller(cookies: renewed) == known)
        #expect(SessionCookies(new, isSecure: false).caller(cookies: renewed) == known)
    }

    @Test func `a cookie is hidden from scripts, and is for TLS only if the server has it`() {
        let attributes = "Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax"
        let plain = callers.field(cookie: "a.b", isForwardedFromTLS: false)
        #expect(plain == HTTPField("Set-Cookie", "rivulet-session=a.b; \(attributes)"))
        #expect(callers.field(cookie: "a.b", isForwardedFromTLS: true).value == plain.value + "; Secure")
        let secure = SessionCookies(SecretKey(), isSecure: true).field(cookie: "a.b", isForwardedFromTLS: false)
        #expect(secure.value == plain.value + "; Secure")
    }
}
