// Owns the tests of refusals: every request that two servers could read in two ways, and every limit.

import RivuletHTTP
import SeededRandom
import Testing

@Suite struct HTTPStrictnessTests {
    /// Requests that are refused, with the status and a word of the detail.
    static let refused: [(text: String, status: UInt16, detail: String)] = [
        ("GET / HTTP/1.1\nHost: h\n\n", 400, "bare line feed"),
        ("GET / HTTP/1.1\r\nHost: h\n\r\n", 400, "bare line feed"),
        ("GET / HTTP/1.1\rHost: h\r\n\r\n", 400, "carriage return"),
        ("GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n", 400, "carriage return"),
        ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400, "colon"),
        ("GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400, "white space"),
        ("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400, "folding"),
        ("GET / HTTP/1.1\r\nHost: h\r\n\tA: b\r\n\r\n", 400, "folding"),
        ("GET / HTTP/1.1\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: u@b\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: %zz\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: a%2eb\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: h\r\nA\u{1}B: c\r\n\r\n", 400, "control"),
        ("GET / HTTP/1.1\r\nHost: h\r\nA: b\u{0}c\r\n\r\n", 400, "control"),
        ("GET / HTTP/1.1\r\nHost: h\r\nA: b\u{7F}c\r\n\r\n", 400, "control"),
        ("GET / HTTP/1.1\r\nHost: h\r\nA(B): c\r\n\r\n", 400, "name"),
        ("GET / HTTP/1.1\r\nHost: h\r\nAé: c\r\n\r\n", 400, "name"),
        ("GET / HTTP/1.1\r\nHost: h\r\n: c\r\n\r\n", 400, "no name"),
        ("GET / HTTP/1.1\r\nHost: h\r\nnothing\r\n\r\n", 400, "name"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "HTTP/2"),
        ("\u{16}\u{3}\u{1}", 400, "TLS"),
        ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505, "HTTP/1.1"),
        ("GET / HTTP/0.9\r\nHost: h\r\n\r\n", 505, "HTTP/1.1"),
        ("GET /\r\n\r\n", 400, "version"),
        ("GET / http/1.1\r\nHost: h\r\n\r\n", 400, "version"),
        ("GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400, "version"),
        ("GET / HTTP/1.\r\nHost: h\r\n\r\n", 400, "version"),
        ("GET / HTTP/11.1\r\nHost: h\r\n\r\n", 400, "version"),
        ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"),
        ("GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400, "method"),
        (" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400, "method"),
        ("G\u{e9}T / HTTP/1.1\r\nHost: h\r\n\r\n", 400, "method"),
        ("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400, "version"),
        ("GET /é HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"),
        ("GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400, "fragment"),
        ("GET /%4 HTTP/1.1\r\nHost: h\r\n\r\n", 400, "percent"),
        ("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400, "percent"),
        ("GET /?%f HTTP/1.1\r\nHost: h\r\n\r\n", 400, "percent"),
        ("GET /%ff HTTP/1.1\r\nHost: h\r\n\r\n", 400, "UTF-8"),
        ("GET /%C3/%A9 HTTP/1.1\r\nHost: h\r\n\r\n", 400, "UTF-8"),
        ("GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n", 400, "NUL"),
        ("GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400, "OPTIONS"),
        ("GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"),
        ("GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"),
        ("GET http:///a HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"),
        ("GET http://u:p@h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"),
        ("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", 501, "proxy"),
        ("\(String(repeating: "A", count: 33)) / HTTP/1.1\r\nHost: h\r\n\r\n", 501, "method"),
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400, "empty line"),
        ("GET / HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\n\r\n", 417, "100-continue"),
    ]

    /// Messages for which two servers could see different ends (request smuggling).
    static let smuggling: [(text: String, status: UInt16, detail: String)] = [
        ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "both"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400, "both"),
        ("Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400, "more than one"),
        ("Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400, "more than one"),
        ("Content-Length: 3, 3\r\n\r\nabc", 400, "digits"),
        ("Content-Length: +3\r\n\r\nabc", 400, "digits"),
        ("Content-Length: -3\r\n\r\nabc", 400, "digits"),
        ("Content-Length: 0x3\r\n\r\nabc", 400, "digits"),
        ("Content-Length: 3 3\r\n\r\nabc", 400, "digits"),
        ("Content-Length:\r\n\r\nabc", 400, "digits"),
        ("Content-Length : 3\r\n\r\nabc", 400, "colon"),
        ("Content-Length: 99999999999999999999\r\n\r\n", 413, "body"),
        ("Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400, "chunked"),
        ("Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400, "chunked"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "more than one"),
        ("Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n", 400, "chunked"),
        ("Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n", 400, "malformed"),
        ("Transfer-Encoding:\r\n\r\n0\r\n\r\n", 400, "malformed"),
        ("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "chunked"),
        ("Transfer-Encoding: identity\r\n\r\n", 501, "chunked"),
        ("Transfer-Encoding: xchunked\r\n\r\n", 501, "chunked"),
        ("Transfer-Encoding: chunkedx\r\n\r\n", 501, "chunked"),
        ("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400, "colon"),
    ]

    @Test(arguments: refused)
    func `a malformed request is refused`(text: String, status: UInt16, detail: String) throws {
        let reading = HTTPReading.of(text)
        #expect(reading.requests.isEmpty)
        let refusal = try #require(reading.refusal)
        #expect(refusal.status.code == status)
        #expect(refusal.detail.contains(detail))
    }

    @Test(arguments: smuggling)
    func `a body with an ambiguous end is refused`(headers: String, status: UInt16, detail: String) throws {
        let reading = HTTPReading.of("POST / HTTP/1.1\r\nHost: h\r\n\(headers)")
        #expect(reading.requests.isEmpty)
        let refusal = try #require(reading.refusal)
        #expect(refusal.status.code == status)
        #expect(refusal.detail.contains(detail))
    }

    @Test func `HTTP 1_0 has no transfer codings`() {
        let reading = HTTPReading.of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        #expect(reading.refusal?.status == .badRequest)
    }

    @Test func `a header block of exactly the limit is read and one byte more is refused`() {
        var limits = HTTPLimits()
        limits.headerBytesMax = 64
        let start = "GET / HTTP/1.1\r\nHost: h\r\nA: "
        let fill = 64 - start.utf8.count - 4
        let fits = start + String(repeating: "x", count: fill) + "\r\n\r\n"
        #expect(HTTPReading.of(fits, limits: limits).requests.count == 1)
        let over = start + String(repeating: "x", count: fill + 1) + "\r\n\r\n"
        #expect(HTTPReading.of(over, limits: limits).refusal?.status == .requestHeaderFieldsTooLarge)
        let endless = start + String(repeating: "x", count: 1_000)
        #expect(HTTPReading.of(endless, limits: limits).refusal?.status == .requestHeaderFieldsTooLarge)
    }

    @Test func `too many header lines are refused`() {
        var limits = HTTPLimits()
        limits.headerCountMax = 3
        let head = "GET / HTTP/1.1\r\nHost: h\r\n"
        #expect(HTTPReading.of(head + "A: 1\r\nA: 2\r\n\r\n", limits: limits).requests.count == 1)
        let refusal = HTTPReading.of(head + "A: 1\r\nA: 2\r\nA: 3\r\n\r\n", limits: limits).refusal
        #expect(refusal?.status == .requestHeaderFieldsTooLarge)
    }

    @Test func `a target of exactly the limit is read and a longer one is refused`() {
        var limits = HTTPLimits()
        limits.targetBytesMax = 20
        let path = "/" + String(repeating: "a", count: 19)
        #expect(HTTPReading.of("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n", limits: limits).requests.count == 1)
        let refusal = HTTPReading.of("GET \(path)a HTTP/1.1\r\nHost: h\r\n\r\n", limits: limits).refusal
        #expect(refusal?.status == .uriTooLong)
        limits.headerBytesMax = 100
        let endless = "GET /" + String(repeating: "a", count: 1_000)
        #expect(HTTPReading.of(endless, limits: limits).refusal?.status == .uriTooLong)
    }

    @Test(
        arguments: [
            ("GET / HTTP/1.1\r\nBad Name: x\r\nOrigin: http://a\r\n\r\n", 400, "http://a"),
            ("GET / HTTP/1.1\r\nORIGIN:\thttp://a \r\nHost: h\r\nHost: h\r\n\r\n", 400, "http://a"),
            ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\nOrigin: http://a\r\nOrigin: http://a\r\n\r\n", 400, nil),
            ("GET / HTTP\r\nX-Origin: http://b\r\nOrigin: http://a\r\n\r\n", 400, "http://a"),
            ("GET /aaaaaaaaaa HTTP/1.1\r\nOrigin: http://a\r\n\r\n", 414, "http://a"),
            ("GET /\(String(repeating: "a", count: 60)) HTTP/1.1\r\nOrigin: http://a\r\n\r\n", 414, "http://a"),
            ("GET /\(String(repeating: "a", count: 90)) HTTP/1.1\r\nOrigin: http://a\r\n\r\n", 414, nil),
            ("GET /\(String(repeating: "a", count: 60)) HTTP/1.1\r\nOrigin: http://a\r\n\n", 414, "http://a"),
            ("GET / HTTP/1.1\r\nA: 1\r\nA: 1\r\nA: 1\r\nA: 1\r\nOrigin: http://a\r\n\r\n", 431, "http://a"),
            ("GET / HTTP/1.1\r\nOrigin: http://a\r\nA: \(String(repeating: "a", count: 90))\r\n\r\n", 431, "http://a"),
            ("GET / HTTP/1.1\r\nA: \(String(repeating: "a", count: 62))\r\nOrigin: http://a.example\r\n\r\n", 431, nil),
        ] as [(String, UInt16, String?)]
    )
    func `a refusal has the head's Origin from any line within the limits`(
        _ text: String,
        _ status: UInt16,
        _ origin: String?
    ) {
        var limits = HTTPLimits()
        (limits.targetBytesMax, limits.headerBytesMax, limits.headerCountMax) = (10, 100, 4)
        let refusal = HTTPReading.of(text, limits: limits).refusal
        #expect(refusal?.status.code == status && refusal?.origin == origin)
    }

    @Test func `bytes after a refusal are ignored`() {
        var connection = HTTPConnection()
        let limits = HTTPLimits()
        guard case .refuse = connection.receive(Array("\n".utf8).span, limits: limits) else {
            Issue.record("a bare line feed was accepted")
            return
        }
        let request = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        guard case .wait = connection.receive(request.span, limits: limits) else {
            Issue.record("a request was accepted after a refusal")
            return
        }
        #expect(connection.deadline == nil)
    }

    @Test func `random bytes never crash the parser, and no request is longer than the sent bytes`() {
        var generator = SeededGenerator(seed: 7)
        let marks = [":", " ", "\n", "\r", "\r\n", "%", "0", "a", "\u{0}", "é", ",", "/"]
        let words = ["GET ", "POST ", " HTTP/1.1", "Host: h", "Content-Length: 3", "Transfer-Encoding: chunked"]
        let pieces = marks + words + ["\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n"]
        for _ in 0..<2_000 {
            let count = Int.random(in: 1...30, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let reading = HTTPReading.of(text)
            #expect(reading.requests.count <= text.utf8.count / 16)
        }
    }
}
