internal import CLibuv

/// An IP address and port.
///
/// An IPv4 address that is mapped into IPv6 is treated as IPv4.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address without the port, for counts per address.
    package struct IP: Hashable, Sendable, CustomStringConvertible {
        private let high: UInt64
        private let low: UInt64

        /// Makes an address of 16 bytes in network order; an IPv4 address is ::ffff:a.b.c.d.
        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        /// The 16 bytes of the address in network order.
        package var words: (high: UInt64, low: UInt64) { (high, low) }

        /// Makes an IPv4 address, such as 0x7F000001 for 127.0.0.1.
        package init(v4 address: UInt32) { self.init(high: 0, low: Self.v4Prefix | UInt64(address)) }

        /// Parses an address such as "127.0.0.1" or "::1"; nil for other text, including an address with a zone.
        package init?(_ text: String) {
            guard !text.utf8.contains(UInt8(ascii: "%")), !text.utf8.contains(0) else { return nil }
            if text.utf8.contains(UInt8(ascii: ":")) {
                var bytes: (UInt64, UInt64) = (0, 0)
                // SAFETY: libuv writes the 16 bytes of an IPv6 address, which the tuple has, and keeps no pointer.
                guard unsafe uv_inet_pton(AF_INET6, text, &bytes) == 0 else { return nil }
                self.init(high: UInt64(bigEndian: bytes.0), low: UInt64(bigEndian: bytes.1))
            } else {
                var bytes: UInt32 = 0
                // SAFETY: libuv writes the 4 bytes of an IPv4 address, and keeps no pointer.
                guard unsafe uv_inet_pton(AF_INET, text, &bytes) == 0 else { return nil }
                self.init(v4: UInt32(bigEndian: bytes))
            }
        }

        /// True if this is an IPv4 address.
        package var isV4: Bool { high == 0 && low >> 32 == Self.v4Prefix >> 32 }

        /// True if this is a loopback address: 127.0.0.0/8, or ::1.
        package var isLoopback: Bool { isV4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1 }

        /// The address that stands for every peer on a Unix socket: `::`, which is the address of no machine.
        package static let unixSocket = IP(high: 0, low: 0)

        /// The address for counts per client: itself for IPv4, and the first 64 bits for IPv6.
        ///
        /// A client with an IPv6 network has all of its addresses, and a /64 is the smallest network of a site.
        /// Source: RFC 6177.
        package var limitKey: IP { isV4 ? self : IP(high: high, low: 0) }

        /// The number of bits of the address: 32 or 128.
        package var bitCount: Int { isV4 ? 32 : 128 }

        /// Returns true if both addresses have the same version and the same first bits.
        package func isEqual(_ other: IP, bits: Int) -> Bool {
            guard isV4 == other.isV4, (0...bitCount).contains(bits) else { return false }
            let bits = isV4 ? bits + 96 : bits
            // A shift by all 64 bits is 0.
            let (highMask, lowMask) = (
                ~(UInt64.max >> UInt64(min(bits, 64))), ~(UInt64.max >> UInt64(max(bits - 64, 0)))
            )
            return (high ^ other.high) & highMask == 0 && (low ^ other.low) & lowMask == 0
        }

        /// The address as text, such as "127.0.0.1" or "::1".
        ///
        /// Source: RFC 5952.
        package var description: String {
            guard !isV4 else {
                return [24, 16, 8, 0].map { "\(low >> UInt64($0) & 0xFF)" }.joined(separator: ".")
            }
            var bytes = (high.bigEndian, low.bigEndian)
            let text = [UInt8](capacity: 46) { output in
                unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                    unsafe buffer.initialize(repeating: 0)
                    // SAFETY: 16 bytes are read from the tuple, at most 46 are written to the buffer, which has 46.
                    let status = unsafe uv_inet_ntop(AF_INET6, &bytes, buffer.baseAddress, buffer.count)
                    count = status == 0 ? unsafe buffer.firstIndex(of: 0) ?? 0 : 0
                }
            }
            return String(decoding: text, as: UTF8.self)
        }

        private static var v4Prefix: UInt64 { 0xFFFF_0000_0000 }
    }

    package let ip: IP
    package let port: UInt16

    /// Makes an address from an IP address and a port.
    package init(ip: IP, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// The address and port as text, such as "127.0.0.1:8080" or "[::1]:8080".
    package var description: String { ip.isV4 ? "\(ip):\(port)" : "[\(ip)]:\(port)" }
}
