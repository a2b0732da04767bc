import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

/// A whole answer to one request.
struct Response: Sendable {
    var status: HTTPStatus
    var fields: [HTTPField]
    var body: ResponseBody
    /// True if the body already has its final form, and is not compressed later.
    var isCoded = false
    /// The details of a problem for the log; nil for any other answer.
    var pendingProblem: PendingProblem?

    private static let jsonType = HTTPField("Content-Type", "application/json")
    private static let notStored = HTTPField("Cache-Control", "no-store")

    init(_ status: HTTPStatus, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = .own(body)
    }

    /// A JSON answer.
    static func json(_ body: [UInt8], status: HTTPStatus = .ok, fields: [HTTPField] = []) -> Response {
        Response(status, fields: [jsonType, notStored] + fields, body: body)
    }

    /// A JSON answer with the two fields of `fields(tag:version:)`.
    static func json(_ body: [UInt8], tag: String, version: UInt64) -> Response {
        // Nearly every answer is made here. Its fields are listed at once, because joining arrays would copy them.
        let fields = [jsonType, notStored, HTTPField("ETag", tag), HTTPField("Rivulet-Version", String(version))]
        return Response(.ok, fields: fields, body: body)
    }

    /// An answer with a problem document.
    ///
    /// - Parameters:
    ///   - problem: The document.
    ///   - cause: The cause that the document leaves out, for the log. The answer gets a `trace_id` for it.
    ///   - kind: The outcome of the dispatch, if it was one.
    ///   - event: The name of the refused event as it was sent.
    init(
        _ problem: Problem,
        cause: (any Error)? = nil,
        kind: DispatchOutcome? = nil,
        event: @escaping @autoclosure @Sendable () -> String? = nil
    ) {
        self.init(
            HTTPStatus(UInt16(clamping: problem.status)),
            fields: [HTTPField("Content-Type", "application/problem+json"), HTTPField("Cache-Control", "no-store")]
                + problem.fields,
            body: problem.json
        )
        pendingProblem = PendingProblem(problem, cause: cause, kind: kind, event: event)
    }

    /// The answer with the URL of the server's metadata in its challenge.
    ///
    /// Source: RFC 9728 section 5.1.
    func naming(metadata url: String?) -> Response {
        guard let url else { return self }
        var response = self
        response.fields = fields.map { field in
            guard field.name == "WWW-Authenticate" else { return field }
            let separator = field.value.contains(" ") ? ", " : " "
            return HTTPField(field.name, field.value + separator + "resource_metadata=\"\(url)\"")
        }
        return response
    }

    /// The answer to a read: the value, or 304 if the client has it already.
    ///
    /// `tag` is that of the answer's cursor by default. `condition` is `If-None-Match`; `share` returns the body that
    /// all answers with this value share.
    static func reading(
        _ answer: StateAnswer,
        tag: String? = nil,
        unless condition: String?,
        share: (ReadValue) -> SharedBody? = { _ in nil }
    ) -> Response {
        let (tag, version) = (tag ?? answer.cursor.tag, answer.cursor.position.version)
        if let condition, HTTPEntityTag.matchesWeakly(condition, tag: tag) {
            return Response(.notModified, fields: fields(tag: tag, version: version))
        }
        guard let body = answer.shared.flatMap(share) else { return .json(answer.value, tag: tag, version: version) }
        var response = Response.json([], tag: tag, version: version)
        response.body = .shared(body)
        return response
    }

    /// The two fields with the position of a session.
    ///
    /// `tag` is a cursor in quotes.
    static func fields(tag: String, version: UInt64) -> [HTTPField] {
        [HTTPField("ETag", tag), HTTPField("Rivulet-Version", String(version))]
    }

    /// The answer to an error of a session; the log has the server's own errors under the answer's `trace_id`.
    ///
    /// `body` is the refused dispatch.
    init(refusing error: SessionError, of body: [UInt8] = []) {
        let problem = Problem(error)
        self.init(
            problem,
            cause: problem.hasHiddenCause ? error : nil,
            kind: DispatchOutcome(error),
            event: EventName.refused(error, body)
        )
    }

    /// The answer to an error of a store, a value or a secret; the log has the server's own errors under the answer's
    /// `trace_id`.
    ///
    /// `epoch` is that of the resource; nil if the resource has no versions.
    init(refusing error: SharedError, epoch: String? = nil) {
        let problem = Problem(error, epoch: epoch ?? "")
        self.init(problem, cause: problem.hasHiddenCause ? error : nil)
    }
}
