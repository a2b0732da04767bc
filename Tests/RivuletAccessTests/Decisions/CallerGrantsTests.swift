import RivuletAccess
import RivuletJSON
import Testing

@Suite struct CallerGrantsTests {
    private static let me = "abcdefghijklmnopqrstuvwxyz"
    private static let alice = caller("alice")

    private static func caller(_ subject: String, claims: String = "{}") -> Caller {
        Caller(subject: subject, issuer: "i", me: me, claims: (try? JSONValue(parsing: claims)) ?? .null)
    }

    private static func grants(_ texts: String..., caller: Caller = alice) throws -> CallerGrants {
        CallerGrants(try texts.map { try Grant(JSONValue(parsing: $0)) }, of: caller)
    }

    private static func paths(_ mask: PathMask) -> [String] { mask.paths.map(\.description) }

    @Test func `a session has the union of the grants that name it`() throws {
        let grants = try Self.grants(
            #"{"actions":["read","dispatch"],"app":"todos","sessions":["${me}-*"],"paths":["/p"],"events":["add"]}"#,
            #"{"actions":["history"],"app":"todos","sessions":["*"],"paths":["/q"]}"#,
            #"{"actions":["dispatch"],"app":"*","sessions":["home"]}"#,
            #"{"actions":["read"],"app":"*","sessions":["home"],"views":["v"]}"#,
            #"{"actions":["read","delete"],"app":"other","sessions":["*"]}"#
        )
        let own = grants.access(to: "\(Self.me)-1", of: "todos")
        #expect(own.actions == [.read, .dispatch, .history])
        #expect(own.events == ["add"])
        #expect(Self.paths(own.reads) == ["/p"])
        #expect(Self.paths(own.history) == ["/q"])
        #expect(own.views.isEmpty)
        let home = grants.access(to: "home", of: "todos")
        #expect(home.actions == [.read, .dispatch, .history])
        #expect(home.events == .all)
        #expect(home.reads.isNone)
        #expect(home.views == ["v"])
        #expect(grants.access(to: Self.me, of: "todos").actions == [.history])
        #expect(grants.access(to: "x", of: "more") == .none)
        #expect(grants.access(to: "x", of: "other").reads.isAll)
        #expect(grants.access(to: "x", of: "other").views.isEmpty)
        #expect(grants.access(to: "x", of: "Todos") == .none)
    }

    @Test func `reads and views of grants join, and never imply each other`() throws {
        func access(_ texts: String...) throws -> Access {
            let prefix = #"{"actions":["read"],"app":"a","sessions":["s"]"#
            return CallerGrants(try texts.map { try Grant(JSONValue(parsing: prefix + $0 + "}")) }, of: Self.alice)
                .access(to: "s", of: "a")
        }
        let (paths, views, whole) = (#","paths":["/p"]"#, #","views":["v"]"#, "")
        #expect(try access(paths).views.isEmpty)
        #expect(try access(whole).views.isEmpty)
        #expect(try access(views).reads.isNone)
        #expect(try Self.paths(access(paths, views).reads) == ["/p"])
        #expect(try access(paths, views).views == ["v"])
        #expect(try Self.paths(access(paths + views).reads) == ["/p"])
        #expect(try access(paths, whole).reads.isAll)
        #expect(try access(#","views":["*"]"#, views).views == .all)
        #expect(try access(#","views":["*"]"#).reads.isNone)
        #expect(try access(#","views":["v"],"paths":[""]"#).reads.isAll)
    }

    @Test(arguments: ["*", "a*", "*a", "a/b", "", "${me}", "..", "caf\u{E9}"])
    func `a subject is text, and neither a pattern nor two tokens`(_ subject: String) throws {
        let grants = try Self.grants(
            #"{"actions":["*"],"app":"a","sessions":["${sub}"],"paths":["/p/${sub}/x"],"stores":["s"],"#
                + #""items":["${sub}"]}"#,
            caller: Self.caller(subject)
        )
        for session in ["x", "ab", "a", "aa", "ba", "a/c", Self.me, "cafe\u{301}"] {
            #expect(grants.access(to: session, of: "a") == .none)
            #expect(grants.store("s", of: "a", for: .read)?.contains(session) != true)
        }
        guard !subject.isEmpty else {
            #expect(grants.store("s", of: "a", for: .read) == nil)
            #expect(grants.listPatterns(of: "a") == nil)
            return #expect(grants.access(to: "", of: "a") == .none)
        }
        let own = grants.access(to: subject, of: "a")
        #expect(own.actions == Access.all.actions)
        #expect(own.reads.paths.map(\.tokens) == (subject == "*" ? [] : [["p", subject, "x"]]))
        #expect(grants.store("s", of: "a", for: .read)?.contains(subject) == true)
        #expect(grants.listPatterns(of: "a")?.isAll == false)
        #expect(grants.listPatterns(of: "a")?.prefix == subject)
    }

    @Test(arguments: [
        ("{}", nil), (#"{"team":1}"#, nil), (#"{"team":""}"#, nil), (#"{"team":null}"#, nil),
        (#"{"team":["red"]}"#, nil), (#"{"team":"red"}"#, "red"), (#"{"team":"*"}"#, "*"),
        (#"{"te\u0301am":"red"}"#, nil), (#"{"team":"\u0000"}"#, nil), (#"{"team":"red\n"}"#, nil),
    ])
    func `a claim that is missing or no text matches nothing`(_ claims: String, _ team: String?) throws {
        let grants = try Self.grants(
            #"{"actions":["read","list"],"app":"a","sessions":["${claim.team}"],"paths":["/t/${claim.team}"]}"#,
            #"{"actions":["read"],"app":"a","stores":["s"],"items":["${claim.team}"]}"#,
            #"{"actions":["history"],"app":"a","sessions":["all"],"paths":["/t/${claim.team}","/u"]}"#,
            caller: Self.caller("x", claims: claims)
        )
        for session in ["", "green", "1", "null", "${claim.team}"] {
            #expect(grants.access(to: session, of: "a") == .none)
        }
        #expect((grants.store("s", of: "a", for: .read) != nil) == (team != nil))
        #expect((grants.listPatterns(of: "a") != nil) == (team != nil))
        #expect(grants.allows(.list, app: "a") == (team != nil))
        let history = Self.paths(grants.access(to: "all", of: "a").history)
        #expect(history == (team == "red" ? ["/t/red", "/u"] : ["/u"]))
        if let team {
            #expect(Self.paths(grants.access(to: team, of: "a").reads) == (team == "*" ? [] : ["/t/red"]))
        }
    }

    @Test func `a grant without variables is bound once, and one with a variable is memory of its caller`() throws {
        let prefix = #"{"actions":["read"],"app":"a","#
        #expect(try Self.grants(prefix + #""sessions":["s*"],"paths":["/p/*/t"]}"#).ownBytes == 0)
        func own(_ members: String) throws -> Int { try Self.grants(prefix + members + "}").ownBytes }
        let (one, two) = (try own(#""sessions":["${me}"]"#), try own(#""sessions":["${me}","${me}-long"]"#))
        #expect(one > 0 && two > one)
        #expect(try own(#""sessions":["s"],"paths":["/p/${sub}/t"]"#) > 0)
        #expect(try own(#""stores":["s"],"items":["${claim.x}"]"#) > 0)
    }

    @Test func `a list of paths without a value is no whole state`() throws {
        let text = #"{"actions":["read","history"],"app":"a","sessions":["s"],"paths":["/p/${sub}"]}"#
        let access = try Self.grants(text, caller: .anonymous).access(to: "s", of: "a")
        #expect(access.reads.isNone && access.history.isNone)
    }

    @Test func `an anonymous caller has no variables but the one of a cookie`() throws {
        let text = #"{"actions":["read"],"app":"a","sessions":["${me}","${sub}","${me}-*"]}"#
        let none = try Self.grants(text, caller: .anonymous)
        for session in ["", "-", "-x", "x"] { #expect(none.access(to: session, of: "a") == .none) }
        let cookie = try Self.grants(text, caller: .anonymous(me: Self.me))
        #expect(cookie.access(to: Self.me, of: "a").actions == [.read])
        #expect(cookie.access(to: "\(Self.me)-1", of: "a").actions == [.read])
        #expect(cookie.access(to: "\(Self.me)1", of: "a") == .none)
    }

    @Test func `actions beside sessions are for an app, or for all`() throws {
        let grants = try Self.grants(
            #"{"actions":["describe","secrets"],"app":"a"}"#,
            #"{"actions":["list"],"app":"a","sessions":["x"]}"#,
            caller: .anonymous
        )
        #expect(grants.allows(.describe, app: "a") && !grants.allows(.describe, app: "b"))
        #expect(!grants.allows(.describe, app: nil))
        #expect(grants.allows(.secrets, app: "a") && !grants.allows(.secrets, app: "b"))
        #expect(grants.allows(.list, app: "a"))
        #expect(!grants.allows(.operate, app: nil) && !grants.allows(.operate, app: "a"))
        #expect(try Self.grants().allows(.describe, app: nil))
        #expect(!CallerGrants.none.allows(.describe, app: nil))
    }

    @Test func `operate is granted by its name alone`() throws {
        let star = try Self.grants(
            #"{"actions":["*"],"app":"*","sessions":["*"],"paths":[""],"stores":["*"],"values":["*"],"#
                + #""views":["*"]}"#
        )
        #expect(!star.allows(.operate, app: nil))
        #expect(star.access(to: "x", of: "y") == .all)
        #expect(try Self.grants(#"{"actions":["operate"]}"#).allows(.operate, app: nil))
        #expect(try Self.grants(#"{"actions":["operate"]}"#).access(to: "x", of: "y") == .none)
        #expect(!CallerGrants.all.allows(.operate, app: nil))
        #expect(CallerGrants.allWithOperate.allows(.operate, app: nil))
        for grants in [CallerGrants.all, .allWithOperate] {
            #expect(grants.access(to: "x", of: "y") == .all)
            #expect(grants.allows(.secrets, app: "y") && grants.allows(.describe, app: nil))
            #expect(grants.listPatterns(of: "y")?.prefix?.isEmpty == true)
            #expect(grants.store("s", of: "y", for: .write)?.isAll == true)
            #expect(grants.value("s", of: "y", for: .read))
        }
    }

    private static let lists: [([String], String?)] = [
        (["*"], ""), (["a*", "*"], ""), (["home"], "home"), (["${me}", "${me}-*"], me), (["a*", "a-b", "ab*"], "a"),
        (["home", "house-*"], nil), (["*-x"], nil), (["a*", "b*"], nil), (["a*", "*-x"], nil),
    ]

    @Test(arguments: lists)
    func `a list has one beginning, or every session, or is refused`(_ texts: [String], _ prefix: String?) throws {
        let sessions = JSONValue.array(texts.map(JSONValue.string)).description
        let grants = try Self.grants(#"{"actions":["list"],"app":"a","sessions":\#(sessions)}"#)
        let patterns = try #require(grants.listPatterns(of: "a"))
        #expect(patterns.prefix == prefix)
        #expect(grants.listPatterns(of: "b") == nil)
    }

    @Test func `a list shows the sessions of its patterns`() throws {
        let patterns = try #require(
            try Self.grants(
                #"{"actions":["list"],"app":"a","sessions":["a-*"]}"#,
                #"{"actions":["read"],"app":"a","sessions":["b"]}"#
            ).listPatterns(of: "a")
        )
        #expect(patterns.contains("a-1") && !patterns.contains("b") && !patterns.contains("a"))
    }

    @Test func `stores and values are granted by name and action`() throws {
        let grants = try Self.grants(
            #"{"actions":["read"],"app":"a","stores":["notes"],"items":["x-*"]}"#,
            #"{"actions":["read","write"],"app":"a","stores":["notes"],"items":["${me}"],"values":["theme"]}"#,
            #"{"actions":["read"],"app":"a","stores":["open"]}"#,
            #"{"actions":["*"],"app":"a","sessions":["*"],"stores":["other"],"values":["other"]}"#
        )
        let read = try #require(grants.store("notes", of: "a", for: .read))
        #expect(read.contains("x-1") && read.contains(Self.me) && !read.contains("x") && !read.isAll)
        let write = try #require(grants.store("notes", of: "a", for: .write))
        #expect(!write.contains("x-1") && write.contains(Self.me))
        #expect(grants.store("open", of: "a", for: .read) == .all)
        #expect(grants.store("open", of: "a", for: .write) == nil)
        #expect(grants.store("notes", of: "b", for: .read) == nil)
        #expect(grants.store("theme", of: "a", for: .read) == nil)
        #expect(grants.value("theme", of: "a", for: .write) && !grants.value("theme", of: "b", for: .read))
        #expect(!grants.value("notes", of: "a", for: .read))
        #expect(!grants.access(to: "x", of: "b").allows(.read))
    }

    @Test func `the name of a part of a store depends on its patterns alone`() throws {
        func name(_ items: String...) throws -> String {
            let texts = items.map { #"{"actions":["read"],"app":"a","stores":["s"],"items":["\#($0)"]}"# }
            let grants = CallerGrants(try texts.map { try Grant(JSONValue(parsing: $0)) }, of: Self.alice)
            return try #require(grants.store("s", of: "a", for: .read)).name
        }
        #expect(try name("a", "b*") == name("b*", "a", "b*") && name("a").utf8.count == 13)
        #expect(try Set([name("a"), name("a*"), name("*a"), name("a", "b"), name("ab")]).count == 5)
        #expect(try name("a", "*").isEmpty)
    }
}
