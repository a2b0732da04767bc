// Part of Rivulet. See README.md for the architecture.
// Owns an answer before it becomes bytes.

import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// A whole answer to one request.
struct Response: Sendable {
    var status: HTTPStatus
    var fields: [HTTPField]
    var body: [UInt8]
    /// Whether the form of the body has been chosen, so that it is sent as it is.
    var isCoded = false

    private static let jsonFields = [
        HTTPField("Content-Type", "application/json"), HTTPField("Cache-Control", "no-store"),
    ]

    init(_ status: HTTPStatus, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// An answer of JSON.
    static func json(_ body: [UInt8], status: HTTPStatus = .ok, fields: [HTTPField] = []) -> Response {
        Response(status, fields: jsonFields + fields, body: body)
    }

    /// An answer of a problem document.
    init(_ problem: Problem) {
        self.init(
            HTTPStatus(UInt16(clamping: problem.status)),
            fields: [HTTPField("Content-Type", "application/problem+json"), HTTPField("Cache-Control", "no-store")]
                + problem.fields,
            body: problem.json
        )
    }

    /// The answer to a read: the value, or 304 when its reader has it already.
    ///
    /// `condition` is `If-None-Match`.
    static func reading(_ answer: StateAnswer, unless condition: String?) -> Response {
        let fields = fields(of: answer.cursor)
        if let condition, HTTPEntityTag.matchesWeakly(condition, tag: "\"\(answer.cursor)\"") {
            return Response(.notModified, fields: fields)
        }
        return .json(answer.value, fields: fields)
    }

    /// The two fields that say where a session stands.
    static func fields(of cursor: Cursor) -> [HTTPField] {
        fields(cursor: cursor.description, version: cursor.position.version)
    }

    /// The same for a cursor's text.
    static func fields(cursor: String, version: UInt64) -> [HTTPField] {
        [HTTPField("ETag", "\"" + cursor + "\""), HTTPField("Rivulet-Version", String(version))]
    }
}
