import RivuletHTTP
import RivuletSessions

/// The answer to a dispatch, which is the same for the first request and for every retry.
///
/// Its bytes are the cursor, a line feed, and the body. A minimal answer has no body.
struct RecordedResponse {
    /// The tag of the cursor.
    private let tag: String
    private let version: UInt64
    /// The document of <Documentation/HTTP.md#dispatch>; nil for a minimal answer.
    private let body: [UInt8]?

    init(_ answer: DispatchAnswer, isMinimal: Bool) {
        tag = answer.cursor.tag
        version = answer.cursor.position.version
        body = isMinimal ? nil : answer.json(tag: tag)
    }

    /// Reads the output of `bytes`; nil if the bytes are something else.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let cursor = Cursor(String(decoding: bytes[..<end], as: UTF8.self))
        else { return nil }
        tag = cursor.tag
        version = cursor.position.version
        body = end == bytes.endIndex - 1 ? nil : Array(bytes[(end + 1)...])
    }

    var bytes: [UInt8] { Array("\(tag.dropFirst().dropLast())\n".utf8) + (body ?? []) }

    /// The answer as it is sent.
    func response(isReplay: Bool = false) -> Response {
        var response: Response
        if let body {
            response = .json(body, tag: tag, version: version)
        } else {
            response = Response(.noContent, fields: Response.fields(tag: tag, version: version))
        }
        if isReplay { response.fields.append(Self.replayed) }
        if body == nil { response.fields.append(DispatchOptions.minimalApplied) }
        return response
    }

    /// The field that marks a repeated answer: nothing was done again.
    static let replayed = HTTPField("Idempotency-Replayed", "true")
}
