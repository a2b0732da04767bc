import RivuletHTTP
import RivuletJSON

/// An `application/problem+json` answer.
///
/// Source: RFC 9457, <Documentation/HTTP.md#errors>.
struct Problem: Error, Sendable {
    var type: ProblemType
    let detail: String
    var errors: [BodyError] = []
    /// Further members of the document, each a JSON value.
    var members: [(name: String, json: [UInt8])] = []
    /// Header fields that belong to the status: `Allow`, `Retry-After`, `ETag`.
    var fields: [HTTPField] = []
    /// True if the cause is for the log only, because its text names files, SQL or internals of the app.
    ///
    /// The answer then gets a `trace_id` for it.
    var hasHiddenCause = false

    /// One error in the body, with its location.
    struct BodyError: Sendable {
        let pointer: String
        let detail: String
    }

    init(
        _ type: ProblemType,
        _ detail: String,
        errors: [BodyError] = [],
        members: [(name: String, json: [UInt8])] = [],
        fields: [HTTPField] = []
    ) {
        self.type = type
        self.detail = detail
        self.errors = errors
        self.members = members
        self.fields = fields
    }

    /// The status of the answer.
    var status: Int { type.status }

    /// The document's bytes.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.key("type")
        writer.string(type.address)
        writer.key("title")
        writer.string(type.title)
        writer.key("status")
        writer.integer(status)
        writer.key("detail")
        writer.string(detail)
        if !errors.isEmpty {
            writer.key("errors")
            writer.beginArray()
            for error in errors {
                writer.beginObject()
                writer.key("pointer")
                writer.string(error.pointer)
                writer.key("detail")
                writer.string(error.detail)
                writer.endObject()
            }
            writer.endArray()
        }
        for member in members {
            writer.key(member.name)
            writer.raw(member.json)
        }
        writer.endObject()
        return writer.bytes
    }
}
