// Owns the tests of well-formed requests, as routes see them.

import RivuletHTTP
import Testing

@Suite struct HTTPRequestTests {
    @Test func `a request line and headers are read as sent with names in lower case`() {
        let reading = HTTPReading.of("GET /a/b?c=d HTTP/1.1\r\nHost: h:80\r\nX-Some: \t v w \t\r\nEMPTY:\r\n\r\n")
        #expect(reading.requests == ["GET /a/b?c=d HTTP/1.1 [host: h:80, x-some: v w, empty: ]"])
        #expect(reading.refusal == nil && !reading.isClosed)
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "M-SEARCH", "get"])
    func `a method is read by its exact name`(name: String) throws {
        let request = try oneRequest("\(name) / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(request.method.name == name)
        if name == "get" { #expect(request.method == .other("get")) }
    }

    @Test func `a head is written again without some lines, and with others`() throws {
        let request = try oneRequest("POST /a?b=%20 HTTP/1.0\r\nHost: h\r\nX-A:  b \r\nTE: c\r\nte: d\r\n\r\n")
        let head = request.head(without: ["te"], adding: [HTTPField("content-length", "3")])
        let text = String(decoding: head, as: UTF8.self)
        #expect(text == "POST /a?b=%20 HTTP/1.0\r\nhost: h\r\nx-a: b\r\ncontent-length: 3\r\n\r\n")
        #expect(try oneRequest(text + "abc").body == Array("abc".utf8))
    }

    @Test func `a field of texts from outside is a token and a text`() {
        #expect(HTTPField(checking: "X-A", "b") == HTTPField("X-A", "b"))
        for (name, value) in [("", "b"), ("X A", "b"), ("X-A", "b\r\nX-B: c"), ("X-A", "b\u{0}")] {
            #expect(HTTPField(checking: name, value) == nil)
        }
    }

    @Test func `headers are found by lower-case name and repeated ones make a list`() throws {
        let request = try oneRequest("GET / HTTP/1.1\r\nHost: h\r\nAccept: a\r\naccept: b;q=1\r\n\r\n")
        #expect(request.headers["accept"] == "a")
        #expect(request.headers.values(of: "accept") == ["a", "b;q=1"])
        #expect(request.headers.list(of: "accept") == "a, b;q=1")
        #expect(request.headers.contains("host"))
        #expect(request.headers["cookie"] == nil)
        #expect(request.headers.list(of: "cookie") == nil)
        #expect(request.headers.count == 3)
        #expect(request.headers.bytes(of: "host").map(Array.init) == Array("h".utf8))
    }

    @Test func `a header value keeps bytes beyond ASCII`() throws {
        let request = try oneRequest("GET / HTTP/1.1\r\nHost: h\r\nName: Zoë\r\n\r\n")
        #expect(request.headers["name"] == "Zoë")
    }

    @Test func `a path is split into segments before they are decoded`() throws {
        let request = try oneRequest("GET /a/b%2Fc/%C3%A9/ HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(request.path == "/a/b%2Fc/%C3%A9/")
        #expect(request.pathSegments == ["a", "b/c", "é", ""])
        #expect(try oneRequest("GET / HTTP/1.1\r\nHost: h\r\n\r\n").pathSegments == [""])
    }

    @Test func `query items are decoded and a plus is a space`() throws {
        let request = try oneRequest("GET /?path=/a~1b&path=%2Fx+y&&flag&e=&p=1%2B1 HTTP/1.1\r\nHost: h\r\n\r\n")
        let expected = [("path", "/a~1b"), ("path", "/x y"), ("flag", ""), ("e", ""), ("p", "1+1")]
        #expect(request.queryItems == expected.map(HTTPQueryItem.init))
        #expect(request.queryValue("path") == "/a~1b")
        #expect(request.queryValue("none") == nil)
    }

    @Test func `an empty query is a query`() throws {
        let request = try oneRequest("GET /? HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(request.query?.isEmpty == true)
        #expect(request.queryItems.isEmpty)
        #expect(try oneRequest("GET / HTTP/1.1\r\nHost: h\r\n\r\n").query == nil)
    }

    @Test func `an absolute target has the host and the path`() throws {
        let request = try oneRequest("GET http://other:81/p?q HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(request.host == "other:81")
        #expect(request.path == "/p")
        #expect(request.query == "q")
        let bare = try oneRequest("GET HTTPS://[::1] HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(bare.host == "[::1]")
        #expect(bare.path == "/")
        #expect(bare.pathSegments == [""])
    }

    @Test func `the asterisk target is for OPTIONS`() throws {
        let request = try oneRequest("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(request.path == "*")
    }

    @Test(arguments: [
        ("HTTP/1.1\r\nHost: h", true), ("HTTP/1.1\r\nHost: h\r\nConnection: close", false),
        ("HTTP/1.1\r\nHost: h\r\nConnection: x, Close ", false), ("HTTP/1.0", false),
        ("HTTP/1.0\r\nConnection: Keep-Alive", true), ("HTTP/1.0\r\nConnection: keep-alive, close", false),
        ("HTTP/1.1\r\nHost: h\r\nConnection: x\r\nConnection: close", false), ("HTTP/1.7\r\nHost: h", true),
    ])
    func `the version and the Connection field decide if the connection is kept`(head: String, isKept: Bool) throws {
        #expect(try oneRequest("GET / \(head)\r\n\r\n").isKeepAlive == isKept)
    }

    @Test func `the values of HTTP 1_0 need no host`() throws {
        let request = try oneRequest("GET /x HTTP/1.0\r\n\r\n")
        #expect(request.version == .http10)
        #expect(request.host == nil)
    }

    @Test func `one empty line before the request line is skipped`() {
        let reading = HTTPReading.of("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(reading.requests == ["GET / HTTP/1.1 [host: h]"])
    }

    @Test(
        arguments: [
            ("/a/one/b/two/c", "one two"), ("/a/x/b/y-1/c?d=e", "x y-1"), ("/a//b/two/c", nil), ("/a/one/b//c", nil),
            ("/a/one/b/two", nil),
            ("/a/one/b/two/c/", nil), ("/a/one/b/two/cc", nil), ("/a/o%6ee/b/two/c", nil), ("/a/one/b/t%77o/c", nil),
            ("/a/one/two/b/two/c", nil), ("/b/one/b/two/c", nil), ("/a", nil), ("/", nil),
        ] as [(String, String?)]
    )
    func `a pattern returns the two segments of a matching path`(target: String, segments: String?) throws {
        let request = try oneRequest("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        let found = request.segments(of: PathPattern("/a/", "/b/", "/c"))
        #expect(found.map { "\($0.0) \($0.1)" } == segments)
    }

    @Test func `has() is true only if the field's first line is exactly the value`() throws {
        let request = try oneRequest("GET / HTTP/1.1\r\nHost: h\r\nA: text \r\nA: other\r\n\r\n")
        #expect(request.headers.has("a", "text") && !request.headers.has("a", "other"))
        #expect(!request.headers.has("a", "tex") && !request.headers.has("b", "text"))
    }
}
