import RivuletAccess
import RivuletJSON
import Testing

@Suite struct CallerTests {
    @Test func `a caller is anonymous, the app, or has a subject`() {
        #expect(Caller.anonymous.isAnonymous && !Caller.anonymous.isApp && Caller.anonymous.subject == nil)
        #expect(Caller.app.isApp && !Caller.app.isAnonymous && !Caller.app.isOperator)
        let caller = Caller(subject: "alice", me: "m", roles: ["caf\u{E9}"])
        #expect(!caller.isAnonymous && !caller.isApp && !caller.isOperator)
        #expect(caller.has(role: "caf\u{E9}") && !caller.has(role: "cafe\u{301}") && !caller.has(role: "cafe"))
        #expect(caller.with(isOperator: true).isOperator)
        #expect(Caller.anonymous(me: "m").isAnonymous)
    }

    @Test func `callers are equal by their bytes`() {
        #expect(Caller(subject: "caf\u{E9}") != Caller(subject: "cafe\u{301}"))
        #expect(Caller(subject: "a", issuer: "b") != Caller(subject: "a"))
        #expect(Caller(subject: "a", roles: ["x"]) != Caller(subject: "a"))
        #expect(Caller(subject: "a") != .anonymous && Caller.app != .anonymous)
        #expect(Set([Caller(subject: "a"), Caller(subject: "a")]).count == 1)
    }

    @Test func `a description has no name and no claim`() {
        let claims = JSONValue.object([.init(name: "email", value: "a@example.com")])
        let caller = Caller(subject: "alice", issuer: "https://i", me: "abc", roles: ["r"], claims: claims)
        #expect(caller.description == "caller abc")
        #expect("\(Caller.app), \(Caller.anonymous)" == "app, anonymous")
    }
}
