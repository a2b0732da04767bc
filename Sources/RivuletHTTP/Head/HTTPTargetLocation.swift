/// The positions of the target's parts in the header block.
struct HTTPTargetLocation: Sendable {
    var path: Range<Int>
    var query: Range<Int>?
    /// The authority of an absolute target, or else the value of `Host`; nil only for HTTP/1.0 without both.
    var authority: Range<Int>?

    /// Returns the path's segments, each percent-decoded after the split.
    func pathSegments(in block: [UInt8]) -> [String] {
        var segments: [String] = []
        segments.reserveCapacity(8)
        // The first slash begins the first segment.
        var start = min(path.lowerBound + 1, path.upperBound)
        let bytes = block.span
        for index in start..<path.upperBound where bytes[index] == UInt8(ascii: "/") {
            segments.append(PercentCoding.decodedString(block[start..<index]))
            start = index + 1
        }
        segments.append(PercentCoding.decodedString(block[start..<path.upperBound]))
        return segments
    }
}

extension HTTPHeaders {
    /// The segments of the path in the request line above these header lines; nil if the target cannot be parsed.
    ///
    /// Use this for rare cases only, because a request has its parsed path already.
    package var pathSegments: [String]? {
        guard let first = block.firstIndex(of: ASCII.space),
            let end = block[(first + 1)...].firstIndex(of: ASCII.space), end > first + 1,
            let location = try? HTTPTargetParser.parse(block, first + 1..<end, .options)
        else { return nil }
        return location.pathSegments(in: block)
    }
}
