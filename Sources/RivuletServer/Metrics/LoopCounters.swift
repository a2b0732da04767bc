import RivuletHTTP
import RivuletSessions

/// The counts by labels since they were published last.
struct Tally<Labels: MetricLabels> {
    private(set) var counts = [Int](repeating: 0, count: Labels.all.count)
    private(set) var isEmpty = true

    mutating func add(_ labels: Labels, _ amount: Int = 1) {
        counts[labels.index] += amount
        isEmpty = false
    }

    /// Sets all counts to 0.
    mutating func reset() {
        for index in counts.indices { counts[index] = 0 }
        isEmpty = true
    }
}

/// The counts of one loop since it published last.
///
/// A delivery or a request only adds to integers here. `ServerMetrics` has the handlers of the backend.
final class LoopCounters {
    /// The labels of a dispatch, in addition to its app.
    typealias Dispatch = LabelPair<DispatchOutcome, DispatchDurability>

    private(set) var connectionsAccepted = 0
    private(set) var connectionsRefused = Tally<ConnectionRefusalReason>()
    private(set) var requests = Tally<LabelPair<MethodLabel, StatusClass>>()
    private(set) var problems = Tally<ProblemStatus>()
    private(set) var requestsRefused = Tally<RequestRefusalReason>()
    private(set) var authentications: Tally<AuthenticationResult> {
        _read { yield unsafe storedAuthentications }
        _modify { yield unsafe &storedAuthentications }
    }
    // SAFETY: one loop has the counters, and no access calls other code, so accesses never overlap. Each request of a
    // caller counts its credential.
    @exclusivity(unchecked) private var storedAuthentications = Tally<AuthenticationResult>()
    private(set) var rateLimits = Tally<LimitClass>()
    /// The counts of dispatches, by the index of the app.
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
    /// The longest turn since `takeLongestTurn` was called last, in milliseconds; publishing does not reset it.
    private var longestTurn: UInt64 = 0

    init(apps: Int) {
        dispatches = Array(repeating: Tally(), count: apps)
    }

    // MARK: - Counting

    func connectionAccepted() { connectionsAccepted += 1 }

    func connectionRefused(_ cause: ConnectionRefusalReason) { connectionsRefused.add(cause) }

    func requestAnswered(_ method: MethodLabel, _ status: HTTPStatus) {
        requests.add(LabelPair(method, StatusClass(status)))
        if status.code >= 400 { problems.add(ProblemStatus(status)) }
    }

    /// Counts a request that was refused before its body was read to the end; its answer is counted like any other.
    func requestRefused(_ cause: RequestRefusalReason) { requestsRefused.add(cause) }

    /// Counts the result of looking at a request's credential, or of deciding about its permissions.
    func authenticated(_ result: AuthenticationResult) { authentications.add(result) }

    /// Counts a request, stream or connection that was refused because its caller has used its quota.
    func rateLimited(_ name: LimitClass) { rateLimits.add(name) }

    func dispatched(app: Int, _ outcome: DispatchOutcome, _ durability: DispatchDurability = .none) {
        dispatches[app].add(LabelPair(outcome, durability))
    }

    /// Counts a stream when its head is sent, with or without first events.
    func streamOpened(_ kind: StreamKind) { streamsOpened.add(kind) }

    /// Counts the end of a stream that was opened.
    func streamClosed(_ kind: StreamKind, _ reason: StreamEnd) { streamsClosed.add(LabelPair(kind, reason)) }

    /// Counts a stream that was answered with a single `bye`.
    func streamRefused(_ reason: StreamTurnedAway) { streamsRefused.add(reason) }

    /// Counts the way in which a stream begins, when a client opens it.
    func streamStarted(_ way: StreamStart) { streamStarts.add(way) }

    /// Counts the events written to streams, an event once for each stream, and their bytes.
    func delivered(events: Int, bytes: Int) {
        streamEvents += events
        streamBytes += bytes
    }

    /// Counts the heartbeats written to streams, and their bytes.
    func heartbeats(_ count: Int, bytes: Int) {
        heartbeats += count
        streamBytes += bytes
    }

    /// Counts a stream with more unsent bytes than the limit.
    func streamFellBehind() { streamsBehind += 1 }

    func turnEnded(milliseconds: UInt64) {
        turns += 1
        if milliseconds > longestTurn { longestTurn = milliseconds }
    }

    // MARK: - Publishing

    /// Starts all counts over after they were published.
    func reset() {
        connectionsAccepted = 0
        connectionsRefused.reset()
        requests.reset()
        problems.reset()
        requestsRefused.reset()
        authentications.reset()
        rateLimits.reset()
        for index in dispatches.indices where !dispatches[index].isEmpty { dispatches[index].reset() }
        streamsOpened.reset()
        streamsClosed.reset()
        streamsRefused.reset()
        streamStarts.reset()
        (streamEvents, streamBytes, heartbeats, streamsBehind, turns) = (0, 0, 0, 0, 0)
    }

    /// Returns the longest turn since the last call, in milliseconds.
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

    /// Counts a dispatch with an idempotency key in the same way.
    func count(_ result: Result<OnceAnswer, SessionError>, of app: Int) {
        switch result {
        case .success(let answer) where answer.isReplay: dispatched(app: app, .replayed)
        case .success(let answer):
            dispatched(app: app, .accepted, DispatchDurability(isDurable: answer.isDurable))
        case .failure(let error): dispatched(app: app, DispatchOutcome(error))
        }
    }
}

/// The current sizes of one loop.
struct LoopGauges {
    var connections = 0
    var sessions = 0
    var passivated = 0
    var sessionBytes = 0
}
