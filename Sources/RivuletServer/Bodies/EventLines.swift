import RivuletHTTP

/// The lines of an `application/x-ndjson` body, each an event or an array of events.
///
/// Source: <Documentation/HTTP.md#arrays-and-lines>.
struct EventLines: Sendable {
    static let contentType = "application/x-ndjson"

    /// The lines without their line feeds; an empty last line is left out.
    let lines: [ArraySlice<UInt8>]

    /// True if this content type is that of lines.
    static func isType(_ field: String?) -> Bool {
        guard let type = field.flatMap(HTTPMediaType.init) else { return false }
        return type.essence == contentType && type.isUTF8
    }

    /// Splits the body into lines.
    ///
    /// - Throws: 400 for a body without lines, or for `If-Match`, because the condition could not hold for all lines.
    ///   413 for too many lines.
    init(_ body: [UInt8], _ options: DispatchOptions, linesMax: Int) throws(Problem) {
        guard options.expected.isEmpty else {
            throw Problem(
                .invalidCondition,
                "If-Match is a condition of one transaction, but every line is a transaction of its own; send an array instead. "
                    + "Nothing has changed"
            )
        }
        // One line more than the limit is enough to detect too many lines.
        var lines = body.split(separator: UInt8(ascii: "\n"), maxSplits: linesMax + 1, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        guard !lines.isEmpty else { throw Problem(.malformedBody, "the body has no line; send one event per line") }
        guard lines.count <= linesMax else {
            throw Problem(
                .bodyTooLarge,
                "One request takes at most \(linesMax) lines (linesPerRequestMax). Nothing has changed. Send several requests."
            )
        }
        self.lines = lines
    }
}
