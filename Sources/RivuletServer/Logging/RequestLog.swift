import Logging
import RivuletAuth
import RivuletBase
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

/// The quotas of one loop's log lines.
private struct LogQuotas {
    var refusals: LineQuota
    var failures: LineQuota
    var credentials: LineQuota

    init(_ limits: ServerLimits) {
        refusals = LineQuota(linesMax: limits.refusalLinesPerSecondMax)
        failures = LineQuota(linesMax: limits.refusalLinesPerSecondMax)
        credentials = LineQuota(linesMax: limits.refusalLinesPerSecondMax)
    }
}

/// Writes the lines of one loop about its requests.
final class RequestLog {
    private let context: ServerContext
    private var quotas: LogQuotas

    init(_ context: ServerContext) {
        self.context = context
        quotas = LogQuotas(context.options.limits)
    }

    /// Records the trace of a request for the log and, if each request has a line, the time of its start.
    func prepare(_ traits: inout RequestTraits, _ headers: HTTPHeaders) {
        let trace = TraceParent(headers)
        let (began, random): (UInt64, TraceParent?) =
            context.logsRequests ? (MonotonicClock.nanoseconds(), .random()) : (0, nil)
        traits.trace = trace ?? random
        traits.began = began
        if let trace { traits.fields = [HTTPField(TraceParent.fieldName, trace.child().text)] }
    }

    /// Writes the line about an answered request, at `debug`.
    func logAnswer(_ status: HTTPStatus, to request: RequestTraits) {
        let nanoseconds = request.began == 0 ? 0 : MonotonicClock.nanoseconds() - request.began
        var metadata: Logger.Metadata = [
            "method": "\(request.method.value.uppercased())",
            "route": "\(Self.route(of: request)?.resource.path ?? "none")",
            "status": "\(status.code)", "milliseconds": "\(Self.milliseconds(nanoseconds))",
        ]
        if let trace = request.trace { metadata["trace_id"] = "\(trace.traceID)" }
        context.logger.debug("request", metadata: metadata)
    }

    /// Writes the lines about a refused request, and returns its answer with the `trace_id` of its trace.
    func recorded(
        _ pending: PendingProblem,
        in response: Response,
        for request: RequestTraits
    ) -> Response {
        var (response, request) = (response, request)
        if request.trace == nil, pending.cause != nil { request.trace = .random() }
        if let trace = request.trace {
            var problem = pending.problem
            problem.members.append(("trace_id", JSONValue.string(trace.traceID).json))
            response.body = .own(problem.json)
        }
        if let cause = pending.cause { logFailure(cause, request.trace) }
        if let route = Self.route(of: request), let app = Self.app(of: route, request.method) {
            logRefusedDispatch(pending, app, request.trace)
        }
        return response
    }

    /// Writes the log lines about one refused line of a request with lines, and returns the line's problem document.
    ///
    /// The document has the `trace_id` of the request. If the request has none, the document gets a new `trace_id` when
    /// the log has the cause.
    func line(_ pending: PendingProblem, app: String, _ trace: TraceParent?) -> [UInt8] {
        let trace = trace ?? pending.cause.map { _ in TraceParent.random() }
        var problem = pending.problem
        if let trace { problem.members.append(("trace_id", JSONValue.string(trace.traceID).json)) }
        if let cause = pending.cause { logFailure(cause, trace) }
        logRefusedDispatch(pending, app, trace)
        return problem.json
    }

    private func logFailure(_ cause: any Error, _ trace: TraceParent?) {
        guard quotas.failures.admit() else { return }
        var metadata: Logger.Metadata = ["error": "\(LogText.of(cause))"]
        if let trace { metadata["trace_id"] = "\(trace.traceID)" }
        context.logger.error("a request failed", metadata: metadata)
    }

    /// Writes the log line about a refused dispatch, without any text that a client made up.
    ///
    /// An app or an event is named only if the server has it. The `trace_id` is that of the problem document. If the
    /// document has none, the line has a new `trace_id`.
    private func logRefusedDispatch(_ pending: PendingProblem, _ app: String, _ trace: TraceParent?) {
        guard context.logger.logLevel <= .info, quotas.refusals.admit() else { return }
        var metadata: Logger.Metadata = ["status": "\(pending.problem.status)", "kind": "\(pending.outcome.value)"]
        if let names = context.eventNames[app] {
            metadata["app"] = "\(app)"
            if let event = pending.event(), names.contains(event) { metadata["event"] = "\(event)" }
        }
        metadata["trace_id"] = "\((trace ?? .random()).traceID)"
        context.logger.info("a dispatch was refused", metadata: metadata)
    }

    /// Writes the log line about a refused credential: the reason, and no part of the credential.
    func logRefusedCredential(_ error: CredentialError) {
        guard context.logger.logLevel <= .notice, quotas.credentials.admit() else { return }
        context.logger.notice(
            "a credential was refused",
            metadata: ["reason": "\(error.reason)", "detail": "\(error)"]
        )
    }

    /// Writes the number of lines that were left out, and admits new lines; once a second, and at the end.
    func renewQuotas() {
        let (refusals, failures) = (quotas.refusals.renew(), quotas.failures.renew())
        let credentials = quotas.credentials.renew()
        if refusals > 0 { context.logger.info("more dispatches were refused", metadata: ["left_out": "\(refusals)"]) }
        if credentials > 0 {
            context.logger.notice("more credentials were refused", metadata: ["left_out": "\(credentials)"])
        }
        if failures > 0 { context.logger.error("more requests failed", metadata: ["left_out": "\(failures)"]) }
    }

    // MARK: - Facts

    /// The resource that the request names; nil if it names none, or if the head could not be read.
    ///
    /// The path is parsed again, because only requests with a line need this.
    private static func route(of request: RequestTraits) -> Route? {
        guard var segments = request.headers?.pathSegments else { return nil }
        // A route has no `me`. The line shows the route's template without ids, so any id will do.
        if segments.count > 4, segments[4] == "me" { segments[4] = "m" }
        return try? Route(segments: segments)
    }

    /// The app to which a request dispatches; nil if it does not dispatch.
    private static func app(of route: Route, _ method: MethodLabel) -> String? {
        switch (route, method) {
        case (.events(let key), .post), (.state(let key, _), .put): key.app
        default: nil
        }
    }

    private static func milliseconds(_ nanoseconds: UInt64) -> String {
        let thousandths = nanoseconds / 1_000 % 1_000
        return "\(nanoseconds / 1_000_000)." + String("\(1_000 + thousandths)".dropFirst())
    }
}

/// Admits a number of lines until it is renewed, and counts the rest.
struct LineQuota {
    let linesMax: Int
    private var written = 0
    private var leftOut = 0

    init(linesMax: Int) { self.linesMax = linesMax }

    /// Returns true if a line may be written now; counts the line.
    mutating func admit() -> Bool {
        guard written < linesMax else {
            leftOut += 1
            return false
        }
        written += 1
        return true
    }

    /// Starts over, once a second; returns the number of lines that were left out.
    mutating func renew() -> Int {
        defer { (written, leftOut) = (0, 0) }
        return leftOut
    }
}
