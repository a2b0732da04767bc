// Checks the reading of W3C trace contexts.

import Testing

@testable import RivuletHTTP

@Suite struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let valid = "00-\(trace)-00f067aa0ba902b7-01"

    private func parse(_ text: String) -> TraceParent? { TraceParent(Array(text.utf8)[...]) }

    @Test func `the four fields of version 00 are read and written`() {
        #expect(parse(Self.valid)?.traceID == Self.trace)
        #expect(parse(Self.valid)?.text == Self.valid)
    }

    @Test func `a child has the same trace and flag, and a new parent id`() throws {
        let parent = try #require(parse(Self.valid))
        let child = parent.child()
        #expect(child != parent && child.traceID == Self.trace && child.text.hasSuffix("-01"))
        #expect(parse(child.text) == child)
    }

    @Test func `a new trace is valid and unique`() {
        let (first, second) = (TraceParent.random(), TraceParent.random())
        #expect(first.traceID != second.traceID && parse(first.text) == first && first.text.hasSuffix("-00"))
    }

    @Test func `only the flag sampled is passed on`() {
        #expect(parse("00-\(Self.trace)-00f067aa0ba902b7-ff")?.text.hasSuffix("-01") == true)
        #expect(parse("00-\(Self.trace)-00f067aa0ba902b7-fe")?.text.hasSuffix("-00") == true)
    }

    @Test(arguments: ["cc-\(trace)-00f067aa0ba902b7-01", "01-\(trace)-00f067aa0ba902b7-01-what-the-future-brings"])
    func `the fields of version 00 are read from a later version, too`(_ text: String) {
        #expect(parse(text)?.text == Self.valid)
    }

    @Test(
        arguments: [
            "", "00", "00-\(trace)-00f067aa0ba902b7", "00-\(trace)-00f067aa0ba902b7-0",
            "00-\(trace)-00f067aa0ba902b7-01-more",
            "00-\(trace)-00f067aa0ba902b7-01 ", "ff-\(trace)-00f067aa0ba902b7-01", "01-\(trace)-00f067aa0ba902b7-01.x",
            "0g-\(trace)-00f067aa0ba902b7-01", "00-\(trace.uppercased())-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-\(trace)-0000000000000000-01",
            "00-\(trace)-00F067AA0BA902B7-01", "00-\(trace)-00f067aa0ba902b7-0x", "00_\(trace)_00f067aa0ba902b7_01",
            "00-4bf92f3577b34da6-00f067aa0ba902b7-01", "\(valid),\(valid)",
        ]
    )
    func `anything else is ignored`(_ text: String) {
        #expect(parse(text) == nil)
    }

    @Test func `one traceparent line is a trace, several lines are none`() throws {
        func headers(_ lines: String...) throws -> HTTPHeaders {
            var connection = HTTPConnection()
            let text = "GET /a?b HTTP/1.1\r\nHost: x\r\n" + lines.map { "Traceparent: \($0)\r\n" }.joined() + "\r\n"
            let bytes = Array(text.utf8)
            guard case .request(let request) = connection.receive(bytes.span, limits: HTTPLimits()) else {
                throw HTTPError.malformed("no request")
            }
            return request.headers
        }
        #expect(try TraceParent(headers(Self.valid))?.traceID == Self.trace)
        #expect(try TraceParent(headers()) == nil)
        #expect(try TraceParent(headers(Self.valid, Self.valid)) == nil)
        #expect(try TraceParent(headers("", Self.valid)) == nil)
    }

    @Test(
        arguments: [
            ("GET /v1/apps/a%20b?x=/y HTTP/1.1", ["v1", "apps", "a b"]), ("GET http://x/a/b HTTP/1.1", ["a", "b"]),
            ("GET / HTTP/1.1", [""]),
        ]
    )
    func `the path is found again after the header lines`(_ line: String, _ segments: [String]) {
        var connection = HTTPConnection()
        let bytes = Array("\(line)\r\nHost: x\r\n\r\n".utf8)
        guard case .request(let request) = connection.receive(bytes.span, limits: HTTPLimits()) else {
            Issue.record("no request")
            return
        }
        #expect(request.headers.pathSegments == segments && request.pathSegments == segments)
    }
}
