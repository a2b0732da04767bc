import Logging
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The quotas of one loop's log lines.
struct LogQuotas {
    var refusals: LineQuota
    var failures: LineQuota

    init(_ limits: ServerLimits) {
        refusals = LineQuota(linesMax: limits.refusalLinesPerSecondMax)
        failures = LineQuota(linesMax: limits.refusalLinesPerSecondMax)
    }
}

extension ServerLoop {
    /// Notes what the log will need of a request: its trace, and, where each request has a line, the time.
    func prepareLog(_ headers: HTTPHeaders, of id: ConnectionID) {
        let trace = TraceParent(headers)
        let (began, random): (UInt64, TraceParent?) =
            context.logsRequests ? (Self.monotonicNanoseconds(), .random()) : (0, nil)
        _ = connections.update(id) { entry in
            entry.request?.trace = trace ?? random
            entry.request?.began = began
            if let trace { entry.request?.fields = [HTTPField(TraceParent.fieldName, trace.child().text)] }
        }
    }

    /// The line about an answered request, at `debug`.
    func logAnswer(_ status: HTTPStatus, to request: ConnectionTable.RequestTraits) {
        let nanoseconds = request.began == 0 ? 0 : Self.monotonicNanoseconds() - request.began
        var metadata: Logger.Metadata = [
            "method": "\(request.method.value.uppercased())",
            "route": "\(Self.route(of: request)?.resource.path ?? "none")",
            "status": "\(status.code)", "milliseconds": "\(Self.milliseconds(nanoseconds))",
        ]
        if let trace = request.trace { metadata["trace_id"] = "\(trace.traceID)" }
        context.logger.debug("request", metadata: metadata)
    }

    /// The answer to a refused request, with the `trace_id` of its trace, and the lines about it.
    func noted(
        _ refusal: Refusal,
        in response: Response,
        for request: ConnectionTable.RequestTraits
    ) -> Response {
        var (response, request) = (response, request)
        if request.trace == nil, refusal.cause != nil { request.trace = .random() }
        if let trace = request.trace {
            var problem = refusal.problem
            problem.members.append(("trace_id", JSONValue.string(trace.traceID).json))
            response.body = problem.json
        }
        if let cause = refusal.cause { logFailure(cause, request.trace) }
        if let route = Self.route(of: request), let app = Self.app(of: route, request.method) {
            logRefusedDispatch(refusal, app, request.trace)
        }
        return response
    }

    /// The document of one refused line of a dispatch, with the `trace_id` of its request's trace, or one of its own where the log has more.
    func line(_ refusal: Refusal, app: String, _ trace: TraceParent?) -> [UInt8] {
        let trace = trace ?? refusal.cause.map { _ in TraceParent.random() }
        var problem = refusal.problem
        if let trace { problem.members.append(("trace_id", JSONValue.string(trace.traceID).json)) }
        if let cause = refusal.cause { logFailure(cause, trace) }
        logRefusedDispatch(refusal, app, trace)
        return problem.json
    }

    private func logFailure(_ cause: any Error, _ trace: TraceParent?) {
        guard quotas.failures.admit() else { return }
        var metadata: Logger.Metadata = ["error": "\(LogText.of(cause))"]
        if let trace { metadata["trace_id"] = "\(trace.traceID)" }
        context.logger.error("a request failed", metadata: metadata)
    }

    /// The line says nothing that a client made up: the app and the event are ones that the server has.
    ///
    /// Its `trace_id` is that of the problem document; where the document has none, the line has one of its own.
    private func logRefusedDispatch(_ refusal: Refusal, _ app: String, _ trace: TraceParent?) {
        guard context.logger.logLevel <= .info, quotas.refusals.admit() else { return }
        var metadata: Logger.Metadata = ["status": "\(refusal.problem.status)", "kind": "\(refusal.outcome.value)"]
        if let names = context.eventNames[app] {
            metadata["app"] = "\(app)"
            if let event = refusal.event(), names.contains(event) { metadata["event"] = "\(event)" }
        }
        metadata["trace_id"] = "\((trace ?? .random()).traceID)"
        context.logger.info("a dispatch was refused", metadata: metadata)
    }

    /// Writes how many lines were left out, and lets new ones through; once a second, and at the end.
    func renewLogQuotas() {
        let (refusals, failures) = (quotas.refusals.renew(), quotas.failures.renew())
        if refusals > 0 { context.logger.info("more dispatches were refused", metadata: ["left_out": "\(refusals)"]) }
        if failures > 0 { context.logger.error("more requests failed", metadata: ["left_out": "\(failures)"]) }
    }

    // MARK: - Facts

    /// The resource that the request names; nil: none, or the head could not be read.
    ///
    /// Parsed again, for only requests with a line come here.
    private static func route(of request: ConnectionTable.RequestTraits) -> Route? {
        guard var segments = request.headers?.pathSegments else { return nil }
        // Its caller's id is no part of a template.
        if segments.count > 4, segments[4] == "me" { segments[4] = "m" }
        return try? Route(segments: segments)
    }

    /// The app that a request dispatches to; nil: it does not dispatch.
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

    private static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Milliseconds of a clock that costs a dispatch next to nothing to read; exact to the kernel's tick, 1 to 10 ms.
    static func coarseMilliseconds() -> UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time) == 0 else { return 0 }
        return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
