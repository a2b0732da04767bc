import CoreMetrics
import RivuletMetrics
import RivuletSessions

/// What is measured of appends.
///
/// Storage's own threads tell it, once for each append: no loop touches it on its way to a stream.
struct StorageMetrics: Sendable {
    private let appends: [any CounterHandler]
    private let entries: any RecorderHandler
    private let seconds: any TimerHandler

    init(_ factory: any MetricsFactory) {
        appends = StorageOutcome.all.map {
            factory.makeCounter(label: ServerMetric.appends.name, dimensions: $0.dimensions)
        }
        entries = factory.makeRecorder(label: ServerMetric.appendEntries.name, dimensions: [], aggregate: true)
        seconds = factory.makeTimer(label: ServerMetric.appendSeconds.name, dimensions: [])
    }

    func record(_ outcome: StorageOutcome, entries count: Int, _ time: Duration) {
        appends[outcome.index].increment(by: 1)
        guard outcome == .committed else { return }
        entries.record(Int64(count))
        let (whole, attoseconds) = time.components
        seconds.recordNanoseconds(whole * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

/// An engine that measures the appends of another.
struct MeteredStorageEngine: StorageEngine {
    let engine: any StorageEngine
    let metrics: StorageMetrics

    var capabilities: StorageCapabilities { engine.capabilities }

    func start() throws(StorageError) { try engine.start() }

    func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: KeptAnswers,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        let (count, start) = (entries.count, ContinuousClock.now)
        engine.append(key, at: point, entries, keeping: answers) { [metrics] result in
            // First: who asks for the metrics after an answer finds its append in them.
            metrics.record(StorageOutcome(result), entries: count, ContinuousClock.now - start)
            reply(result)
        }
    }

    func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) { engine.load(key, reply: reply) }

    func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        engine.create(key, epoch: epoch, time: time, snapshot: snapshot, reply: reply)
    }

    func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    ) {
        engine.history(key, epoch: epoch, after: version, limit: limit, reply: reply)
    }

    func past(
        _ key: SessionKey,
        epoch: String,
        at version: UInt64,
        reply: @escaping StorageReply<StoredPast?>
    ) {
        engine.past(key, epoch: epoch, at: version, reply: reply)
    }

    func keptAnswer(_ key: SessionKey, epoch: String, id: String, reply: @escaping StorageReply<KeptAnswer?>) {
        engine.keptAnswer(key, epoch: epoch, id: id, reply: reply)
    }

    func keptAnswers(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<KeptAnswersUsage>
    ) {
        engine.keptAnswers(key, epoch: epoch, since: time, reply: reply)
    }

    func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keepingFrom: UInt64,
        keepingSince: Int64,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        engine.compact(
            key,
            at: head,
            snapshot: snapshot,
            keepingFrom: keepingFrom,
            keepingSince: keepingSince,
            reply: reply
        )
    }

    func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) { engine.delete(key, reply: reply) }

    func sessions(app: String, after id: String?, limit: Int, reply: @escaping StorageReply<[SessionSummary]>) {
        engine.sessions(app: app, after: id, limit: limit, reply: reply)
    }

    func probe(reply: @escaping StorageReply<Void>) { engine.probe(reply: reply) }

    func close() { engine.close() }
}
