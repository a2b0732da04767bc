import RivuletHTTP
import RivuletSessions

/// Counts by labels since they were published last.
struct Tally<Labels: MetricLabels> {
    private(set) var counts = [Int](repeating: 0, count: Labels.all.count)
    private(set) var isEmpty = true

    mutating func add(_ labels: Labels, _ amount: Int = 1) {
        counts[labels.index] += amount
        isEmpty = false
    }

    /// Begins again at nothing.
    mutating func reset() {
        for index in counts.indices { counts[index] = 0 }
        isEmpty = true
    }
}

/// The counts of one loop since it published last.
///
/// A delivery or a request only adds to integers here; `ServerMetrics` has the handlers that are told.
final class LoopCounters {
    /// What a dispatch is counted under, beside its app.
    typealias Dispatch = LabelPair<DispatchOutcome, DispatchDurability>

    private(set) var connectionsAccepted = 0
    private(set) var connectionsRefused = Tally<RefusalCause>()
    private(set) var requests = Tally<LabelPair<MethodLabel, StatusClass>>()
    private(set) var problems = Tally<ProblemStatus>()
    private(set) var requestsRefused = Tally<RequestRefusal>()
    /// By the place of the app's name among all.
    private(set) var dispatches: [Tally<Dispatch>]
    private(set) var streamsOpened = Tally<StreamKind>()
    private(set) var streamsClosed = Tally<LabelPair<StreamKind, StreamEnd>>()
    private(set) var streamsRefused = Tally<StreamTurnedAway>()
    private(set) var streamStarts = Tally<StreamStart>()
    private(set) var streamEvents = 0
    private(set) var streamBytes = 0
    private(set) var heartbeats = 0
    private(set) var streamsBehind = 0
    private(set) var turns = 0
    /// The longest turn since it was asked for last, in milliseconds; this one publishing does not reset.
    private var longestTurn: UInt64 = 0

    init(apps: Int) {
        dispatches = Array(repeating: Tally(), count: apps)
    }

    // MARK: - Counting

    func connectionAccepted() { connectionsAccepted += 1 }

    func connectionRefused(_ cause: RefusalCause) { connectionsRefused.add(cause) }

    func requestAnswered(_ method: MethodLabel, _ status: HTTPStatus) {
        requests.add(LabelPair(method, StatusClass(status)))
        if status.code >= 400 { problems.add(ProblemStatus(status)) }
    }

    /// A request was refused before its body was read to the end; its answer is counted as any other.
    func requestRefused(_ cause: RequestRefusal) { requestsRefused.add(cause) }

    func dispatched(app: Int, _ outcome: DispatchOutcome, _ durability: DispatchDurability = .none) {
        dispatches[app].add(LabelPair(outcome, durability))
    }

    /// A stream was answered with its head and its first event, or none.
    func streamOpened(_ kind: StreamKind) { streamsOpened.add(kind) }

    /// A stream that was opened has ended.
    func streamClosed(_ kind: StreamKind, _ reason: StreamEnd) { streamsClosed.add(LabelPair(kind, reason)) }

    /// A stream was answered with a `bye` and nothing else.
    func streamRefused(_ reason: StreamTurnedAway) { streamsRefused.add(reason) }

    /// A reader was told where it begins: when it opens a stream.
    func streamStarted(_ way: StreamStart) { streamStarts.add(way) }

    /// So many events went to so many streams, in that many bytes altogether.
    func delivered(events: Int, bytes: Int) {
        streamEvents += events
        streamBytes += bytes
    }

    /// So many streams got a comment.
    func heartbeats(_ count: Int, bytes: Int) {
        heartbeats += count
        streamBytes += bytes
    }

    /// A stream's unsent bytes passed the limit.
    func streamFellBehind() { streamsBehind += 1 }

    func turnEnded(milliseconds: UInt64) {
        turns += 1
        if milliseconds > longestTurn { longestTurn = milliseconds }
    }

    // MARK: - Publishing

    /// Everything is published: counting begins again.
    func reset() {
        connectionsAccepted = 0
        connectionsRefused.reset()
        requests.reset()
        problems.reset()
        requestsRefused.reset()
        for index in dispatches.indices where !dispatches[index].isEmpty { dispatches[index].reset() }
        streamsOpened.reset()
        streamsClosed.reset()
        streamsRefused.reset()
        streamStarts.reset()
        (streamEvents, streamBytes, heartbeats, streamsBehind, turns) = (0, 0, 0, 0, 0)
    }

    /// The longest turn, in milliseconds, since this was asked last.
    func takeLongestTurn() -> UInt64 {
        defer { longestTurn = 0 }
        return longestTurn
    }
}

extension LoopCounters {
    /// Counts a dispatch to an app, by the app's index, on the loop of its session.
    func count(_ result: Result<DispatchAnswer, SessionError>, of app: Int) {
        switch result {
        case .success(let answer):
            dispatched(app: app, .accepted, DispatchDurability(isDurable: answer.isDurable))
        case .failure(let error): dispatched(app: app, DispatchOutcome(error))
        }
    }

    /// The same for a request with an idempotency key.
    func count(_ result: Result<OnceAnswer, SessionError>, of app: Int) {
        switch result {
        case .success(let answer) where answer.isReplay: dispatched(app: app, .replayed)
        case .success(let answer):
            dispatched(app: app, .accepted, DispatchDurability(isDurable: answer.isDurable))
        case .failure(let error): dispatched(app: app, DispatchOutcome(error))
        }
    }
}

/// What one loop holds now.
struct LoopGauges {
    var connections = 0
    var sessions = 0
    var parked = 0
    var sessionBytes = 0
}
