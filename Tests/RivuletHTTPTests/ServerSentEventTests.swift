// Owns the tests of event stream bytes.

import RivuletHTTP
import Testing

@Suite struct ServerSentEventTests {
    private func text(_ event: ServerSentEvent) -> String {
        var output: [UInt8] = []
        event.append(to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `an event has its name, id and data in this order and an empty line`() {
        let event = ServerSentEvent(event: "change", id: "k3.7.0", data: Array("{\"a\":1}".utf8))
        #expect(text(event) == "event: change\nid: k3.7.0\ndata: {\"a\":1}\n\n")
    }

    @Test func `name and id may be missing`() {
        #expect(text(ServerSentEvent(data: Array("x".utf8))) == "data: x\n\n")
        #expect(text(ServerSentEvent(data: [])) == "data: \n\n")
    }

    @Test(arguments: [
        ("a\nb", "data: a\ndata: b\n\n"), ("a\r\nb", "data: a\ndata: b\n\n"), ("a\rb", "data: a\ndata: b\n\n"),
        ("a\n\nb", "data: a\ndata: \ndata: b\n\n"), ("a\n", "data: a\ndata: \n\n"), ("\r", "data: \ndata: \n\n"),
        ("a\n\rb", "data: a\ndata: \ndata: b\n\n"), (" a", "data:  a\n\n"), ("é", "data: é\n\n"),
    ])
    func `each line of the data has its own field`(data: String, expected: String) {
        #expect(text(ServerSentEvent(data: Array(data.utf8))) == expected)
    }

    @Test func `name and id cannot end their line`() {
        let event = ServerSentEvent(event: "a\nb", id: "1\r2\u{0}", data: [])
        #expect(text(event) == "event: ab\nid: 12\ndata: \n\n")
    }

    @Test(arguments: 0..<20)
    func `a line end is found at any offset`(offset: Int) {
        let before = String(repeating: "é", count: offset / 2) + String(repeating: "\u{7F}", count: offset % 2)
        #expect(text(ServerSentEvent(data: Array((before + "\nz").utf8))) == "data: \(before)\ndata: z\n\n")
        #expect(text(ServerSentEvent(id: before + "\n1", data: [])) == "id: \(before)1\ndata: \n\n")
        #expect(text(ServerSentEvent(data: Array((before + "\tz").utf8))) == "data: \(before)\tz\n\n")
    }

    @Test func `comments and the reconnection time end in an empty line`() {
        var output: [UInt8] = []
        ServerSentEvent.append(comment: "", to: &output)
        ServerSentEvent.append(comment: "hi\n", to: &output)
        ServerSentEvent.append(retryMilliseconds: 1_500, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == ":\n\n: hi\n\nretry: 1500\n\n")
    }
}
