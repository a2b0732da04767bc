// Checks the equality of page origins, and the origins that are allowed.

import RivuletEventLoop
import Testing

@testable import RivuletServer

@Suite struct WebOriginTests {
    @Test(arguments: [
        ("http://a.example", "a.example"), ("http://a.example", "a.example:80"), ("http://a.example:80", "a.example"),
        ("https://a.example", "a.example"), ("https://a.example", "a.example:443"),
        ("https://a.example:443", "a.example:"),
        ("http://localhost:8080", "LOCALHOST:8080"), ("https://localhost:8080", "localhost:8080"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("http://localhost.:8080", "localhost.:8080"), ("HTTP://A.example", "a.EXAMPLE"),
    ])
    func `an origin matches the host and port of a request, whatever its scheme`(
        _ origin: String,
        _ host: String
    ) throws {
        #expect(try #require(WebOrigin(origin)).isOf(host: host))
    }

    @Test(arguments: [
        ("http://a.example", "b.example"), ("http://a.example", "a.example:8080"),
        ("http://a.example:8080", "a.example"),
        ("http://a.example", "a.example:443"), ("https://a.example", "a.example:80"),
        ("http://a.example:443", "a.example"),
        ("http://localhost:5173", "localhost:8080"), ("http://localhost:8080", "127.0.0.1:8080"),
        ("http://a.example", "a.example."),
        ("http://a.example", ""), ("capacitor://localhost", "localhost"), ("http://[::1]:8080", "[::1]"),
        ("http://a.example", "a.example:080a"),
    ])
    func `another host or port is another origin`(_ origin: String, _ host: String) throws {
        #expect(try !#require(WebOrigin(origin)).isOf(host: host))
    }

    @Test(arguments: [
        "null", "", "a.example", "://a", "http://", "http://a/", "http://a/b", "http://a?b", "http://u@a", "http://a:",
        "http://a:x", "http://a:65536",
        "http://a:123456", "http://a b", "http://a, http://b", "http://*.a", "http://a..b", "http://[::1", "http://[g]",
        "1http://a", "http://a\u{e9}",
        "http://a\r\nx",
    ])
    func `other text is no origin`(_ text: String) {
        #expect(WebOrigin(text) == nil)
    }
}

@Suite struct AllowedOriginsTests {
    private func grant(_ origin: String, _ entries: String...) throws -> AllowedOrigins.Grant? {
        try AllowedOrigins(entries).grant(for: try #require(WebOrigin(origin)))
    }

    @Test func `an exact entry is one origin, with its scheme and its port`() throws {
        #expect(try grant("http://localhost:5173", "http://localhost:5173") == .named)
        #expect(try grant("https://a.example", "https://A.example:443") == .named)
        #expect(try grant("capacitor://localhost", "capacitor://localhost") == .named)
        for other in ["https://localhost:5173", "http://localhost:5174", "http://localhost", "http://a.localhost:5173"]
        {
            #expect(try grant(other, "http://localhost:5173") == nil, "\(other)")
        }
        #expect(try grant("http://localhost:5173") == nil)
    }

    @Test func `a star stands for one label`() throws {
        #expect(try grant("https://x.example.com", "https://*.example.com") == .named)
        #expect(try grant("https://x.example.com:8443", "https://*.example.com:8443") == .named)
        for other in [
            "https://example.com", "https://y.x.example.com", "http://x.example.com", "https://x.example.com:444",
            "https://xexample.com",
            "https://x.example.com.evil.example",
        ] {
            #expect(try grant(other, "https://*.example.com") == nil, "\(other)")
        }
    }

    @Test func `a star alone stands for all origins, without credentials unless another entry names the origin`() throws
    {
        #expect(try grant("https://any.example", "*") == .anonymous)
        #expect(try grant("https://a.example", "*", "https://a.example") == .named)
        #expect(try grant("https://x.b.example", "https://*.b.example", "*") == .named)
    }

    @Test(arguments: [
        "null", "", "a.example", "https://a.example/", "https://a.example/app", "https://*", "https://a.*.example",
        "https://x*.example.com", "**",
        "*.example.com", "http://localhost:*",
    ])
    func `an entry that is no origin is refused in one line that names it`(_ entry: String) {
        let error = #expect(throws: ServerError.self) { try AllowedOrigins([entry]) }
        #expect(error?.description.contains("--allowed-origins has \"\(entry)\"") == true)
        #expect(error?.description.contains("\n") == false)
    }
}

@Suite struct AddressListTests {
    @Test func `an address is in a network if their first bits are equal`() throws {
        let list = try AddressList(["10.0.0.7", "10.1.0.0/16", "fd00::/8", "::1"])
        for address in ["10.0.0.7", "10.1.0.0", "10.1.255.255", "fd12::1", "::1", "::ffff:10.0.0.7"] {
            #expect(list.contains(try #require(PeerAddress.IP(address))), "\(address)")
        }
        for address in ["10.0.0.8", "10.2.0.0", "11.1.0.0", "fe00::1", "::2", "127.0.0.1"] {
            #expect(!list.contains(try #require(PeerAddress.IP(address))), "\(address)")
        }
        #expect(try AddressList(["0.0.0.0/0"]).contains(try #require(PeerAddress.IP("8.8.8.8"))))
        #expect(try !AddressList(["0.0.0.0/0"]).contains(try #require(PeerAddress.IP("2001:db8::1"))))
        #expect(try AddressList(["::/0"]).contains(try #require(PeerAddress.IP("2001:db8::1"))))
        #expect(try !AddressList([]).contains(try #require(PeerAddress.IP("127.0.0.1"))))
    }

    @Test(arguments: [
        "", "proxy", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "10.0.0.0/+8",
        "[::1]", "*",
    ])
    func `an entry that is no address and no network is refused in one line that names it`(_ entry: String) {
        let error = #expect(throws: ServerError.self) { try AddressList([entry]) }
        #expect(error?.description.contains("--trusted-proxies has \"\(entry)\"") == true)
    }
}

@Suite struct ServerAccessTests {
    @Test(arguments: ["127.0.0.1", "127.255.0.1", "::1"]) func `a loopback address needs no option`(
        _ host: String
    ) throws {
        try ServerAccess.protected.check(host: host, publicURL: nil, hasCredentials: false)
        #expect(!ServerAccess.isExposed(host))
    }

    @Test(arguments: ["0.0.0.0", "::", "192.168.1.7", "128.0.0.1", "fe80::1", "fe80::1%lo", "::2"])
    func `any other address needs an option`(_ host: String) throws {
        let error = #expect(throws: ServerError.self) {
            try ServerAccess.protected.check(host: host, publicURL: nil, hasCredentials: false)
        }
        #expect(error?.description.contains("--open") == true && error?.description.contains("\n") == false)
        try ServerAccess.open.check(host: host, publicURL: nil, hasCredentials: false)
        #expect(ServerAccess.isExposed(host))
    }
}
