import RivuletHTTP
import RivuletJSON

/// The refusals of the contract.
///
/// Source: <Documentation/HTTP.md#errors>.
enum OpenAPIProblem {
    /// The statuses in order, each with its causes and its header fields.
    private static let causes: [(status: Int, cause: String, headers: [String])] = [
        (
            400, "Malformed HTTP or JSON, an unknown or bad query parameter, a bad key path, session id or condition.",
            []
        ),
        (
            403,
            "A page of another site sent the request, and its origin is not allowed; or it asks for `me` without a valid cookie. "
                + "Nothing has changed.",
            []
        ),
        (404, "There is no such app, session, value or file.", []),
        (406, "The resource has no representation that the request accepts.", []),
        (408, "The request came too slowly.", []),
        (409, "The session exists already, is being deleted, or handles this Idempotency-Key.", ["Retry-After"]),
        (410, "The version is no longer kept: `oldest` can be read.", []),
        (
            412,
            "The session has moved on, or its history or the shape of its state is another: `cursor` and `value` say where it stands. "
                + "Nothing has changed.",
            ["ETag"]
        ),
        (413, "The body, its lines or the change are too large. Nothing has changed.", []),
        (414, "The target is too long.", []),
        (415, "The body is not of a type that the resource takes.", []),
        (416, "The file has none of the bytes that the request asks for.", []),
        (417, "The request expects something other than `100-continue`.", []),
        (421, "The server does not answer for the host that the request names. Nothing has changed.", []),
        (
            422,
            "The body does not decode, a reducer rejected the event, `strict` forbids a coercion, "
                + "or the Idempotency-Key was used for another request. Nothing has changed.",
            []
        ),
        (
            429, "The session keeps as many answers under Idempotency-Keys as it may. Nothing has changed.",
            ["Retry-After"]
        ),
        (431, "The header block is too large.", []),
        (500, "A fault of the server, logged under `trace_id`.", []),
        (501, "The server does not know the transfer coding.", []),
        (
            503,
            "The server is stopping or full, or its storage is unavailable, with the cause in the log under `trace_id`. Nothing has changed.",
            ["Retry-After"]
        ),
        (505, "The server does not speak this version of HTTP.", []),
        (507, "The disk is full, or the session's state is as large as it may be. Nothing has changed.", []),
    ]

    /// The statuses that the document knows.
    static var statuses: [Int] { causes.map(\.status) }

    /// The name of a status's response component.
    static func name(of status: Int) -> String { "Problem\(status)" }

    /// A document of each type with the status.
    private static func examples(of status: Int) -> JSONValue {
        .members(
            ProblemType.allCases.filter { $0.status == status }.map { type in
                let document = try? JSONValue(parsing: Problem(type, ProblemTable.row(of: type).example).json)
                return (type.rawValue, .members([("summary", .string(type.title)), ("value", document)]))
            }
        )
    }

    /// The response components, by their names.
    static func responses(schema: JSONValue) -> JSONValue {
        .members(
            causes.map { status, cause, headers in
                let media = JSONValue.media(schema, examples: examples(of: status))
                return (name(of: status), .content(cause, [("application/problem+json", media)], headers: headers))
            }
        )
    }
}
