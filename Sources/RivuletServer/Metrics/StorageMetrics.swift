import CoreMetrics
import RivuletBase
import RivuletMetrics
import RivuletSessions

/// The metrics of appends.
///
/// The threads of storage record each append here, so that no loop spends time on it.
final class StorageMetrics: AppendMeter {
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

    func record(_ result: Result<AppendOutcome, StorageError>, entries count: Int, _ time: Duration) {
        let outcome = StorageOutcome(result)
        appends[outcome.index].increment(by: 1)
        guard outcome == .committed else { return }
        entries.record(Int64(count))
        seconds.recordNanoseconds(Int64(time.nanoseconds))
    }
}
