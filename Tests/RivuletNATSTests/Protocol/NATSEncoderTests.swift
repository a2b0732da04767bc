import RivuletNATS
import Testing

@Suite struct NATSEncoderTests {
    private func text(_ write: (inout [UInt8]) -> Void) -> String {
        var bytes: [UInt8] = []
        write(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `publishes, subscriptions and checks have their exact bytes`() {
        #expect(text { NATSEncoder.publish("a.b", payload: [0x78], into: &$0) } == "PUB a.b 1\r\nx\r\n")
        #expect(text { NATSEncoder.publish("a", reply: "r", payload: [], into: &$0) } == "PUB a r 0\r\n\r\n")
        let headers: NATSHeaders = NATSHeaders(["A": "1"])
        #expect(
            text { NATSEncoder.publish("a", reply: "r", headers: headers, payload: [0x78], into: &$0) }
                == "HPUB a r 18 19\r\nNATS/1.0\r\nA: 1\r\n\r\nx\r\n"
        )
        #expect(text { NATSEncoder.subscribe("a.*", as: 3, into: &$0) } == "SUB a.* 3\r\n")
        #expect(text { NATSEncoder.unsubscribe(3, into: &$0) } == "UNSUB 3\r\n")
        #expect(text { NATSEncoder.ping(into: &$0) } == "PING\r\n")
        #expect(text { NATSEncoder.pong(into: &$0) } == "PONG\r\n")
    }

    @Test func `a connect has only the given secrets`() {
        var options = NATSConnectOptions(name: "rivulet \"a\"")
        options.user = "u"
        options.password = "p"
        #expect(
            text { NATSEncoder.connect(options, into: &$0) } == """
                CONNECT {"verbose":false,"pedantic":false,"tls_required":false,"name":"rivulet \\"a\\"","lang":"swift",\
                "version":"1","protocol":1,"headers":true,"no_responders":true,"user":"u","pass":"p"}\r

                """
        )
    }

    @Test func `headers that were written are read again`() throws {
        let headers = NATSHeaders(["Nats-Expected-Last-Subject-Sequence": "12", "X": "a: b"])
        let read = try NATSHeaders(parsing: headers.bytes[...])
        #expect(read == headers)
        #expect(read.number("Nats-Expected-Last-Subject-Sequence") == 12)
        #expect(read["x"] == nil)
    }
}
