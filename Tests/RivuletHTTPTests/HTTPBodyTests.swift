// Owns the tests of bodies: by length and by chunks.

import RivuletHTTP
import Testing

@Suite struct HTTPBodyTests {
    private func chunked(_ body: String, limits: HTTPLimits = HTTPLimits()) -> HTTPReading {
        HTTPReading.of("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n" + body, limits: limits)
    }

    private func bodies(_ reading: HTTPReading) -> [String] {
        reading.requests.map { $0.split(separator: "] ", maxSplits: 1).dropFirst().joined() }
    }

    @Test func `a body ends after its length`() {
        let reading = HTTPReading.of("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
        #expect(bodies(reading) == ["hello"])
        #expect(reading.refusal == nil)
    }

    @Test func `a length of zero is no body`() {
        let reading = HTTPReading.of("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 000\r\n\r\n")
        #expect(bodies(reading) == [""])
    }

    @Test(arguments: [
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("0\r\n\r\n", ""),
        ("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello"),
        ("00005\r\nhello\r\n000\r\n\r\n", "hello"),
        ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("5;name=value;q=\"a;b\"\r\nhello\r\n0;last\r\n\r\n", "hello"),
        ("5 \t; name\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5;a = b ; c=\"\\\"é\\\\\" ;d\r\nhello\r\n0;x=\"\"\r\n\r\n", "hello"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
        ("5\r\nhello\r\n0\r\nTrailer: x\r\nOther:\r\n\r\n", "hello"),
    ])
    func `a chunked body is joined`(text: String, body: String) {
        let reading = chunked(text)
        #expect(bodies(reading) == [body])
        #expect(reading.refusal == nil)
    }

    @Test(arguments: [
        "\r\nhello", ";a\r\n", "5\nhello", "5\rhello", "5\r\nhello\n0\r\n\r\n", "5\r\nhello0\r\n\r\n",
        "5\r\nhel\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n", "5x\r\nhello", "0x5\r\nhello", "-5\r\nhello", " 5\r\nhello", "+5\r\nhello",
        "5;\r\nhello", "5; \r\nhello", "5;=a\r\nhello", "5;a=\r\nhello", "5;a= \r\nhello", "5;a;\r\nhello",
        "5;a \r\nhello", "5;a b\r\nhello", "5;a=b \r\nhello", "5;a=b c\r\nhello", "5;a=b\"c\"\r\nhello",
        "5;a=\"b\r\nhello", "5;a=\"b\\\"\r\nhello", "5;a=\"b\"c\r\nhello", "5;a=\"b\" \r\nhello", "5;\"a\"\r\nhello",
        "5;a=\"\\\u{7}\"\r\nhello", "5,a\r\nhello", "5;a:b\r\nhello",
        "5;a\nb\r\nhello", "5;a\rb\r\nhello", "5;a\u{0}\r\nhello", "00000000000000005\r\nhello\r\n0\r\n\r\n",
        "0\r\n x: y\r\n\r\n", "0\r\nx y: z\r\n\r\n", "0\r\nnothing\r\n\r\n", "0\r\n: y\r\n\r\n", "0\r\nx: y\n\r\n",
        "0\r\n\r\r",
    ])
    func `a malformed chunk is refused`(text: String) {
        let reading = chunked(text)
        #expect(reading.requests.isEmpty)
        #expect(reading.refusal?.status == .badRequest)
    }

    @Test func `a body of exactly the limit is read and a longer one is refused`() {
        var limits = HTTPLimits()
        limits.bodyBytesMax = 10
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: "
        #expect(bodies(HTTPReading.of(head + "10\r\n\r\n0123456789", limits: limits)) == ["0123456789"])
        #expect(HTTPReading.of(head + "11\r\n\r\n", limits: limits).refusal?.status == .contentTooLarge)
        #expect(bodies(chunked("5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", limits: limits)) == ["0123456789"])
        #expect(chunked("5\r\n01234\r\n6\r\n", limits: limits).refusal?.status == .contentTooLarge)
        #expect(chunked("FFFFFFFFFFFFFFFF\r\n", limits: limits).refusal?.status == .contentTooLarge)
    }

    @Test func `extensions and trailers have one limit for the whole body`() {
        var limits = HTTPLimits()
        limits.chunkExtensionBytesMax = 8
        limits.trailerBytesMax = 8
        #expect(bodies(chunked("1;abc\r\nx\r\n0\r\na: b\r\n\r\n", limits: limits)) == ["x"])
        #expect(chunked("1;abc\r\nx\r\n1;abcd\r\nx\r\n", limits: limits).refusal?.status == .badRequest)
        #expect(chunked("0\r\na: b\r\nc: d\r\n\r\n", limits: limits).refusal?.status == .requestHeaderFieldsTooLarge)
    }

    @Test func `a peer that waits for 100 Continue gets it once`() {
        var connection = HTTPConnection()
        let limits = HTTPLimits()
        let head = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"
        guard case .sendContinue = connection.receiveAdmitting(Array(head.utf8), limits: limits) else {
            Issue.record("no 100 Continue")
            return
        }
        #expect(connection.deadline == .body)
        guard case .wait = connection.receive(Array("a".utf8).span, limits: limits) else {
            Issue.record("a second action for one head")
            return
        }
        guard case .request(let request) = connection.receive(Array("b".utf8).span, limits: limits) else {
            Issue.record("no request")
            return
        }
        #expect(request.body == Array("ab".utf8))
    }

    @Test(arguments: [
        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\na",
        "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    ])
    func `a peer that does not wait, or cannot, gets no 100 Continue`(text: String) {
        var connection = HTTPConnection()
        guard case .wait = connection.receiveAdmitting(Array(text.utf8), limits: HTTPLimits()) else {
            Issue.record("an action for a request that is not complete")
            return
        }
        #expect(connection.deadline == .body)
    }

    @Test func `a body in many small chunks takes time in proportion to its size`() throws {
        var limits = HTTPLimits()
        limits.bodyBytesMax = 300_000
        let body = String(repeating: "1\r\nx\r\n", count: 300_000) + "0\r\n\r\n"
        let text = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + body
        #expect(try oneRequest(text, limits: limits).body.count == 300_000)
    }
}
