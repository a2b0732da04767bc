import Testing

@testable import RivuletTesting

@Suite struct AnswerBodyTests {
    private func body(_ fields: String = "Transfer-Encoding: chunked") throws -> AnswerBody {
        AnswerBody(of: try #require(TestAnswer(head: Array("HTTP/1.1 200 OK\r\n\(fields)".utf8))))
    }

    private func content(_ text: String, in pieceBytes: Int) throws -> (text: String, isCut: Bool) {
        var (body, content) = (try body(), [UInt8]())
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
            content += try body.content(of: bytes[start..<min(start + pieceBytes, bytes.count)])
        }
        return (String(decoding: content, as: UTF8.self), body.isCut)
    }

    @Test(arguments: 1...20 as ClosedRange<Int>)
    func `chunks are read from pieces of any size`(pieceBytes: Int) throws {
        let whole = try content("3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n", in: pieceBytes)
        #expect(whole.text == "abc0123456789abcdef")
        #expect(!whole.isCut)
        let cut = try content("3\r\nabc\r\n10\r\n01234", in: pieceBytes)
        #expect(cut.text == "abc01234")
        #expect(cut.isCut)
    }

    @Test(arguments: ["3\r\nabc\r\n", "0\r\n", "0\r\n\r"])
    func `a body without the end of its last chunk is reported as cut`(text: String) throws {
        let isCut = try content(text, in: 100).isCut
        #expect(isCut)
    }

    @Test(arguments: [
        "x\r\n", "\r\n", "+3\r\n", "3;a=b\r\n", "3\r\nabcd\r\n", "0\r\n\r\n0\r\n\r\n", "0123456789abcdef0",
        "0\r\na: b\r\n\r\n",
    ])
    func `malformed framing is an error`(text: String) {
        #expect(throws: TestClientError.self) { try content(text, in: 100) }
        #expect(throws: TestClientError.self) { try content(text, in: 1) }
    }

    @Test func `a body without chunks is its bytes as they are`() throws {
        var body = try body("Content-Length: 3")
        #expect(try body.content(of: Array("3\r\n".utf8)) == Array("3\r\n".utf8))
        #expect(!body.isCut)
    }
}
