import RivuletAccess
import RivuletAuth
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The tickets with which clients open streams that cannot send a header, such as an `EventSource`.
struct TicketEndpoint {
    let server: ServerLoop

    /// POST of `/v1/tickets`.
    func make(_ request: HTTPRequest, _ admitted: AdmittedRequest, _ exchange: Exchange) throws(Problem) {
        _ = try Query(request, known: [])
        guard case .limited(let permit) = admitted.permit, let authentication = server.context.authentication else {
            throw Problem(.notFound, "this server asks for no credentials, so a stream needs no ticket")
        }
        let identity = permit.identity
        guard let me = identity.caller.me else { throw .credentialMissing }
        let stream = try TicketRequest(body: request.body, contentType: request.headers["content-type"]).stream
        let target = try target(stream, me: me)
        _ = try Permit.decide(identity, target.route, .get, in: server.context)
        try server.charge(.tickets, 1, request, admitted.permit, exchange)
        let made = authentication.tickets.make(
            for: identity,
            me: me,
            generation: admitted.generation.keys,
            target: TicketTarget(target.segments, target.items)
        )
        var writer = JSONWriter(capacity: 128)
        writer.beginObject()
        writer.key("ticket")
        writer.string(made.ticket)
        writer.key("expires")
        writer.string(Timestamp.text(milliseconds: made.opensBy))
        writer.endObject()
        server.send(.json(writer.bytes, status: .created), to: exchange)
    }

    /// Reads the target of a stream.
    ///
    /// - Throws: 422 for another target.
    private func target(
        _ text: String,
        me: String
    ) throws(Problem) -> (segments: [String], items: [HTTPQueryItem], route: Route) {
        let bytesMax = server.context.httpLimits.targetBytesMax
        guard text.utf8.count <= bytesMax, let target = HTTPTarget(text) else {
            throw Self.invalid(
                "is no path of at most \(bytesMax) bytes, such as /v1/apps/counter/sessions/a/changes?path=/p"
            )
        }
        guard !target.queryItems.contains(where: { Self.credentials.contains($0.name) }) else {
            throw Self.invalid("has a credential among its parameters")
        }
        var segments = target.pathSegments
        if Admission.isOfCaller(segments) { segments[4] = me }
        let route: Route
        do throws(Problem) {
            route = try Route(segments: segments)
        } catch {
            throw Self.invalid("names no stream: \(error.detail)")
        }
        guard route.resource.isStream else { throw Self.invalid("names no stream: it ends with /changes or /events") }
        return (target.pathSegments, target.queryItems, route)
    }

    /// The parameters that the target of a ticket cannot have.
    private static let credentials = [TicketTarget.parameter, "access_token", "authorization"]

    private static func invalid(_ detail: String) -> Problem {
        Problem(.invalidBody, "\"stream\" \(detail)", errors: [Problem.BodyError(pointer: "/stream", detail: detail)])
    }
}

/// The body `{"stream":"…"}`.
private struct TicketRequest {
    let stream: String

    init(body: [UInt8], contentType: String?) throws(Problem) {
        try JSONBody.checkType(contentType)
        do throws(JSONError) {
            var stream: String?
            var reader = JSONReader(body)
            reader.unknownKeys = .reject
            try reader.object { key, reader throws(JSONError) in
                guard key == "stream" else { return try reader.unknownKey(key) }
                stream = try reader.string()
            }
            try reader.finish()
            guard let stream else {
                throw JSONError(kind: .missing, detail: "\"stream\" is missing: the path of a stream")
            }
            self.stream = stream
        } catch {
            throw Problem(JSONReader.mostSevereError(of: body, after: error))
        }
    }
}
