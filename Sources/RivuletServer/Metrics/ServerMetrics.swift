import CoreMetrics
import RivuletMetrics
import RivuletSessions
import Synchronization

/// The metrics of one server, in any backend.
///
/// Any thread may use the metrics. All series exist from the start with the value 0, so that a rate includes their
/// first change.
final class ServerMetrics: Sendable {
    let factory: any MetricsFactory
    let storage: StorageMetrics
    private let connections: any MeterHandler
    private let connectionsAccepted: any CounterHandler
    private let connectionsRefused: TallyHandlers<ConnectionRefusalReason>
    private let requests: TallyHandlers<LabelPair<MethodLabel, StatusClass>>
    private let problems: TallyHandlers<ProblemStatus>
    private let requestsRefused: TallyHandlers<RequestRefusalReason>
    private let authentications: TallyHandlers<AuthenticationResult>
    private let rateLimits: TallyHandlers<LimitClass>
    private let bodyBytes: any MeterHandler
    private let dispatches: [TallyHandlers<LoopCounters.Dispatch>]
    private let streams: [any MeterHandler]
    private let streamsOpened: TallyHandlers<StreamKind>
    private let streamsClosed: TallyHandlers<LabelPair<StreamKind, StreamEnd>>
    private let streamsRefused: TallyHandlers<StreamTurnedAway>
    private let streamStarts: TallyHandlers<StreamStart>
    private let streamEvents: any CounterHandler
    private let streamBytes: any CounterHandler
    private let heartbeats: any CounterHandler
    private let streamsBehind: any CounterHandler
    private let sessionsToErase: any MeterHandler
    private let sessions: any MeterHandler
    private let passivated: any MeterHandler
    private let sessionBytes: any MeterHandler
    /// The part of `sessionBytes` that belongs to a storage engine in memory.
    private let storedBytes = Atomic<Int>(0)
    private let evictions: TallyHandlers<EvictionKind>
    private let cluster: ClusterMetrics
    private let turns: any CounterHandler
    private let longestTurn: any MeterHandler
    private let process: ProcessMetrics

    /// Makes all series.
    ///
    /// - Parameters:
    ///   - factory: The backend.
    ///   - apps: The names of the hosted apps, in the order of `LoopCounters.dispatches`.
    ///   - version: The version of the program.
    init(_ factory: any MetricsFactory, apps: [String], version: String) {
        self.factory = factory
        if let exposition = factory as? any MetricsExposition { ServerMetric.all.forEach(exposition.describe) }
        func counter(_ metric: MetricDescription) -> any CounterHandler {
            factory.makeCounter(label: metric.name, dimensions: [])
        }
        func gauge(_ metric: MetricDescription, _ dimensions: [(String, String)] = []) -> any MeterHandler {
            factory.makeMeter(label: metric.name, dimensions: dimensions)
        }
        gauge(ServerMetric.buildInfo, [("version", version)]).set(Int64(1))
        storage = StorageMetrics(factory)
        connections = gauge(ServerMetric.connections)
        connectionsAccepted = counter(ServerMetric.connectionsAccepted)
        connectionsRefused = TallyHandlers(factory, ServerMetric.connectionsRefused)
        requests = TallyHandlers(factory, ServerMetric.requests)
        problems = TallyHandlers(factory, ServerMetric.problems)
        requestsRefused = TallyHandlers(factory, ServerMetric.requestsRefused)
        authentications = TallyHandlers(factory, ServerMetric.authentications)
        rateLimits = TallyHandlers(factory, ServerMetric.rateLimits)
        bodyBytes = gauge(ServerMetric.bodyBytes)
        dispatches = apps.map { TallyHandlers(factory, ServerMetric.dispatches, [("app", $0)]) { $0.isPossible } }
        streams = StreamKind.all.map { gauge(ServerMetric.streams, $0.dimensions) }
        streamsOpened = TallyHandlers(factory, ServerMetric.streamsOpened)
        streamsClosed = TallyHandlers(factory, ServerMetric.streamsClosed)
        streamsRefused = TallyHandlers(factory, ServerMetric.streamsRefused)
        streamStarts = TallyHandlers(factory, ServerMetric.streamStarts)
        streamEvents = counter(ServerMetric.streamEvents)
        streamBytes = counter(ServerMetric.streamBytes)
        heartbeats = counter(ServerMetric.heartbeats)
        streamsBehind = counter(ServerMetric.streamsBehind)
        sessionsToErase = gauge(ServerMetric.sessionsToErase)
        sessions = gauge(ServerMetric.sessions)
        passivated = gauge(ServerMetric.passivated)
        sessionBytes = gauge(ServerMetric.sessionBytes)
        evictions = TallyHandlers(factory, ServerMetric.evictions)
        cluster = ClusterMetrics(factory)
        turns = counter(ServerMetric.turns)
        longestTurn = gauge(ServerMetric.longestTurn)
        process = ProcessMetrics(factory)
    }

    /// Adds the counts of a loop, then resets them to 0.
    func publish(_ counters: LoopCounters) {
        Self.add(counters.connectionsAccepted, to: connectionsAccepted)
        connectionsRefused.add(counters.connectionsRefused)
        requests.add(counters.requests)
        problems.add(counters.problems)
        requestsRefused.add(counters.requestsRefused)
        authentications.add(counters.authentications)
        rateLimits.add(counters.rateLimits)
        for (handlers, tally) in zip(dispatches, counters.dispatches) { handlers.add(tally) }
        for kind in StreamKind.all {
            let closed = StreamEnd.all.reduce(0) { $0 + counters.streamsClosed.counts[LabelPair(kind, $1).index] }
            Self.move(streams[kind.index], by: counters.streamsOpened.counts[kind.index] - closed)
        }
        streamsOpened.add(counters.streamsOpened)
        streamsClosed.add(counters.streamsClosed)
        streamsRefused.add(counters.streamsRefused)
        streamStarts.add(counters.streamStarts)
        Self.add(counters.streamEvents, to: streamEvents)
        Self.add(counters.streamBytes, to: streamBytes)
        Self.add(counters.heartbeats, to: heartbeats)
        Self.add(counters.streamsBehind, to: streamsBehind)
        Self.add(counters.turns, to: turns)
        counters.reset()
    }

    /// Changes the gauges by the difference between a loop's present sizes and the sizes that it published before.
    func publish(_ gauges: LoopGauges, before: LoopGauges) {
        Self.move(connections, by: gauges.connections - before.connections)
        Self.move(sessions, by: gauges.sessions - before.sessions)
        Self.move(passivated, by: gauges.passivated - before.passivated)
        Self.move(sessionBytes, by: gauges.sessionBytes - before.sessionBytes)
    }

    /// Adds the sessions that were evicted from a loop's memory.
    func publish(_ evictions: Tally<EvictionKind>) {
        self.evictions.add(evictions)
    }

    /// Publishes the part that the server takes in its cluster.
    func publish(_ gateway: ClusterGateway) { cluster.publish(gateway) }

    /// Publishes the values that are measured only on request.
    ///
    /// These are the longest turn of all loops, the memory reserved for request bodies, and the number of deleted
    /// sessions that are not erased yet. The bytes of a storage engine in memory and the figures of the process are
    /// published too.
    func publishOnRequest(
        longestTurnMilliseconds: UInt64,
        bodyBytes: Int,
        sessionsToErase count: Int = 0,
        storedBytes bytes: Int = 0
    ) {
        Self.move(sessionBytes, by: bytes - storedBytes.exchange(bytes, ordering: .relaxed))
        self.bodyBytes.set(Int64(bodyBytes))
        longestTurn.set(Double(longestTurnMilliseconds) / 1_000)
        sessionsToErase.set(Int64(count))
        process.publish()
    }

    private static func add(_ amount: Int, to handler: any CounterHandler) {
        if amount != 0 { handler.increment(by: Int64(amount)) }
    }

    private static func move(_ handler: any MeterHandler, by amount: Int) {
        if amount != 0 { handler.increment(by: Double(amount)) }
    }
}

/// One counter for each set of labels.
struct TallyHandlers<Labels: MetricLabels>: Sendable {
    private let handlers: [any CounterHandler]

    /// Makes the counters.
    ///
    /// - Parameters:
    ///   - factory: The backend.
    ///   - metric: The metric that the counters belong to.
    ///   - dimensions: Labels that all counters have.
    ///   - isPossible: True if the labels can occur. Other labels have no series.
    init(
        _ factory: any MetricsFactory,
        _ metric: MetricDescription,
        _ dimensions: [(String, String)] = [],
        where isPossible: (Labels) -> Bool = { _ in true }
    ) {
        handlers = Labels.all.map { labels in
            isPossible(labels)
                ? factory.makeCounter(label: metric.name, dimensions: dimensions + labels.dimensions)
                : NOOPMetricsHandler.instance
        }
    }

    func add(_ tally: Tally<Labels>) {
        guard !tally.isEmpty else { return }
        for (handler, count) in zip(handlers, tally.counts) where count != 0 { handler.increment(by: Int64(count)) }
    }
}

extension LabelPair where First == DispatchOutcome, Second == DispatchDurability {
    /// True if the labels can occur: only accepted dispatches have a durability.
    fileprivate var isPossible: Bool { (first == .accepted) == (second != .none) }
}
