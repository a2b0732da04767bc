// Checks the pure parts of `rivulet doctor`; the tests from outside run it through proxies.

import RivuletServer
import Testing

@testable import RivuletCLI

@Suite struct DoctorTests {
    private static let output =
        "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/2 200 \r\nServer: nginx\r\nvary: a\r\nVary:  b\r\n\r\ndata: a\r\n\r\nb"

    @Test(arguments: 1...output.utf8.count)
    func `an answer is read in any pieces, without interim answers`(_ size: Int) {
        var answer = CurlAnswer()
        let bytes = Array(Self.output.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            answer.receive(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        #expect(answer.version == "HTTP/2")
        #expect(answer.status == 200)
        #expect(answer["server"] == "nginx")
        #expect(answer["vary"] == "a, b")
        #expect(answer["a"] == nil)
        #expect(answer.text == "data: a\r\n\r\nb")
    }

    @Test func `the doctor asks for each resource of operators`() {
        #expect(OperatorResources.paths == ["/metrics", "/v1/cluster", "/v1/revocations", "/v1/streams"])
    }

    @Test func `a long body is kept in part`() {
        var answer = CurlAnswer()
        answer.receive(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
        for _ in 0..<3 { answer.receive(Array(repeating: 0x61, count: CurlAnswer.bytesMax / 2)) }
        #expect(answer.body.count == CurlAnswer.bytesMax)
    }

    @Test func `a text from outside is one value of curl's configuration`() {
        let request = CurlRequest(
            url: "http://127.0.0.1/a\noutput = b",
            fields: [(name: "Authorization", value: #"Bearer "\"#)],
            body: ["\u{0}{\"a\":1}\r\n"]
        )
        let lines = request.configuration.split(separator: "\n")
        #expect(lines.contains(#"url = "http://127.0.0.1/aoutput = b""#))
        #expect(lines.contains(#"header = "Authorization: Bearer \"\\""#))
        #expect(lines.contains(#"data-raw = "{\"a\":1}""#))
        #expect(!lines.contains { $0.hasPrefix("output") })
    }

    @Test func `a fault names the line of the proxy that the answers name`() {
        let finding = DoctorFinding.fault("stream", "no event", .buffering)
        #expect(finding.line(server: "nginx/1.22.1").hasSuffix("at once. nginx: `proxy_buffering off;`"))
        #expect(finding.line(server: "Caddy").hasSuffix("at once. Caddy: `flush_interval -1`"))
        #expect(finding.line(server: nil).hasSuffix("nginx: `proxy_buffering off;`; Caddy: `flush_interval -1`"))
        #expect(finding.line(server: nil).hasPrefix("FAULT  stream: no event. Remedy: "))
    }
}
