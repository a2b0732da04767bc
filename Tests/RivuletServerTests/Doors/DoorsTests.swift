// Checks the decisions that the head of a request determines.

import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct DoorsTests {
    private let doors: Doors

    init() throws {
        var options = ServerOptions()
        options.allowedHosts = ["a.example"]
        options.allowedOrigins = ["http://localhost:5173", "https://*.b.example"]
        options.publicURL = "https://rivulet.example/"
        doors = try Doors(options, machineName: "builder")
    }

    /// The verdict on a request: the cause of its refusal, or the kind of callers, with "shared with" if its page may
    /// read the answer.
    private func verdict(_ lines: String..., doors: Doors? = nil) throws -> String {
        switch (doors ?? self.doors).verdict(on: try Self.request(lines)) {
        case .refuse(let refusal): return "\(refusal.problem.status) \(refusal.cause)"
        case .pass(let pass):
            let fields = String(decoding: pass.fields, as: UTF8.self)
            let isShared = fields.contains("Access-Control-Allow-Origin")
            #expect(fields.contains("X-Content-Type-Options: nosniff\r\n"))
            #expect(fields.contains("Cross-Origin-Resource-Policy: same-origin\r\n") == !isShared)
            return (isShared ? "shared with " : "own for ") + "\(pass.callers)"
        }
    }

    private static func request(_ lines: [String]) throws -> HTTPRequest {
        var connection = HTTPConnection()
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n"
        guard case .request(let request) = connection.receive(Array(text.utf8).span, limits: HTTPLimits()) else {
            throw ServerError("no request: \(text)")
        }
        return request
    }

    @Test func `the host is checked first, also for an absolute target`() throws {
        #expect(try verdict("GET /v1/apps HTTP/1.1", "Host: localhost:8080") == "own for all")
        #expect(try verdict("GET /v1/apps HTTP/1.1", "Host: evil.example", "Sec-Fetch-Site: same-origin") == "421 host")
        #expect(try verdict("GET /v1/apps HTTP/1.1", "Host: evil.example", "Sec-Fetch-Site: cross-site") == "421 host")
        #expect(try verdict("GET /v1/apps HTTP/1.1", "Host:") == "421 host")
        #expect(try verdict("GET /v1/apps HTTP/1.0", "Host:") == "421 host")
        #expect(try verdict("GET /v1/apps HTTP/1.0") == "own for all")
        #expect(try verdict("GET /v1/apps HTTP/1.0", "Host: evil.example") == "421 host")
        #expect(try verdict("GET http://evil.example/v1/apps HTTP/1.1", "Host: localhost") == "421 host")
        #expect(try verdict("GET http://evil.example/ HTTP/1.0") == "421 host")
        #expect(try verdict("GET http://a.example:1/v1/apps HTTP/1.1", "Host: evil.example") == "own for all")
        #expect(try verdict("OPTIONS * HTTP/1.1", "Host: evil.example") == "421 host")
        for name in ["builder", "rivulet.example", "a.example"] {
            #expect(try verdict("GET / HTTP/1.1", "Host: \(name)") == "own for all")
        }
    }

    @Test(arguments: ["/healthz", "/readyz", "/healthz?a"]) func `balancers may name any host`(_ target: String) throws
    {
        #expect(try verdict("GET \(target) HTTP/1.1", "Host: evil.example") == "own for all")
        #expect(try verdict("GET \(target) HTTP/1.1", "Host:") == "own for all")
        #expect(
            try verdict("GET \(target) HTTP/1.1", "Host: localhost", "Sec-Fetch-Site: cross-site") == "403 crossSite"
        )
    }

    @Test(arguments: ["/metrics", "/", "/openapi.json", "/healthz/", "/v1/healthz", "/nothing"])
    func `no other path is exempt from the Host list`(_ target: String) throws {
        #expect(try verdict("GET \(target) HTTP/1.1", "Host: evil.example") == "421 host")
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"])
    func `pages of other sites are refused unless their origin is allowed, for any method`(_ method: String) throws {
        let line = "\(method) /v1/apps HTTP/1.1"
        func from(_ site: String, _ further: String...) throws -> String {
            let lines = [line, "Host: localhost:8080", "Sec-Fetch-Site: \(site)"] + further
            return try verdict(lines.joined(separator: "\r\n"))
        }
        #expect(try from("same-origin") == "own for all")
        #expect(try from("none") == "own for all")
        #expect(try from("same-origin", "Origin: null") == "own for all")
        for site in ["same-site", "cross-site", "", "Same-Origin", "same-origin, none", "other", "\"none\""] {
            #expect(try from(site) == "403 crossSite", "\(site)")
            #expect(try from(site, "Origin: null") == "403 crossSite", "\(site)")
            #expect(try from(site, "Origin: http://localhost:8080") == "403 crossSite", "\(site)")
            #expect(try from(site, "Origin: https://rivulet.example") == "403 crossSite", "\(site)")
            let callers = site == "same-site" ? "all" : "known"
            #expect(try from(site, "Origin: http://localhost:5173") == "shared with \(callers)", "\(site)")
            #expect(try from(site, "Origin: https://x.b.example") == "shared with \(callers)", "\(site)")
            let twice = try from(site, "Origin: http://localhost:5173", "Origin: http://localhost:5173")
            #expect(twice == "403 crossSite", "\(site)")
        }
        #expect(try from("same-origin", "Sec-Fetch-Site: same-origin") == "403 crossSite")
        #expect(try from("none", "Sec-Fetch-Site: cross-site") == "403 crossSite")
    }

    @Test func `a link on another site may open a page, and nothing else`() throws {
        func follow(_ line: String, _ fields: String...) throws -> String {
            try verdict(([line, "Host: localhost"] + fields).joined(separator: "\r\n"))
        }
        let (cross, navigate, document) = (
            "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"
        )
        for target in [
            "/", "/index.html", "/todos.html?s=home", "/no/such/file", "/assets/app.js", "/problems/not-found",
        ] {
            #expect(try follow("GET \(target) HTTP/1.1", cross, navigate, document) == "own for all", "\(target)")
            #expect(try follow("HEAD \(target) HTTP/1.1", cross, navigate, document) == "own for all", "\(target)")
            #expect(
                try follow("GET \(target) HTTP/1.1", "Sec-Fetch-Site: same-site", navigate, document) == "own for all"
            )
            #expect(try follow("POST \(target) HTTP/1.1", cross, navigate, document) == "403 crossSite")
            #expect(try follow("GET \(target) HTTP/1.1", cross, navigate, "Sec-Fetch-Dest: iframe") == "403 crossSite")
            #expect(try follow("GET \(target) HTTP/1.1", cross, "Sec-Fetch-Mode: no-cors", document) == "403 crossSite")
            #expect(try follow("GET \(target) HTTP/1.1", cross, navigate) == "403 crossSite")
            #expect(try follow("GET \(target) HTTP/1.1", cross, document) == "403 crossSite")
            #expect(try follow("GET \(target) HTTP/1.1", cross, navigate, navigate, document) == "403 crossSite")
        }
        for target in [
            "/v1/apps", "/v1/apps/counter/sessions/me/state", "/metrics", "/openapi.json", "/healthz", "/v1",
            "/.git/config",
        ] {
            #expect(try follow("GET \(target) HTTP/1.1", cross, navigate, document) == "403 crossSite", "\(target)")
        }
    }

    @Test func `without Sec-Fetch-Site the origin must be the host's, the public URL's or an allowed one`() throws {
        func from(_ origin: String, host: String = "localhost:8080") throws -> String {
            try verdict("POST /v1/apps HTTP/1.1", "Host: \(host)", "Origin: \(origin)")
        }
        #expect(try from("http://localhost:8080") == "own for all")
        #expect(try from("https://localhost:8080") == "own for all")
        #expect(try from("https://a.example", host: "a.example") == "own for all")
        #expect(try from("https://rivulet.example", host: "127.0.0.1:8080") == "own for all")
        #expect(try from("http://rivulet.example", host: "127.0.0.1:8080") == "403 crossSite")
        for origin in [
            "null", "", "http://localhost", "http://localhost:5174", "http://127.0.0.1:8080", "https://evil.example",
            "localhost:8080",
        ] {
            #expect(try from(origin) == "403 crossSite", "\(origin)")
        }
        #expect(try from("http://localhost:5173") == "shared with all")
        #expect(try from("http://localhost:5173", host: "127.0.0.1:8080") == "shared with known")
        #expect(try from("https://x.b.example") == "shared with known")
        #expect(try verdict("POST / HTTP/1.0", "Origin: http://localhost") == "403 crossSite")
        let twice = try verdict(
            "POST / HTTP/1.1",
            "Host: localhost",
            "Origin: http://localhost",
            "Origin: http://localhost"
        )
        #expect(twice == "403 crossSite")
    }

    @Test func `a star shares answers without credentials, and without me`() throws {
        var options = ServerOptions()
        options.allowedOrigins = ["*", "http://localhost:5173"]
        let doors = try Doors(options, machineName: "")
        let lines = ["GET / HTTP/1.1", "Host: localhost", "Sec-Fetch-Site: same-site", "Origin: https://any.example"]
        #expect(try verdict(lines.joined(separator: "\r\n"), doors: doors) == "shared with none")
        guard case .pass(let pass) = doors.verdict(on: try Self.request(lines)) else {
            Issue.record("unexpected verdict")
            return
        }
        let fields = String(decoding: pass.fields, as: UTF8.self)
        #expect(fields.contains("Access-Control-Allow-Origin: *\r\n") && !fields.contains("Credentials"))
        #expect(try verdict("GET / HTTP/1.1", "Host: localhost", "Origin: null", doors: doors) == "403 crossSite")
        let named = String(decoding: doors.fields(forOrigin: "http://localhost:5173"), as: UTF8.self)
        #expect(named.contains("Access-Control-Allow-Origin: http://localhost:5173\r\n"))
        #expect(named.contains("Access-Control-Allow-Credentials: true\r\n") && named.contains("Vary: Origin\r\n"))
    }

    @Test func `an ordinary request is accepted by its host alone`() throws {
        let accepted = Array("localhost".utf8)
        let plain = try Self.request(["GET / HTTP/1.1", "Host: localhost"])
        #expect(doors.isOrdinary(plain, acceptedHost: accepted))
        #expect(!doors.isOrdinary(plain, acceptedHost: []))
        #expect(!doors.isOrdinary(plain, acceptedHost: Array("localhosT".utf8)))
        for line in ["Origin: http://localhost", "Sec-Fetch-Site: none", "ORIGIN:", "sec-fetch-site: cross-site"] {
            let paged = try Self.request(["GET / HTTP/1.1", line, "Host: localhost"])
            #expect(!doors.isOrdinary(paged, acceptedHost: accepted))
        }
        let empty = try Self.request(["GET / HTTP/1.1", "Host:"])
        #expect(!doors.isOrdinary(empty, acceptedHost: []))
        let absolute = try Self.request(["GET http://evil.example/ HTTP/1.1", "Host: localhost"])
        #expect(!doors.isOrdinary(absolute, acceptedHost: accepted))
    }

    @Test func `a refusal names the host or origin, and the option to allow it`() throws {
        guard
            case .refuse(let host) = doors.verdict(on: try Self.request(["GET / HTTP/1.1", "Host: Evil.example:80"])),
            case .refuse(let page) = doors.verdict(
                on: try Self.request(["GET / HTTP/1.1", "Host: localhost", "Origin: https://evil.example"])
            )
        else {
            Issue.record("unexpected verdict")
            return
        }
        #expect(host.problem.detail.contains("--allowed-hosts Evil.example ("))
        #expect(page.problem.detail.contains("--allowed-origins https://evil.example ("))
    }

    @Test(arguments: [
        "rivulet.example", "ftp://rivulet.example", "https://rivulet.example/app", "https://", "https://a/?b",
    ])
    func `text that is not the URL of a server is refused as the public URL`(_ url: String) {
        var options = ServerOptions()
        options.publicURL = url
        let error = #expect(throws: ServerError.self) { try Doors(options, machineName: "") }
        #expect(error?.description.contains("--public-url") == true)
    }

    @Test(arguments: ["", "default-src 'self'\r\nX: y", "default-src é"])
    func `a policy that cannot be in a header is refused`(_ policy: String) {
        #expect(throws: ServerError.self) { try PagePolicy.fields(policy) }
    }
}
