import RivuletNATS
import SeededRandom
import Testing

@Suite struct NATSParserTests {
    private static let transcript =
        "INFO {\"server_id\":\"N1\",\"version\":\"2.15.1\",\"max_payload\":1000,\"headers\":true,\"nonce\":\"x\"} \r\n"
        + "+OK\r\nPING\r\nmsg a.b 7 3\r\none\r\nMSG a\t8 _I.1 0\r\n\r\n"
        + "HMSG a 9 r 38 40\r\nNATS/1.0\r\nA: 1\r\nB:  two words \r\nA:\r\n\r\nok\r\n"
        + "HMSG b 9 30 30\r\nNATS/1.0 404 Message Not Fd\r\n\r\n\r\n".replacing("30 30", with: "31 31")
        + "MSG c 1 4\r\n\r\n\r\n\r\nPONG\r\n-ERR 'Authorization Violation'\r\n"

    private static let messages: [NATSServerMessage] = {
        var info = NATSServerInfo()
        (info.serverID, info.version, info.maxPayloadBytes) = ("N1", "2.15.1", 1_000)
        (info.hasHeaders, info.nonce) = (true, "x")
        return [
            .info(info), .ok, .ping,
            .message(NATSMessage(subject: "a.b", subscription: 7, payload: Array("one".utf8))),
            .message(NATSMessage(subject: "a", subscription: 8, reply: "_I.1", payload: [])),
            .message(
                NATSMessage(
                    subject: "a",
                    subscription: 9,
                    reply: "r",
                    headers: NATSHeaders(["A": "1", "B": "two words", "A": ""]),
                    payload: Array("ok".utf8)
                )
            ),
        ]
    }()

    private func parse(_ parts: [[UInt8]]) throws -> [NATSServerMessage] {
        var parser = NATSParser()
        var messages: [NATSServerMessage] = []
        for part in parts {
            parser.append(part.span)
            while let message = try parser.next() { messages.append(message) }
        }
        return messages
    }

    @Test func `a transcript has its messages`() throws {
        let messages = try parse([Array(Self.transcript.utf8)])
        #expect(messages.count == 10)
        #expect(Array(messages.prefix(6)) == Self.messages)
        guard messages.count == 10, case .message(let notFound) = messages[6] else { return }
        #expect(notFound.headers.status == 404)
        #expect(notFound.headers.description == "Message Not Fd")
        #expect(
            messages[7] == .message(NATSMessage(subject: "c", subscription: 1, payload: Array("\r\n\r\n".utf8)))
        )
        #expect(messages[8...] == [.pong, .error("Authorization Violation")])
    }

    @Test func `a transcript that is split at any byte has the same messages`() throws {
        let bytes = Array(Self.transcript.utf8)
        let whole = try parse([bytes])
        for index in 0...bytes.count {
            #expect(try parse([Array(bytes[..<index]), Array(bytes[index...])]) == whole)
        }
        #expect(try parse(bytes.map { [$0] }) == whole)
    }

    @Test(
        arguments: [
            "MSG a 1\r\n", "MSG a 1 2 3 4\r\n", "MSG a x 1\r\n", "MSG a 1 -1\r\n", "MSG a 1 1\r\nab\r\n",
            "HMSG a 1 5 4\r\n", "HMSG a 1 4 4\r\n\r\n\r\n\r\n", "HMSG a 1 12 12\r\nNATS/2.0\r\n\r\n\r\n",
            "HMSG a 1 15 15\r\nNATS/1.0\r\nA\r\n\r\n\r\n", "PING\n", "INFO {\r\n", "INFO []\r\n",
            "MSG a 1 9999999999999999999\r\n", "HMSG a 1 17 17\r\nNATS/1.0\r\nA:\rb\r\n\r\n\r\n",
        ]
    )
    func `bytes that are not the protocol are refused`(_ text: String) throws {
        let error = #expect(throws: NATSProtocolError.self) { try parse([Array(text.utf8)]) }
        guard case .malformed = try #require(error) else {
            Issue.record("\(text): \(String(describing: error))")
            return
        }
    }

    @Test func `an unknown operation is refused with its name`() {
        #expect(throws: NATSProtocolError.unknownOperation("HTTP/1.1")) {
            try parse([Array("HTTP/1.1 400 Bad Request\r\n".utf8)])
        }
    }

    @Test func `a line is refused beyond its limit, also before its end`() throws {
        let most = [UInt8](repeating: 0x41, count: NATSParser.lineBytesMax)
        #expect(throws: NATSProtocolError.unknownOperation(String(repeating: "A", count: 32))) {
            try parse([most, Array("\r\n".utf8)])
        }
        #expect(throws: NATSProtocolError.lineTooLong(limitBytes: NATSParser.lineBytesMax)) {
            try parse([most, Array("A\r\n".utf8)])
        }
        #expect(throws: NATSProtocolError.lineTooLong(limitBytes: NATSParser.lineBytesMax)) {
            try parse([most, Array("AA".utf8)])
        }
    }

    @Test func `a message is refused beyond its limit, before its content`() {
        let most = NATSParser.messageBytesMax
        #expect(throws: NATSProtocolError.messageTooLarge(bytes: most + 1, limitBytes: most)) {
            try parse([Array("MSG a 1 \(most + 1)\r\n".utf8)])
        }
    }

    @Test func `damaged bytes never stop the program`() {
        var random = SeededGenerator(seed: 25)
        let bytes = Array(Self.transcript.utf8)
        var refused = 0
        for _ in 0..<2_000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = damaged.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<3, using: &random) {
                case 0: damaged[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: damaged.remove(at: index)
                default: damaged.insert(Array("\r\n :0aM".utf8).randomElement(using: &random) ?? 0, at: index)
                }
            }
            let middle = Int.random(in: 0...damaged.count, using: &random)
            do {
                _ = try parse([Array(damaged[..<middle]), Array(damaged[middle...])])
            } catch {
                refused += 1
            }
        }
        #expect(refused > 500)
    }

    @Test func `versions are compared by number, and a pre-release is earlier`() {
        #expect(NATSVersion("2.15.1") == .least)
        #expect(NATSVersion("2.9.10").map { $0 < .least } == true)
        #expect(NATSVersion("2.15.1-RC.1").map { $0 < .least } == true)
        #expect(NATSVersion("3.0.0-dev").map { $0 > .least } == true)
        for text in ["", "2.15", "v2.15.1", "2.15.x"] { #expect(NATSVersion(text) == nil) }
    }
}
