/// The header that a proxy sends before the first byte of its client: the PROXY protocol, version 1 or 2.
///
///     PROXY TCP4 203.0.113.7 10.0.0.1 4711 8080\r\n
///
/// Source: <https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>.
package enum ProxyHeader: Hashable, Sendable {
    /// The connection is the proxy's own, such as for a health check.
    case local
    /// The proxy names no client with an IP address.
    case unknown
    /// The client's address as text of IPv4 or IPv6, which is not parsed yet.
    case text(String)
    /// The client's address in 16 bytes; an IPv4 address is ::ffff:a.b.c.d.
    case address(high: UInt64, low: UInt64)

    /// The result of reading the first bytes of a connection.
    package enum Outcome: Hashable, Sendable {
        /// The bytes are the beginning of a header.
        case incomplete
        /// The bytes are no header, whatever follows.
        case malformed
        /// The first bytes are a header; the rest belongs to the client.
        case complete(ProxyHeader, byteCount: Int)
    }

    /// The most bytes of a header of version 1, with its line end.
    static let lineBytesMax = 107
    /// The most bytes of a header; a longer one, which version 2 allows, is refused.
    package static let bytesMax = 2_048
    /// The number of bytes before the addresses of version 2.
    private static let startBytes = 16
    private static let line = Array("PROXY ".utf8)
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10] + Array("QUIT".utf8) + [10]

    /// Reads the first bytes of a connection, which may be cut anywhere.
    ///
    /// Further fields of version 2 (TLVs), such as its checksum, are skipped: TCP has a checksum of its own.
    package static func read(_ bytes: [UInt8]) -> Outcome {
        if isBeginning(bytes, of: signature) { return bytes.count < startBytes ? start(bytes) : block(bytes) }
        return isBeginning(bytes, of: line) ? readLine(bytes) : .malformed
    }

    private static func isBeginning(_ bytes: [UInt8], of mark: [UInt8]) -> Bool {
        bytes.prefix(mark.count).elementsEqual(mark.prefix(bytes.count))
    }

    // MARK: - Version 1

    private static func readLine(_ bytes: [UInt8]) -> Outcome {
        guard let end = bytes.prefix(lineBytesMax).firstIndex(of: ASCII.lineFeed) else {
            return bytes.count < lineBytesMax ? .incomplete : .malformed
        }
        guard bytes[end - 1] == ASCII.carriageReturn, let header = parsed(bytes[line.count..<(end - 1)]) else {
            return .malformed
        }
        return .complete(header, byteCount: end + 1)
    }

    /// Parses the words after `PROXY`; nil for words that no proxy sends.
    private static func parsed(_ text: ArraySlice<UInt8>) -> ProxyHeader? {
        let words = text.split(separator: ASCII.space, omittingEmptySubsequences: false)
        // After this word anything may follow.
        if words[0].elementsEqual("UNKNOWN".utf8) { return .unknown }
        let isV6 = words[0].elementsEqual("TCP6".utf8)
        guard isV6 || words[0].elementsEqual("TCP4".utf8), words.count == 5 else { return nil }
        guard words[1...2].allSatisfy({ isAddress($0, isV6: isV6) }), words[3...4].allSatisfy(isPort) else {
            return nil
        }
        return .text(String(decoding: words[1], as: UTF8.self))
    }

    /// True for text that can be an address of this version.
    private static func isAddress(_ word: ArraySlice<UInt8>, isV6: Bool) -> Bool {
        let (dot, colon) = (UInt8(ascii: "."), UInt8(ascii: ":"))
        let hasColon = word.contains(colon)
        return hasColon == isV6 && word.contains(isV6 ? colon : dot)
            && word.allSatisfy { $0 == dot || $0 == colon || (isV6 ? ASCII.hexValue($0) != nil : ASCII.isDigit($0)) }
    }

    private static func isPort(_ word: ArraySlice<UInt8>) -> Bool {
        guard (1...5).contains(word.count), word.allSatisfy(ASCII.isDigit), word.count == 1 || word.first != 0x30 else {
            return false
        }
        return word.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
    }

    // MARK: - Version 2

    /// Reads fewer bytes than those before the addresses.
    private static func start(_ bytes: [UInt8]) -> Outcome {
        guard bytes.count > 12 else { return .incomplete }
        guard bytes[12] == 0x20 || bytes[12] == 0x21 else { return .malformed }
        guard bytes.count > 13, bytes[12] == 0x21 else { return .incomplete }
        return kinds.contains(bytes[13]) ? .incomplete : .malformed
    }

    /// The pairs of an address family and a transport that the specification lists.
    private static let kinds: [UInt8] = [0x00, 0x11, 0x12, 0x21, 0x22, 0x31, 0x32]

    private static func block(_ bytes: [UInt8]) -> Outcome {
        guard start(Array(bytes.prefix(startBytes))) == .incomplete else { return .malformed }
        let (isLocal, kind) = (bytes[12] == 0x20, bytes[13])
        let byteCount = startBytes + (Int(bytes[14]) << 8 | Int(bytes[15]))
        // The length of the addresses: of the source and the destination, each with its port.
        let addressBytes = isLocal ? 0 : kind == 0x11 ? 12 : kind == 0x21 ? 36 : 0
        guard byteCount <= bytesMax, byteCount >= startBytes + addressBytes else { return .malformed }
        guard bytes.count >= byteCount else { return .incomplete }
        guard !isLocal else { return .complete(.local, byteCount: byteCount) }
        let source = bytes[startBytes...]
        return switch kind {
        case 0x11:
            .complete(.address(high: 0, low: 0xFFFF_0000_0000 | number(source.prefix(4))), byteCount: byteCount)
        case 0x21:
            .complete(
                .address(high: number(source.prefix(8)), low: number(source.dropFirst(8).prefix(8))),
                byteCount: byteCount
            )
        default: .complete(.unknown, byteCount: byteCount)
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
