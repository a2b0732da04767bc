import RivuletNATS
import SeededRandom
import Testing

@Suite struct NATSServerTests {
    @Test func `a list has hosts, ports and logins`() throws {
        let list = "nats://a, nats://u:p%40w@b:4223,c:1,nats://t0ken@[::1]:5,nats://[fd00::2]/"
        let servers = try NATSServer.list(list)
        #expect(
            servers == [
                NATSServer(host: "a", port: 4_222),
                NATSServer(host: "b", port: 4_223, login: .password(user: "u", password: "p@w")),
                NATSServer(host: "c", port: 1),
                NATSServer(host: "::1", port: 5, login: .token("t0ken")),
                NATSServer(host: "fd00::2", port: 4_222),
            ]
        )
        #expect(servers.map(\.description) == ["a:4222", "b:4223", "c:1", "[::1]:5", "[fd00::2]:4222"])
    }

    @Test func `a server that is named twice counts once`() throws {
        #expect(try NATSServer.list("a,nats://a:4222") == [NATSServer(host: "a", port: 4_222)])
    }

    @Test func `TLS is refused with the reason`() {
        #expect(throws: NATSServerError.tls) { try NATSServer.list("nats://a,tls://b") }
        #expect(
            NATSServerError.tls.description
                == "tls:// is not supported: the NATS client has no TLS. Use nats:// in a private network or a tunnel."
        )
    }

    @Test func `another scheme is refused`() {
        #expect(throws: NATSServerError.scheme("ws")) { try NATSServer.list("WS://a") }
    }

    @Test(
        arguments: [
            "", "a,", "nats://", "nats://:4222", "a:0", "a:65536", "a:x", "a b", "a/b", "::1", "[::1", "[::1]x",
            "nats://%4@a", "nats://u:%FF@a", "nats://@a",
        ]
    )
    func `an address that is not valid is refused`(_ text: String) {
        #expect(throws: NATSServerError.invalid) { try NATSServer.list(text) }
    }

    @Test func `a round over the servers has no pauses, and pauses between rounds grow to their limit`() {
        var list = NATSServerList(
            [NATSServer(host: "a", port: 1), NATSServer(host: "b", port: 1)],
            limits: NATSLimits()
        )
        var random = SeededGenerator(seed: 1)
        func round() -> Duration {
            let (first, second) = (list.nextAttempt(using: &random), list.nextAttempt(using: &random))
            #expect((first.server.host, second.server.host) == ("a", "b"))
            #expect(second.pause == .zero)
            return first.pause
        }
        #expect(round() == .zero)
        for most in [100, 200, 400, 800, 1_600, 2_000, 2_000] {
            let pause = round()
            #expect(pause >= .milliseconds(most / 2) && pause <= .milliseconds(most), "\(pause) of \(most) ms")
        }
        list.didLast()
        #expect(round() == .zero)
    }
}
