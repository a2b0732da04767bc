// Part of Rivulet. See README.md for the architecture.
// Owns the answer to a dispatch in the form in which it is kept for retries.

import RivuletHTTP
import RivuletSessions

/// The answer to a dispatch: what a first request and every retry of it get alike.
///
/// As bytes: the cursor, a line feed, and the body; a minimal answer has none.
struct KeptResponse {
    /// The text of the cursor.
    private let cursor: String
    private let version: UInt64
    /// The document of spec/http.md §3; nil for a minimal answer.
    private let body: [UInt8]?

    init(_ answer: DispatchAnswer, isMinimal: Bool) {
        cursor = answer.cursor.description
        version = answer.cursor.position.version
        body = isMinimal ? nil : answer.json(cursor: cursor)
    }

    /// Reads what `bytes` has written; nil when it is something else.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let cursor = Cursor(String(decoding: bytes[..<end], as: UTF8.self))
        else { return nil }
        self.cursor = cursor.description
        version = cursor.position.version
        body = end == bytes.endIndex - 1 ? nil : Array(bytes[(end + 1)...])
    }

    var bytes: [UInt8] { Array("\(cursor)\n".utf8) + (body ?? []) }

    /// The answer as it is sent.
    func response(isReplay: Bool = false) -> Response {
        var fields = Response.fields(cursor: cursor, version: version)
        if isReplay { fields.append(Self.replayed) }
        guard let body else { return Response(.noContent, fields: fields + [DispatchWish.minimalApplied]) }
        return .json(body, fields: fields)
    }

    /// The field that says that nothing was done anew.
    static let replayed = HTTPField("Idempotency-Replayed", "true")
}
