// The checks of `Doors` on a loop, and the answers to OPTIONS.

import RivuletEventLoop
import RivuletHTTP

extension ServerLoop {
    /// Lets a request in by its head, and notes the constant lines of its answer.
    ///
    /// - Returns: The callers for whom it may ask.
    /// - Throws: 421 for a foreign host, 403 for a page that is not allowed.
    func passDoors(_ request: HTTPRequest, on id: ConnectionID) throws(Problem) -> DoorPass.Callers {
        if context.doors.isOrdinary(request, acceptedHost: acceptedHost) { return .all }
        switch context.doors.verdict(on: request) {
        case .pass(let pass):
            // The exempt resources pass with any host, which is none to remember.
            if !Doors.isExempt(request), let host = request.host { acceptedHost = Array(host.utf8) }
            _ = connections.update(id) { $0.request?.constantFields = pass.fields }
            return pass.callers
        case .refuse(let refusal):
            counters.requestRefused(refusal.cause)
            context.explainOnce(refusal.cause)
            _ = connections.update(id) { $0.request?.constantFields = refusal.fields }
            throw refusal.problem
        }
    }

    /// A form sends these types without asking first, and the resource needs none: a page of another site may be behind it.
    func refuseFormType(_ route: Route, _ request: HTTPRequest) throws(Problem) {
        guard route.resource.mayPostNothing, request.method == .post else { return }
        for type in request.headers.values(of: "content-type") {
            guard let essence = HTTPMediaType(type)?.essence, Self.formTypes.contains(essence) else { continue }
            throw Problem(
                .unsupportedContentType,
                "This resource takes no \(essence). Send JSON with Content-Type: application/json, or no body and no Content-Type, as "
                    + "curl -X POST does. Nothing has changed."
            )
        }
    }

    /// Source: <https://fetch.spec.whatwg.org/#cors-safelisted-request-header>.
    private static let formTypes = ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]

    // MARK: - OPTIONS

    /// The answer to OPTIONS: the methods of the resource, to a preflight also what the page may send.
    ///
    /// - Throws: 404 or 400 for a path that names no resource.
    func options(_ request: HTTPRequest) throws(Problem) -> Response {
        let allowed = Self.allowed(try optionMethods(of: request))
        guard request.headers.contains("origin"), request.headers.contains("access-control-request-method") else {
            return Response(.noContent, fields: [HTTPField("Allow", allowed)])
        }
        return Response(
            .noContent,
            fields: [
                HTTPField("Allow", allowed), HTTPField("Access-Control-Allow-Methods", allowed),
                HTTPField("Access-Control-Allow-Headers", ConstantFields.requestHeaders),
                HTTPField("Access-Control-Max-Age", "\(ConstantFields.preflightSeconds)"),
            ]
        )
    }

    private func optionMethods(of request: HTTPRequest) throws(Problem) -> [HTTPMethod] {
        guard !request.isPath("*") else { return [.get, .head, .post, .put, .patch, .delete] }
        var segments = request.pathSegments
        // OPTIONS for `me` makes no session and sets no cookie: any id has the same methods.
        if Self.isOfCaller(segments) { segments[4] = "caller" }
        let route: Route
        do throws(Problem) {
            route = try Route(segments: segments)
        } catch {
            counters.requestRefused(.route)
            throw error
        }
        if let name = route.app { _ = try app(name) }
        return methods(of: route)
    }

    /// The value of `Allow`: OPTIONS comes with every resource.
    static func allowed(_ methods: [HTTPMethod]) -> String {
        (methods + [.options]).map(\.name).joined(separator: ", ")
    }
}
