// Checks the resource that a path names.

import RivuletHTTP
import RivuletJSON
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite struct RouteTests {
    private let key = SessionKey(app: "counter", id: "a")

    @Test func `every resource of the contract is found by its path`() throws {
        #expect(try Route(segments: ["healthz"]) == .health)
        #expect(try Route(segments: ["readyz"]) == .readiness)
        #expect(try Route(segments: ["v1", "apps"]) == .apps)
        #expect(try Route(segments: ["v1", "apps", "counter"]) == .app("counter"))
        #expect(try Route(segments: ["v1", "apps", "counter", "types.d.ts"]) == .types(app: "counter"))
        #expect(try Route(segments: ["v1", "apps", "counter", "sessions"]) == .sessions(app: "counter"))
        let session = ["v1", "apps", "counter", "sessions", "a"]
        #expect(try Route(segments: session) == .session(key))
        #expect(try Route(segments: session + ["events"]) == .events(key))
        #expect(try Route(segments: session + ["changes"]) == .changes(key, view: nil))
        #expect(try Route(segments: session + ["state"]) == .state(key, .root))
        #expect(
            try Route(segments: session + ["state", "p", "count"]) == .state(key, JSONPointer(tokens: ["p", "count"]))
        )
    }

    @Test func `a segment is one token of a key path, whatever it contains`() throws {
        let path = ["v1", "apps", "counter", "sessions", "a", "state", "a/b", "c~1d", "e~0f"]
        #expect(try Route(segments: path) == .state(key, JSONPointer(tokens: ["a/b", "c/d", "e~f"])))
    }

    @Test(arguments: [
        ["v1"], ["v1", "x"], ["v1", "apps", "counter", "x"], ["v1", "apps", "counter", "types.d.ts", "x"],
        ["v1", "apps", "counter", "sessions", "a", "x"],
    ])
    func `a path below v1 that names nothing is 404`(_ segments: [String]) {
        #expect(status { try Route(segments: segments) } == 404)
    }

    @Test(arguments: ["", "a b", "ä", "a.b", String(repeating: "a", count: 129)])
    func `an invalid session id is 400`(_ id: String) {
        #expect(status { try Route(segments: ["v1", "apps", "counter", "sessions", id]) } == 400)
    }

    @Test(
        arguments: [
            ("/v1/apps/counter/sessions/a/events", true), ("/v1/apps/counter/sessions/a/events?strict=true", true),
            ("http://localhost/v1/apps/counter/sessions/a/events", true),
            ("/v1/apps/counter/sessions/A_-9/events", true),
            ("/v1/apps/counter/sessions/" + String(repeating: "a", count: 128) + "/events", true),
            ("/v1/apps/counter/sessions/" + String(repeating: "a", count: 129) + "/events", false),
            ("/v1/apps/counter/sessions//events", false), ("/v1/apps/counter/sessions/me/events", false),
            ("/v1/apps/counter/sessions/%6De/events", false), ("/v1/apps/counter/sessions/%61/events", false),
            ("/v1/apps/counter/sessions/a%2Fb/events", false), ("/v1/apps/counter/sessions/a.b/events", false),
            ("/v1/apps/counter/sessions/a/events/", false), ("/v1/apps/counter//sessions/a/events", false),
            ("/v1/apps/Counter/sessions/a/events", false), ("/v1/apps//sessions/a/events", false),
        ] as [(String, Bool)]
    )
    func `the fast reading of a path gives the same resource as its segments`(target: String, isFast: Bool) throws {
        var connection = HTTPConnection()
        let text = "POST \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let action = connection.receive(Array(text.utf8).span, limits: HTTPLimits())
        guard case .request(let request) = action else {
            Issue.record("no request: \(text)")
            return
        }
        let route = Route(eventsOf: request)
        #expect((route != nil) == isFast)
        if let route { #expect(try route == Route(segments: request.pathSegments)) }
    }

    @Test(arguments: [[".."], ["a", "..", "b"], [".git", "config"], ["a/../b"], ["a\\b"], ["a\0"]])
    func `a file path that could lead out of the folder is refused`(_ segments: [String]) {
        #expect(status { try Route(segments: segments) } == 404)
    }

    @Test func `the path of a folder is its index page`() throws {
        #expect(try Route(segments: [""]) == .file("index.html"))
        #expect(try Route(segments: ["docs", ""]) == .file("docs/index.html"))
        #expect(try Route(segments: ["app.css"]) == .file("app.css"))
    }

    private func status(_ body: () throws -> Route) -> Int? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? Problem)?.status
        }
    }
}
