/// The parser of request targets.
///
/// Source: RFC 9112 section 3.2; RFC 3986 sections 3.2.2, 3.2.3.
enum HTTPTargetParser {
    /// Returns the positions of path, query and authority of the target at `range`.
    ///
    /// - Throws: 400.
    static func parse(
        _ block: [UInt8],
        _ range: Range<Int>,
        _ method: HTTPMethod
    ) throws(HTTPError) -> HTTPTargetLocation {
        var pathStart = range.lowerBound
        var authority: Range<Int>?
        if block[pathStart] != UInt8(ascii: "/") {
            if block[range].elementsEqual("*".utf8) {
                guard method == .options else { throw .malformed("the target * is for OPTIONS only") }
                return HTTPTargetLocation(path: range)
            }
            let found = try parseAuthority(block, range)
            authority = found
            pathStart = found.upperBound
        }
        let queryMark = block[pathStart..<range.upperBound].firstIndex(of: UInt8(ascii: "?"))
        let path = pathStart..<(queryMark ?? range.upperBound)
        let query = queryMark.map { $0 + 1..<range.upperBound }
        guard !block[range].contains(UInt8(ascii: "#")) else { throw .malformed("the target has a fragment") }
        try checkEscapes(block[path], allowsNull: false)
        if let query { try checkEscapes(block[query], allowsNull: true) }
        return HTTPTargetLocation(path: path, query: query, authority: authority)
    }

    /// Returns true if `bytes` are a host with an optional port, and without a user.
    static func isAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), end > bytes.startIndex + 1 else { return false }
            let isAddress = bytes[bytes.startIndex + 1..<end].allSatisfy {
                ASCII.hexValue($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
            return isAddress && isPort(bytes[(end + 1)...])
        }
        let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        return end > bytes.startIndex && bytes[..<end].allSatisfy(isHostByte) && isPort(bytes[end...])
    }

    private static func parseAuthority(_ block: [UInt8], _ range: Range<Int>) throws(HTTPError) -> Range<Int> {
        let target = block[range]
        let start = target.prefix("https://".utf8.count).map(ASCII.lowercased)
        for scheme in ["http://", "https://"] where start.starts(with: scheme.utf8) {
            let rest = target.dropFirst(scheme.utf8.count)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            guard isAuthority(rest[..<end]) else { break }
            return rest.startIndex..<end
        }
        throw .malformed("the target is neither a path nor an http or https URL with a host")
    }

    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let colon = bytes.first else { return true }
        return colon == UInt8(ascii: ":") && bytes.count <= 6 && bytes.dropFirst().allSatisfy(ASCII.isDigit)
    }

    /// Returns true for the bytes of a host; `%` is not allowed.
    ///
    /// No host of a server has escapes in its name, and a proxy may decode the escapes to the name of another host.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ";"),
            UInt8(ascii: "="):
            true
        default: ASCII.isUnreserved(byte)
        }
    }

    private static func checkEscapes(_ bytes: ArraySlice<UInt8>, allowsNull: Bool) throws(HTTPError) {
        guard bytes.contains(UInt8(ascii: "%")) else { return }
        for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
            guard index + 2 < bytes.endIndex, ASCII.hexValue(bytes[index + 1]) != nil,
                ASCII.hexValue(bytes[index + 2]) != nil
            else { throw .malformed("the target has a percent sign that is not followed by two hexadecimal digits") }
        }
        let decoded = PercentCoding.decoded(bytes, plusIsSpace: false)
        guard String(validating: decoded, as: UTF8.self) != nil else {
            throw .malformed("the percent escapes of the target are not UTF-8")
        }
        guard allowsNull || !decoded.contains(0) else { throw .malformed("the path of the target has an escaped NUL") }
    }
}
