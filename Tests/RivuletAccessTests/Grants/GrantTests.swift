import RivuletAccess
import RivuletJSON
import Testing

@Suite struct GrantTests {
    private static func grant(_ text: String) throws -> Grant { try Grant(JSONValue(parsing: text)) }

    private static func fault(_ text: String) throws -> String? {
        let value = try JSONValue(parsing: text)
        do throws(GrantError) { _ = try Grant(value) } catch { return error.description }
        return nil
    }

    @Test func `a grant has its members, and a missing one means all or none`() throws {
        let grant = try Self.grant(
            #"{"actions":["read","dispatch"],"app":"todos","sessions":["${me}","${me}-*","home"],"#
                + #""paths":["/p/todos/*","/p/hands/${sub}"],"events":["add","toggle"],"views":["summary"]}"#
        )
        #expect(grant.actions == [.read, .dispatch])
        #expect(grant.app == "todos")
        #expect(grant.sessions.map(\.description) == ["${me}", "${me}-*", "home"])
        #expect(grant.paths?.map(\.description) == ["/p/todos/*", "/p/hands/${sub}"])
        #expect(grant.events == ["add", "toggle"])
        #expect(grant.views == ["summary"])
        let shared = try Self.grant(
            #"{"actions":["read","write"],"app":"notes","stores":["notes"],"values":["theme"],"items":["${me}-*"]}"#
        )
        #expect(shared.stores == ["notes"])
        #expect(shared.values == ["theme"])
        #expect(shared.items?.map(\.description) == ["${me}-*"])
        #expect(shared.sessions.isEmpty)
        #expect(shared.paths == nil)
        #expect(shared.events == nil)
    }

    @Test func `a star is every action but operate`() throws {
        let grant = try Self.grant(#"{"actions":["*"],"app":"*","sessions":["*"],"stores":["*"]}"#)
        #expect(grant.actions == Set(Grant.Action.allCases).subtracting([.operate]))
        #expect(try Self.grant(#"{"actions":["operate"]}"#).app == nil)
    }

    @Test(arguments: [
        ("[]", "is not an object."),
        ("{}", "needs an array of 1 to 64 strings as \"actions\"."),
        (#"{"actions":[]}"#, "needs an array of 1 to 64 strings of 1 to 128 bytes as \"actions\"."),
        (#"{"actions":["read",1]}"#, "needs an array of 1 to 64 strings of 1 to 128 bytes as \"actions\"."),
        (#"{"actions":["read"],"type":"rivulet"}"#, "has the unknown member \"type\". Remove it."),
        (#"{"actions":["read"],"session":["a"]}"#, "has the unknown member \"session\". Remove it."),
        (#"{"actions":["read"],"sessions":["a"]}"#, "needs the name of an app, or *, as \"app\"."),
        (#"{"actions":["operate","read"],"sessions":["a"]}"#, "needs the name of an app, or *, as \"app\"."),
        (#"{"actions":["read"],"app":1,"sessions":["a"]}"#, "needs the name of an app, or *, as \"app\"."),
        (
            #"{"actions":["read"],"app":"a"}"#,
            "grants nothing: \"read\" needs \"sessions\", \"stores\" or \"values\"."
        ),
        (#"{"actions":["dispatch"],"app":"a","stores":["s"]}"#, "grants nothing: \"dispatch\" needs \"sessions\"."),
        (
            #"{"actions":["write"],"app":"a","sessions":["s"]}"#,
            "grants nothing: \"write\" needs \"stores\" or \"values\"."
        ),
        (
            #"{"actions":["read"],"app":"a","sessions":["s"],"items":["i"]}"#,
            "grants nothing: \"items\" needs \"stores\"."
        ),
        (
            #"{"actions":["read"],"app":"a","stores":["s"],"views":["v"]}"#,
            "grants nothing: \"views\" and \"paths\" need \"sessions\"."
        ),
        (
            #"{"actions":["read"],"app":"a","sessions":["s"],"events":["e"]}"#,
            "grants nothing: \"events\" needs \"dispatch\"."
        ),
        (
            #"{"actions":["read"],"app":"a","sessions":["s"],"paths":["p"]}"#,
            "needs key paths that begin with / as \"paths\"."
        ),
        (
            #"{"actions":["read"],"app":"a","sessions":["s"],"paths":["/a~2"]}"#,
            "needs JSON Pointers, with ~0 for ~ and ~1 for / in a token, as \"paths\"."
        ),
        (
            #"{"actions":["read"],"app":"a","sessions":["s"],"paths":["/a/b*"]}"#,
            "has a * out of place in \"/a/b*\". In a path, a * is a whole token."
        ),
        (
            #"{"actions":["read"],"app":"a","sessions":["s"],"views":["sum*"]}"#,
            "needs names without patterns and variables, or * for all, as \"views\"."
        ),
        (
            #"{"actions":["dispatch"],"app":"a","sessions":["s"],"events":["${me}"]}"#,
            "needs names without patterns and variables, or * for all, as \"events\"."
        ),
        (
            #"{"actions":["operate","read"],"app":"a","sessions":["s"]}"#,
            "grants nothing: \"operate\" is for all apps: give it a grant of its own, without \"app\"."
        ),
        (
            #"{"actions":["dispatch"],"app":"a","sessions":["s"],"paths":["/p"]}"#,
            "grants nothing: \"paths\" needs \"read\" or \"history\"."
        ),
        (
            #"{"actions":["history"],"app":"a","sessions":["s"],"views":["v"]}"#,
            "grants nothing: \"views\" needs \"read\"."
        ),
        (
            #"{"actions":["dispatch"],"app":"a","sessions":["s"],"stores":["v"]}"#,
            "grants nothing: \"stores\" and \"values\" need \"read\" or \"write\"."
        ),
        (
            #"{"actions":["read"],"app":"a","sessions":[""]}"#,
            "needs an array of 1 to 64 strings of 1 to 128 bytes as \"sessions\"."
        ),
        (
            #"{"actions":["list"],"app":"a","sessions":["\u0000*"]}"#,
            "needs strings without control characters as \"sessions\"."
        ),
        (
            #"{"actions":["read"],"app":"a","sessions":["s"],"paths":["/a\u007f"]}"#,
            "needs strings without control characters as \"paths\"."
        ),
        (#"{"actions":["list"],"app":"a\n","sessions":["s"]}"#, "needs the name of an app, or *, as \"app\"."),
    ])
    func `a grant at fault names the member`(_ text: String, _ line: String) throws {
        #expect(try Self.fault(text) == line)
    }

    @Test func `joiners and marks of direction are parts of words`() throws {
        let words = ["\u{200C}", "\u{200D}", "\u{AD}", "\u{200F}"].map { #""a\#($0)b""# }.joined(separator: ",")
        #expect(try Self.fault(#"{"actions":["read"],"app":"a","sessions":[\#(words)]}"#) == nil)
    }

    @Test func `an unknown action names the known ones`() throws {
        let line = try #require(try Self.fault(#"{"actions":["Read"],"app":"a","sessions":["s"]}"#))
        #expect(line.hasPrefix("has the unknown action \"Read\". Use one of describe, read, dispatch, "))
    }

    @Test(arguments: [
        ("${sub}", true), ("${claim.team}", true), ("${me}", true), ("${me}-*", true), ("x-${me}-${me}", true),
        ("${sub}-*", false), ("x${sub}", false), ("${claim.team}-1", false), ("${claim.}", false), ("${other}", false),
        ("${sub}${sub}", false), ("${claim.a}${claim.b}", false), ("${", false), ("${ME}", false),
        ("${claim.${me}}", false), ("${claim.a$}", false), ("${sub", false), ("$me", true), ("{me}", true),
        ("${\u{301}sub}-x", false), ("${claim.a.b}", true),
    ])
    func `variables of the caller's choice stand alone`(_ text: String, _ isAllowed: Bool) throws {
        let session = try Self.fault(#"{"actions":["read"],"app":"a","sessions":["\#(text)"]}"#)
        #expect((session == nil) == isAllowed, "\(session ?? "")")
        let path = try Self.fault(#"{"actions":["read"],"app":"a","sessions":["s"],"paths":["/p/\#(text)/x"]}"#)
        #expect((path == nil) == (isAllowed && !text.contains("*")), "\(path ?? "")")
    }
}
