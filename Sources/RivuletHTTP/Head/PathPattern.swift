/// A path with two places, as `/v1/apps/*/sessions/*/events`.
///
/// A request whose path has a well-known form needs no list of its segments.
package struct PathPattern: Sendable {
    /// The bytes before, between and behind the two places.
    private let parts: (first: [UInt8], middle: [UInt8], last: [UInt8])

    /// The pattern of these texts before, between and behind the two places; each begins and ends at a slash or at the path's end.
    package init(_ first: String, _ middle: String, _ last: String) {
        parts = (Array(first.utf8), Array(middle.utf8), Array(last.utf8))
    }

    /// The segments at the two places; nil for another path, and where a segment is empty or has percent escapes.
    fileprivate func match(_ path: Span<UInt8>) -> (Range<Int>, Range<Int>)? {
        guard let one = place(in: path, behind: 0, parts.first),
            let two = place(in: path, behind: one.upperBound, parts.middle)
        else { return nil }
        let rest = path.extracting(two.upperBound...)
        return rest.count == parts.last.count && rest.hasBytes(of: parts.last.span) ? (one, two) : nil
    }

    /// The segment that follows these bytes at an index; nil for an empty one.
    private func place(in path: Span<UInt8>, behind start: Int, _ bytes: [UInt8]) -> Range<Int>? {
        let begin = start + bytes.count
        guard begin < path.count, path.extracting(start..<begin).hasBytes(of: bytes.span) else { return nil }
        var end = begin
        while end < path.count, path[end] != UInt8(ascii: "/") {
            guard path[end] != UInt8(ascii: "%") else { return nil }
            end += 1
        }
        return begin < end ? begin..<end : nil
    }
}

extension HTTPRequest {
    /// The segments at the two places of a pattern; nil for another path, and where a segment is empty or has percent escapes.
    package func segments(of pattern: PathPattern) -> (String, String)? {
        let (block, path) = (headers.block, location.path)
        guard let (one, two) = pattern.match(block.span.extracting(path)) else { return nil }
        let start = path.lowerBound
        return (
            String(decoding: block[start + one.lowerBound..<start + one.upperBound], as: UTF8.self),
            String(decoding: block[start + two.lowerBound..<start + two.upperBound], as: UTF8.self)
        )
    }
}
