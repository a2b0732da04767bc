// Owns the tests of addresses as text and of errors as text.

import RivuletEventLoop
import Testing

@Suite struct PeerAddressTests {
    @Test(
        arguments: [
            (0, 0xFFFF_7F00_0001, "127.0.0.1:80"), (0, 0xFFFF_C000_02FF, "192.0.2.255:80"), (0, 1, "[::1]:80"),
            (0x2001_0DB8_0000_0000, 0x10, "[2001:db8::10]:80"), (0, 0, "[::]:80"),
        ] as [(UInt64, UInt64, String)]
    )
    func `an address reads as it is written`(high: UInt64, low: UInt64, text: String) {
        #expect("\(PeerAddress(ip: PeerAddress.IP(high: high, low: low), port: 80))" == text)
    }

    @Test func `an IPv4 address mapped into IPv6 is that address`() {
        #expect(PeerAddress.IP(high: 0, low: 0xFFFF_0A00_0001) == PeerAddress.IP(v4: 0x0A00_0001))
        #expect(PeerAddress.IP(v4: 1).isV4)
        #expect(!PeerAddress.IP(high: 0, low: 1).isV4)
    }
}
