// Owns the tests of response heads and outgoing chunks, byte by byte.

import RivuletHTTP
import Testing

@Suite struct HTTPResponseHeadTests {
    private func text(_ head: HTTPResponseHead, _ version: HTTPVersion = .http11, isKeepAlive: Bool = true) -> String {
        var output: [UInt8] = []
        head.append(to: &output, version: version, isKeepAlive: isKeepAlive)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `a head has its status line, date, fields, framing and empty line in this order`() {
        var output = Array("before".utf8)
        let fields = [HTTPField("ETag", "\"a\""), HTTPField("X", "")]
        let head = HTTPResponseHead(.ok, fields: fields, framing: .length(120))
        let framing = head.append(to: &output, date: Array("now".utf8))
        let expected = "beforeHTTP/1.1 200 OK\r\nDate: now\r\nETag: \"a\"\r\nX: \r\nContent-Length: 120\r\n\r\n"
        #expect(String(decoding: output, as: UTF8.self) == expected)
        #expect(framing == .length(120))
    }

    @Test func `a head of any size is written completely`() {
        let long = String(repeating: "é", count: 5_000)
        let fields = (0..<200).map { HTTPField("X-\($0)", long) }
        let head = HTTPResponseHead(HTTPStatus(431), fields: fields, framing: .length(.max))
        let lines = fields.map { "\($0.name): \(long)\r\n" }.joined()
        let status = "HTTP/1.1 431 Request Header Fields Too Large\r\n"
        let end = "Content-Length: 9223372036854775807\r\nConnection: close\r\n\r\n"
        #expect(text(head, isKeepAlive: false) == status + lines + end)
        #expect(text(HTTPResponseHead(HTTPStatus(431), framing: .length(.max)), isKeepAlive: false) == status + end)
    }

    @Test func `a head has Connection: close at the end, and keep-alive for HTTP 1_0`() {
        let head = HTTPResponseHead(.ok, framing: .length(0))
        #expect(text(head, isKeepAlive: false) == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        #expect(text(head, .http10) == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n")
    }

    @Test func `for HTTP 1_0 a chunked body becomes a body that ends with the connection`() {
        let head = HTTPResponseHead(.ok, framing: .chunked)
        #expect(text(head) == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(text(head, .http10) == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        var output: [UInt8] = []
        #expect(head.append(to: &output, version: .http10) == .untilClose)
    }

    @Test func `204 has no length and 304 may have one`() {
        #expect(text(HTTPResponseHead(.noContent, framing: .length(0))) == "HTTP/1.1 204 No Content\r\n\r\n")
        let unchanged = HTTPResponseHead(.notModified, framing: .length(5))
        #expect(text(unchanged) == "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n")
        #expect(HTTPStatus.notModified.forbidsBody && HTTPStatus.noContent.forbidsBody && !HTTPStatus.ok.forbidsBody)
    }

    @Test func `a value cannot split the response`() {
        let head = HTTPResponseHead(.ok, fields: [HTTPField("Location", "/a\r\nX: y\u{0}\u{7F}é\tb")], framing: .none)
        #expect(text(head) == "HTTP/1.1 200 OK\r\nLocation: /a  X: y  é\tb\r\n\r\n")
    }

    @Test func `an unknown status has an empty phrase`() {
        #expect(text(HTTPResponseHead(HTTPStatus(299), framing: .none)) == "HTTP/1.1 299 \r\n\r\n")
    }

    @Test func `a chunk has its size in hexadecimal`() {
        var output: [UInt8] = []
        HTTPChunk.append([UInt8](repeating: 0x61, count: 26), to: &output)
        HTTPChunk.append([], to: &output)
        output += HTTPChunk.end
        let expected = "1a\r\n" + String(repeating: "a", count: 26) + "\r\n0\r\n\r\n"
        #expect(String(decoding: output, as: UTF8.self) == expected)
    }

    @Test func `a chunked body is read back as it was written`() throws {
        var output = Array("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for count in [1, 15, 16, 255, 256, 70_000] {
            HTTPChunk.append([UInt8](repeating: 0x61, count: count), to: &output)
        }
        output += HTTPChunk.end
        #expect(try oneRequest(String(decoding: output, as: UTF8.self)).body.count == 70_543)
    }
}
