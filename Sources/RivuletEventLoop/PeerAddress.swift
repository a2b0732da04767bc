// Part of Rivulet. See README.md for the architecture.
// Owns the address of a peer as a value.

internal import CLibuv

/// An IP address and port.
///
/// An IPv4 address mapped into IPv6 counts as IPv4.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address without the port, to count by.
    package struct IP: Hashable, Sendable, CustomStringConvertible {
        private let high: UInt64
        private let low: UInt64

        /// The address of these 16 bytes in network order; an IPv4 address is ::ffff:a.b.c.d.
        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        /// An IPv4 address, as in 0x7F000001 for 127.0.0.1.
        package init(v4 address: UInt32) { self.init(high: 0, low: Self.v4Prefix | UInt64(address)) }

        /// Whether this is an IPv4 address.
        package var isV4: Bool { high == 0 && low >> 32 == Self.v4Prefix >> 32 }

        /// "127.0.0.1", or "::1".
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

    /// The address of this port of this host.
    package init(ip: IP, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// "127.0.0.1:8080", or "[::1]:8080".
    package var description: String { ip.isV4 ? "\(ip):\(port)" : "[\(ip)]:\(port)" }
}
