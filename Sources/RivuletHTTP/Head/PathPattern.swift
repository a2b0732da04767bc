/// A path with two parameters, such as `/v1/apps/*/sessions/*/events`.
///
/// If a path matches, its two parameters are found without a list of all segments.
package struct PathPattern: Sendable {
    /// The bytes before, between and after the two parameters.
    private let parts: (first: [UInt8], middle: [UInt8], last: [UInt8])

    /// Makes a pattern of the texts before, between and after the parameters; each begins and ends at a slash or at
    /// the path's end.
    package init(_ first: String, _ middle: String, _ last: String) {
        parts = (Array(first.utf8), Array(middle.utf8), Array(last.utf8))
    }

    /// Returns the segments at the two parameters; nil for another path, or if a segment is empty or has percent
    /// escapes.
    fileprivate func match(_ path: Span<UInt8>) -> (Range<Int>, Range<Int>)? {
        guard let one = range(in: path, behind: 0, parts.first),
            let two = range(in: path, behind: one.upperBound, parts.middle)
        else { return nil }
        let rest = path.extracting(two.upperBound...)
        return rest.count == parts.last.count && rest.hasBytes(of: parts.last.span) ? (one, two) : nil
    }

    /// Returns the segment that follows `bytes` at the index `start` of a path.
    ///
    /// Returns nil if the path has other bytes at this index, or if the segment is empty or has percent escapes.
    private func range(in path: Span<UInt8>, behind start: Int, _ bytes: [UInt8]) -> Range<Int>? {
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
    /// Returns the segments at the two parameters of a pattern; nil for another path, or if a segment is empty or has
    /// percent escapes.
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
