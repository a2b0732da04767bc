// Checks the client that the fields of trusted proxies name.

import RivuletEventLoop
import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct ClientAddressTests {
    private static let proxies = ["10.0.0.0/8", "fd00::/8", "127.0.0.1"]

    /// The client of a request from 10.0.0.1, and "over TLS" if it is.
    private func client(forwarded: [String] = [], forwardedFor: [String] = []) throws -> String {
        let proxies = try AddressList(Self.proxies)
        let client = ClientAddress(
            forwarded: forwarded,
            forwardedFor: forwardedFor,
            from: try #require(PeerAddress.IP("10.0.0.1")),
            isTrusted: proxies.contains
        )
        return "\(client.ip)" + (client.usesTLS ? " over TLS" : "")
    }

    @Test(
        arguments: [
            // One proxy.
            (["203.0.113.7"], "203.0.113.7"), (["203.0.113.7:4711"], "203.0.113.7"),
            ([" 203.0.113.7\t"], "203.0.113.7"),
            (["2001:db8::7"], "2001:db8::7"), (["[2001:db8::7]"], "2001:db8::7"),
            (["[2001:db8::7]:4711"], "2001:db8::7"),
            (["2001:DB8:0:0::7"], "2001:db8::7"), (["::ffff:203.0.113.7"], "203.0.113.7"),
            (["[::ffff:203.0.113.7]:80"], "203.0.113.7"),
            // The nearest address that is no trusted proxy, or the farthest one.
            (["203.0.113.7, 10.0.0.2"], "203.0.113.7"), (["203.0.113.7,10.0.0.2,fd00::1"], "203.0.113.7"),
            (["198.51.100.1, 203.0.113.7"], "203.0.113.7"), (["203.0.113.7, ::ffff:10.0.0.2"], "203.0.113.7"),
            (["10.0.0.3, 10.0.0.2"], "10.0.0.3"), (["198.51.100.1, 10.0.0.9, 203.0.113.7, 10.0.0.2"], "203.0.113.7"),
            // Several lines are one list.
            (["203.0.113.7", "10.0.0.2"], "203.0.113.7"), (["198.51.100.1", "203.0.113.7, 10.0.0.2"], "203.0.113.7"),
            (["203.0.113.7", "", "10.0.0.2"], "203.0.113.7"),
            // Empty elements do not count. Source: RFC 9110 section 5.6.1.2.
            (["203.0.113.7,"], "203.0.113.7"), ([",203.0.113.7, ,\t,10.0.0.2,,"], "203.0.113.7"),
            // The text of the client is not read.
            (["no address, 203.0.113.7"], "203.0.113.7"), (["\", 203.0.113.7"], "203.0.113.7"),
            (["unknown,203.0.113.7,10.0.0.2"], "203.0.113.7"), (["203.0.113.7", "x", "203.0.113.8"], "203.0.113.8"),
            // Anything else is the peer.
            ([], "10.0.0.1"), ([""], "10.0.0.1"), ([" , "], "10.0.0.1"), (["unknown"], "10.0.0.1"),
            (["203.0.113.7, unknown"], "10.0.0.1"), (["203.0.113.7, unknown, 10.0.0.2"], "10.0.0.1"),
            (["_hidden"], "10.0.0.1"), (["client.example"], "10.0.0.1"), (["203.0.113.7;10.0.0.2"], "10.0.0.1"),
            (["203.0.113.7 10.0.0.2"], "10.0.0.1"), (["203.0.113.256"], "10.0.0.1"), (["203.0.113"], "10.0.0.1"),
            (["203.0.113.07"], "10.0.0.1"), (["0x7f.1"], "10.0.0.1"), (["3405803783"], "10.0.0.1"),
            (["203.0.113.7:"], "10.0.0.1"), (["203.0.113.7:123456"], "10.0.0.1"), (["203.0.113.7:x"], "10.0.0.1"),
            (["203.0.113.7:-1"], "10.0.0.1"), (["[203.0.113.7]"], "10.0.0.1"), (["[2001:db8::7"], "10.0.0.1"),
            (["2001:db8::7]"], "10.0.0.1"), (["[2001:db8::7]80"], "10.0.0.1"), (["[]"], "10.0.0.1"),
            (["[2001:db8::7]:"], "10.0.0.1"), (["fe80::1%eth0"], "10.0.0.1"), (["::"], "10.0.0.1"),
            (["203.0.113.7, ::"], "10.0.0.1"), (["\"203.0.113.7\""], "10.0.0.1"), (["for=203.0.113.7"], "10.0.0.1"),
            (["203.0.113.7\u{FFFD}"], "10.0.0.1"), ([":"], "10.0.0.1"), (["[", "10.0.0.2"], "10.0.0.1"),
        ] as [([String], String)]
    )
    func `X-Forwarded-For names the client`(_ lines: [String], _ text: String) throws {
        #expect(try client(forwardedFor: lines) == text)
    }

    @Test(
        arguments: [
            ("for=203.0.113.7", "203.0.113.7"), ("For=203.0.113.7", "203.0.113.7"),
            ("for=\"203.0.113.7\"", "203.0.113.7"),
            ("for=\"203.0.113.7:4711\"", "203.0.113.7"), ("for=\"203.0.113.7:_http\"", "203.0.113.7"),
            ("for=\"[2001:db8::7]\"", "2001:db8::7"), ("for=\"[2001:db8::7]:4711\"", "2001:db8::7"),
            ("FOR=\"[2001:DB8::7]:_a.b-c\"", "2001:db8::7"), ("for=\"[::ffff:203.0.113.7]\"", "203.0.113.7"),
            ("for=\"203.0.113.\\7\"", "203.0.113.7"),
            // The other parameters of the same element.
            ("for=203.0.113.7;proto=https", "203.0.113.7 over TLS"),
            ("proto=HTTPS;for=203.0.113.7", "203.0.113.7 over TLS"),
            ("for=203.0.113.7;proto=http", "203.0.113.7"), ("for=203.0.113.7;proto=\"https\"", "203.0.113.7 over TLS"),
            ("for=203.0.113.7; proto=https", "203.0.113.7 over TLS"), (";for=203.0.113.7;", "203.0.113.7"),
            ("by=10.0.0.1;for=203.0.113.7;host=a.example;x=y", "203.0.113.7"),
            ("for=203.0.113.7;host=\"a,for=198.51.100.1\"", "203.0.113.7"),
            ("for=203.0.113.7;host=\"a\\\",for=198.51.100.1;by=\\\"\"", "203.0.113.7"),
            ("for=203.0.113.7;host=\"a\\\\\"", "203.0.113.7"), ("for=203.0.113.7;host=\"\"", "203.0.113.7"),
            // The elements of several proxies.
            ("for=203.0.113.7, for=10.0.0.2", "203.0.113.7"), ("for=198.51.100.1,for=203.0.113.7", "203.0.113.7"),
            ("for=203.0.113.7;proto=https, for=10.0.0.2;proto=http", "203.0.113.7 over TLS"),
            ("for=203.0.113.7;proto=http,for=10.0.0.2;proto=https", "203.0.113.7"),
            ("for=203.0.113.7,for=\"[fd00::1]:80\"", "203.0.113.7"), ("for=10.0.0.3,for=10.0.0.2", "10.0.0.3"),
            (",for=203.0.113.7,, for=10.0.0.2 ,", "203.0.113.7"),
            // The text of the client is not read.
            ("for=\", for=203.0.113.7", "203.0.113.7"), ("for=\"a, for=203.0.113.7;host=\"b\"", "203.0.113.7"),
            ("nothing, for=203.0.113.7", "203.0.113.7"), ("for=_a, for=203.0.113.7, for=10.0.0.2", "203.0.113.7"),
            ("for=\"\\\", for=203.0.113.7", "203.0.113.7"),
            // Anything else is the peer.
            ("for=unknown", "10.0.0.1"), ("for=Unknown", "10.0.0.1"), ("for=_hidden", "10.0.0.1"),
            ("for=\"_hidden:80\"", "10.0.0.1"), ("for=203.0.113.7, for=unknown", "10.0.0.1"),
            ("for=203.0.113.7, for=_a, for=10.0.0.2", "10.0.0.1"), ("for=203.0.113.7,proto=https", "10.0.0.1"),
            ("proto=https", "10.0.0.1"), ("203.0.113.7", "10.0.0.1"), ("for", "10.0.0.1"), ("for=", "10.0.0.1"),
            ("for=\"\"", "10.0.0.1"), ("=203.0.113.7", "10.0.0.1"), ("for=203.0.113.7:80", "10.0.0.1"),
            ("for=[2001:db8::7]", "10.0.0.1"), ("for=\"2001:db8::7\"", "10.0.0.1"), ("for=2001:db8::7", "10.0.0.1"),
            ("for=\"[203.0.113.7]\"", "10.0.0.1"), ("for=\"[2001:db8::7]x\"", "10.0.0.1"),
            ("for=\"203.0.113.7:\"", "10.0.0.1"), ("for=\"203.0.113.7:_\"", "10.0.0.1"),
            ("for=\"203.0.113.7:123456\"", "10.0.0.1"), ("for=\"[::]\"", "10.0.0.1"),
            ("for=203.0.113.7;for=203.0.113.7", "10.0.0.1"), ("for=203.0.113.7;proto=https;proto=http", "10.0.0.1"),
            ("for =203.0.113.7", "10.0.0.1"), ("for= 203.0.113.7", "10.0.0.1"),
            ("for=203.0.113.7 proto=https", "10.0.0.1"),
            ("for=203.0.113.7;proto", "10.0.0.1"), ("for=203.0.113.7;host=\"a", "10.0.0.1"),
            ("for=203.0.113.7;host=a\"", "10.0.0.1"), ("for=203.0.113.7;host=\"a\\\"", "10.0.0.1"),
            ("for=203.0.113.7;host=\"a\"b", "10.0.0.1"), ("for=\"203.0.113.7", "10.0.0.1"), ("\"", "10.0.0.1"),
            ("\\\"", "10.0.0.1"), (";", "10.0.0.1"),
        ] as [(String, String)]
    )
    func `Forwarded names the client`(_ line: String, _ text: String) throws {
        #expect(try client(forwarded: [line]) == text)
    }

    @Test func `several lines of Forwarded are one list`() throws {
        let lines = ["for=198.51.100.1", "for=203.0.113.7;proto=https", "for=10.0.0.2"]
        #expect(try client(forwarded: lines) == "203.0.113.7 over TLS")
        // A quoted string does not continue in the next line.
        #expect(try client(forwarded: ["for=\"", "for=203.0.113.7"]) == "203.0.113.7")
        #expect(try client(forwarded: ["for=203.0.113.7;host=\"a", "b\""]) == "10.0.0.1")
    }

    @Test(
        arguments: [
            ("for=203.0.113.7;proto=https", "203.0.113.7", "203.0.113.7 over TLS"),
            ("for=\"[2001:db8::7]:1\"", "2001:db8::7", "2001:db8::7"),
            ("for=203.0.113.7, for=10.0.0.2", "203.0.113.7", "203.0.113.7"),
            // The proxy adds to one of the fields only, and the other one comes from the client.
            ("for=198.51.100.1", "203.0.113.7", "10.0.0.1"),
            ("for=203.0.113.7", "198.51.100.1, 203.0.113.8", "10.0.0.1"),
            ("for=unknown", "203.0.113.7", "10.0.0.1"), ("for=203.0.113.7", "unknown", "10.0.0.1"),
            ("for=_a", "unknown", "10.0.0.1"), ("", "203.0.113.7", "10.0.0.1"), ("for=203.0.113.7", "", "10.0.0.1"),
        ]
    )
    func `both fields must name the same client`(_ forwarded: String, _ forwardedFor: String, _ text: String) throws {
        #expect(try client(forwarded: [forwarded], forwardedFor: [forwardedFor]) == text)
    }

    @Test func `the number of proxies is limited`() throws {
        let hops = Array(repeating: "10.0.0.2", count: ClientAddress.hopsMax - 1)
        #expect(try client(forwardedFor: [(["203.0.113.7"] + hops).joined(separator: ",")]) == "203.0.113.7")
        #expect(try client(forwardedFor: ["203.0.113.7", "10.0.0.2"] + hops) == "10.0.0.1")
        #expect(try client(forwarded: ["for=203.0.113.7"] + hops.map { "for=\($0)" }) == "203.0.113.7")
        #expect(try client(forwarded: ["for=203.0.113.7,for=10.0.0.2"] + hops.map { "for=\($0)" }) == "10.0.0.1")
        // The elements of the client are not counted.
        let text = String(repeating: "1,", count: 5_000) + "203.0.113.7"
        #expect(try client(forwardedFor: [text]) == "203.0.113.7")
    }

    @Test(
        arguments: [
            ("203.0.113.7", "203.0.113.7"), ("::ffff:203.0.113.7", "203.0.113.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::", "2001:db8:1:2::"), ("2001:db8:1:3::1", "2001:db8:1:3::"), ("127.0.0.1", "127.0.0.1"),
        ]
    )
    func `limits count an IPv4 address, or a network of IPv6`(_ address: String, _ key: String) throws {
        #expect("\(ClientAddress(try #require(PeerAddress.IP(address))).limitKey)" == key)
    }
}

@Suite struct ClientOfARequestTests {
    /// The client of a request with these lines from a peer, and "over TLS" if its cookies are `Secure`.
    private func client(_ lines: [String], from peer: String, trusting proxies: [String]) throws -> String {
        var options = ServerOptions()
        options.trustedProxies = proxies
        let doors = try Doors(options, machineName: "")
        var http = HTTPConnection()
        let text = (["GET / HTTP/1.1", "Host: localhost"] + lines).joined(separator: "\r\n") + "\r\n\r\n"
        guard case .request(let request) = http.receive(Array(text.utf8).span, limits: HTTPLimits()) else {
            throw ServerError("no request: \(text)")
        }
        let id = ConnectionID(slot: 0, generation: 1)
        let connection = ClientConnection(id, from: try #require(PeerAddress.IP(peer)))
        let address = doors.clientAddress(of: request, on: connection)
        return "\(address)" + (doors.isForwardedFromTLS(request, on: connection) ? " over TLS" : "")
    }

    private static let fields = [
        ["X-Forwarded-For: 203.0.113.7", "X-Forwarded-Proto: https"], ["Forwarded: for=203.0.113.7;proto=https"],
        ["FORWARDED: for=203.0.113.7", "x-forwarded-FOR: 203.0.113.7", "X-Forwarded-Proto: https"],
    ]

    @Test(arguments: fields) func `the fields of a trusted proxy are believed`(_ lines: [String]) throws {
        #expect(try client(lines, from: "10.0.0.1", trusting: ["10.0.0.0/8"]) == "203.0.113.7 over TLS")
        #expect(try client(lines, from: "::ffff:10.0.0.1", trusting: ["10.0.0.0/8"]) == "203.0.113.7 over TLS")
        #expect(try client(lines, from: "fd00::1", trusting: ["10.0.0.0/8", "fd00::/8"]) == "203.0.113.7 over TLS")
    }

    @Test(arguments: fields) func `the fields of other peers have no effect`(_ lines: [String]) throws {
        #expect(try client(lines, from: "11.0.0.1", trusting: ["10.0.0.0/8"]) == "11.0.0.1")
        #expect(try client(lines, from: "127.0.0.1", trusting: []) == "127.0.0.1")
        #expect(try client(lines, from: "2001:db8::1", trusting: ["0.0.0.0/0"]) == "2001:db8::1")
    }

    @Test func `X-Forwarded-Proto is stronger than Forwarded`() throws {
        let forwarded = "Forwarded: for=203.0.113.7;proto=https"
        for (line, text) in [("http", ""), ("https", " over TLS"), ("https, http", "")] {
            let lines = [forwarded, "X-Forwarded-Proto: \(line)"]
            #expect(try client(lines, from: "10.0.0.1", trusting: ["10.0.0.1"]) == "203.0.113.7" + text)
        }
        let two = [forwarded, "X-Forwarded-Proto: https", "X-Forwarded-Proto: https"]
        #expect(try client(two, from: "10.0.0.1", trusting: ["10.0.0.1"]) == "203.0.113.7")
    }

    @Test func `no field changes the host of a request`() throws {
        let doors = try Doors(ServerOptions(trustedProxies: ["0.0.0.0/0"]), machineName: "")
        for line in ["Forwarded: for=203.0.113.7;host=localhost", "X-Forwarded-Host: localhost"] {
            var http = HTTPConnection()
            let text = "GET / HTTP/1.1\r\nHost: evil.example\r\n\(line)\r\n\r\n"
            guard case .request(let request) = http.receive(Array(text.utf8).span, limits: HTTPLimits()),
                case .refuse(let refusal) = doors.verdict(on: request)
            else {
                Issue.record("not refused: \(line)")
                continue
            }
            #expect(refusal.problem.status == 421)
        }
    }
}

@Suite struct StreamAddressesTests {
    private func owner(_ slot: UInt32, loop: Int = 0) -> StreamAddresses.Owner {
        StreamAddresses.Owner(loop: loop, connection: ConnectionID(slot: slot, generation: 1))
    }

    private func client(_ text: String) throws -> ClientAddress {
        ClientAddress(try #require(PeerAddress.IP(text)))
    }

    @Test func `the streams of one address or network are counted over all loops`() throws {
        let addresses = StreamAddresses(streamsMax: 2)
        let (first, near, other) = try (client("2001:db8::1"), client("2001:db8::2"), client("2001:db8:0:1::1"))
        #expect(addresses.enter(first, owner(1)))
        #expect(addresses.enter(near, owner(1, loop: 1)))
        #expect(!addresses.enter(first, owner(2)))
        #expect(addresses.enter(other, owner(2)))
        addresses.leave(owner(3))
        #expect(!addresses.enter(near, owner(3)))
        addresses.leave(owner(1))
        addresses.leave(owner(1))
        #expect(addresses.enter(near, owner(3)))
        #expect(!addresses.enter(near, owner(4)))
    }
}
