/// A problem on the way to its connection, where its log line is written and its `trace_id` is known.
final class PendingProblem: Sendable {
    let problem: Problem
    /// The cause that the problem leaves out; nil if it leaves out nothing.
    let cause: (any Error)?
    let kind: DispatchOutcome?
    /// The name of the refused event as it was sent, which may be any text.
    let event: @Sendable () -> String?

    init(
        _ problem: Problem,
        cause: (any Error)?,
        kind: DispatchOutcome?,
        event: @escaping @Sendable () -> String?
    ) {
        (self.problem, self.cause, self.kind, self.event) = (problem, cause, kind, event)
    }

    /// The outcome of a dispatch that was refused before it reached its session.
    var outcome: DispatchOutcome {
        if let kind { return kind }
        return switch problem.status {
        case 404: .notFound
        case 409, 412: .conflict
        case 429, 503: .overloaded
        case 500...: .failed
        default: .invalid
        }
    }
}
