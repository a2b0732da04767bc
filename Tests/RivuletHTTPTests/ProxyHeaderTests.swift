// Checks the headers of proxies before the first request.

import RivuletHTTP
import Testing

@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]

    /// A header of version 2, with a block and further fields.
    private static func v2(
        _ command: UInt8,
        _ kind: UInt8,
        _ block: [UInt8],
        _ fields: [UInt8] = [],
        length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? (block.count + fields.count)
        var bytes = signature
        bytes.append(contentsOf: [command, kind, UInt8(length >> 8), UInt8(length & 0xFF)])
        bytes.append(contentsOf: block)
        bytes.append(contentsOf: fields)
        return bytes
    }

    /// 203.0.113.7:4711 to 10.0.0.1:8080.
    private static let v4Block: [UInt8] = [203, 0, 113, 7, 10, 0, 0, 1, 0x12, 0x67, 0x1F, 0x90]
    /// [2001:db8::7]:4711 to [fd00::]:8080.
    private static let v6Block: [UInt8] = [
        0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0x12, 0x67, 0x1F, 0x90,
    ]
    private static let v4 = ProxyHeader.address(high: 0, low: 0xFFFF_CB00_7107)
    private static let v6 = ProxyHeader.address(high: 0x2001_0DB8_0000_0000, low: 7)

    /// Headers of version 1, and the clients that they name.
    private static let lines: [(String, ProxyHeader)] = [
        ("TCP4 203.0.113.7 10.0.0.1 4711 8080", .text("203.0.113.7")),
        ("TCP4 255.255.255.255 255.255.255.255 65535 65535", .text("255.255.255.255")),
        ("TCP4 1.2.3.4 5.6.7.8 0 1", .text("1.2.3.4")), ("TCP6 2001:db8::7 fd00::1 4711 8080", .text("2001:db8::7")),
        ("TCP6 ::ffff:1.2.3.4 ::1 1 2", .text("::ffff:1.2.3.4")), ("UNKNOWN", .unknown),
        ("UNKNOWN TCP4 1.2.3.4 x", .unknown),
        ("UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535", .unknown),
        ("UNKNOWN " + String(repeating: "x", count: 91), .unknown),
    ]

    /// Headers of version 2.
    private static func blocks() -> [([UInt8], ProxyHeader)] {
        var blocks: [([UInt8], ProxyHeader)] = [(v2(0x21, 0x11, v4Block), v4), (v2(0x21, 0x21, v6Block), v6)]
        // Further fields are skipped: a wrong checksum, one without an end, an authority and an unknown one, and as
        // many as are allowed.
        for fields: [UInt8] in [[3, 0, 4, 1, 2, 3, 4], [2, 0xFF, 0xFF], [2, 0, 1, 0x61, 0xEE, 0, 0]] {
            blocks.append((v2(0x21, 0x11, v4Block, fields), v4))
            blocks.append((v2(0x21, 0x21, v6Block, fields), v6))
        }
        blocks.append((v2(0x21, 0x11, v4Block, Array(repeating: 0, count: 2_020)), v4))
        // The proxy's own connections, with or without addresses.
        blocks.append((v2(0x20, 0x00, []), .local))
        blocks.append((v2(0x20, 0x11, v4Block), .local))
        blocks.append((v2(0x20, 0xFF, [1]), .local))
        // No client with an IP address and a stream.
        for kind: UInt8 in [0x00, 0x12, 0x22, 0x31, 0x32] {
            blocks.append((v2(0x21, kind, []), .unknown))
            blocks.append((v2(0x21, kind, Array(repeating: 65, count: 216)), .unknown))
        }
        return blocks
    }

    private static var headers: [([UInt8], ProxyHeader)] {
        lines.map { (Array("PROXY \($0.0)\r\n".utf8), $0.1) } + blocks()
    }

    @Test func `a header is complete with its last byte, and not before`() {
        for (bytes, header) in Self.headers {
            for count in 0..<bytes.count {
                #expect(ProxyHeader.read(Array(bytes.prefix(count))) == .incomplete, "\(header) cut at \(count)")
            }
            let outcome = ProxyHeader.Outcome.complete(header, byteCount: bytes.count)
            #expect(ProxyHeader.read(bytes) == outcome)
            #expect(ProxyHeader.read(bytes + Array("GET / HTTP/1.1\r\n\r\n".utf8)) == outcome)
            #expect(ProxyHeader.read(bytes + bytes) == outcome)
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "\n", "proxy TCP4 1.2.3.4 5.6.7.8 1 2\r\n", "PROXY  TCP4 1.2.3.4 5.6.7.8 1 2\r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n", "PROXY \r\n", "PROXY\r\n", "PROXY TCP4\r\n",
        "PROXY TCP5 1.2.3.4 5.6.7.8 1 2\r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 1 2 \r\n",
        "PROXY TCP4 1.2.3.4  5.6.7.8 1 2\r\n", "PROXY TCP4 ::1 ::2 1 2\r\n", "PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 65536 2\r\n", "PROXY TCP4 1.2.3.4 5.6.7.8 01 2\r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 -1 2\r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 1 x\r\n", "PROXY TCP4 a.b.c.d 5.6.7.8 1 2\r\n", "PROXY TCP6 ::1%lo ::2 1 2\r\n",
        "PROXY TCP6 [::1] ::2 1 2\r\n", "PROXY UNKNOWN\n", "PROXY unknown\r\n", "PROXY UNKNOWNX\r\n", "\r\n\r\nGET",
    ])
    func `other lines are no header`(_ text: String) {
        #expect(ProxyHeader.read(Array(text.utf8)) == .malformed)
    }

    @Test func `a line ends within 107 bytes`() {
        let text = Array(("PROXY UNKNOWN " + String(repeating: "x", count: 200)).utf8)
        #expect(ProxyHeader.read(Array(text.prefix(106))) == .incomplete)
        #expect(ProxyHeader.read(Array(text.prefix(107))) == .malformed)
        #expect(ProxyHeader.read(Array(text.prefix(106)) + [13, 10]) == .malformed)
    }

    @Test func `other blocks are no header, as soon as it is known`() {
        for (command, kind) in [
            (0x11, 0x11), (0x31, 0x11), (0x22, 0x11), (0x2F, 0x11), (0x21, 0x41), (0x21, 0x13), (0x21, 0x10),
            (0x21, 0x01),
            (0x21, 0x33), (0x21, 0xFF),
        ] as [(UInt8, UInt8)] {
            let bytes = Self.v2(command, kind, Self.v6Block)
            #expect(ProxyHeader.read(bytes) == .malformed, "\(command) \(kind)")
            #expect(ProxyHeader.read(Array(bytes.prefix(14))) == .malformed, "\(command) \(kind)")
        }
        #expect(ProxyHeader.read(Self.v2(0x21, 0x11, Array(Self.v4Block.dropLast()))) == .malformed)
        #expect(ProxyHeader.read(Self.v2(0x21, 0x11, [])) == .malformed)
        #expect(ProxyHeader.read(Self.v2(0x21, 0x21, Array(Self.v6Block.dropLast()))) == .malformed)
        #expect(ProxyHeader.read(Self.v2(0x21, 0x21, Self.v4Block)) == .malformed)
        // A length over the limit is refused before its bytes come.
        #expect(ProxyHeader.read(Self.v2(0x21, 0x11, [], length: 2_033)) == .malformed)
        #expect(ProxyHeader.read(Self.v2(0x20, 0x00, [], length: 65_535)) == .malformed)
        #expect(ProxyHeader.read(Self.v2(0x21, 0x11, [], length: 2_032)) == .incomplete)
        var other = Self.v2(0x21, 0x11, Self.v4Block)
        for index in 0..<12 {
            other[index] ^= 0x20
            #expect(ProxyHeader.read(other) == .malformed)
            other[index] ^= 0x20
        }
    }
}
