public import CoreMetrics
internal import Synchronization

/// A swift-metrics backend that keeps what it is told, and shows it as Prometheus reads it.
///
/// One belongs to one server, which shows it at `GET /metrics`; a program that measures things of its own gives the same one to
/// `MetricsSystem.bootstrap`, and both are shown together. Any thread.
public final class PrometheusRegistry: MetricsExposition {
    /// The most combinations of names and labels; what is made beyond counts, but is not shown.
    public let seriesMax: Int
    private let state = Mutex(State())

    /// The bounds of timers nobody has described, in seconds.
    public static let secondsBounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// The bounds of recorders nobody has described.
    public static let sizeBounds: [Double] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 10_000]

    private struct State {
        var families: [String: Family] = [:]
        var seriesCount = 0
        /// How many series had no room.
        var refused: Int64 = 0
    }

    /// A registry without metrics.
    public init(seriesMax: Int = 10_000) {
        self.seriesMax = seriesMax
    }

    /// Says what a metric is; before the first handler of that name is made.
    public func describe(_ description: MetricDescription) {
        state.withLock { state in
            guard state.families[description.name] == nil else { return }
            state.families[description.name] = Family(description)
        }
    }

    /// All metrics in Prometheus's text format, version 0.0.4, ordered by name.
    public func text() -> [UInt8] {
        let (families, refused) = state.withLock { ($0.families, $0.refused) }
        var text = ""
        for name in families.keys.sorted() { families[name]?.append(to: &text) }
        if refused > 0 {
            let help = "Series that are not shown, because there are more than \(seriesMax)."
            var family = Family(MetricDescription("rivulet_metric_series_refused", .gauge, help))
            let series = NumberSeries()
            series.set(refused)
            family.series[[]] = .number(series)
            family.append(to: &text)
        }
        return Array(text.utf8)
    }

    // MARK: - Making handlers

    /// The counter of that name and these labels.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        number(label, dimensions, .counter)
    }

    /// The counter of that name and these labels, for amounts that are not whole.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { number(label, dimensions, .counter) }

    /// The gauge of that name and these labels.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        number(label, dimensions, .gauge)
    }

    /// The histogram of that name and these labels, or, where nothing is to be aggregated, a gauge of the last value.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        aggregate ? histogram(label, dimensions, Self.sizeBounds) : number(label, dimensions, .gauge)
    }

    /// The histogram of seconds of that name and these labels.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions, Self.secondsBounds)
    }

    /// Shows this counter no more.
    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

    /// Shows this counter no more.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }

    /// Shows this gauge no more.
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }

    /// Shows this recorder no more.
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

    /// Shows this timer no more.
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func number(
        _ label: String,
        _ dimensions: [(String, String)],
        _ kind: MetricDescription.Kind
    ) -> NumberSeries {
        let made = series(label, dimensions, MetricDescription(Family.name(label), kind, "")) { _ in
            .number(NumberSeries())
        }
        // A name of another kind: it counts, but a metric has one kind, and so it is not shown.
        guard case .number(let series) = made else { return NumberSeries() }
        return series
    }

    private func histogram(
        _ label: String,
        _ dimensions: [(String, String)],
        _ bounds: [Double]
    ) -> HistogramSeries {
        let made = series(label, dimensions, MetricDescription(Family.name(label), .histogram(bounds: bounds), "")) {
            guard case .histogram(let bounds) = $0 else { return .number(NumberSeries()) }
            return .histogram(HistogramSeries(bounds: bounds))
        }
        guard case .histogram(let series) = made else { return HistogramSeries(bounds: bounds) }
        return series
    }

    /// The series of that name and these labels, new where there is none.
    private func series(
        _ label: String,
        _ dimensions: [(String, String)],
        _ description: MetricDescription,
        _ make: (MetricDescription.Kind) -> Series
    ) -> Series {
        let labels = dimensions.map { MetricLabel(name: Family.labelName($0.0), value: $0.1) }
        return state.withLock { state in
            let family = state.families[description.name] ?? Family(description)
            if let series = family.series[labels] { return series }
            let series = make(family.description.kind)
            guard family.description.kind.name == description.kind.name else { return series }
            guard state.seriesCount < seriesMax else {
                state.refused += 1
                return series
            }
            state.seriesCount += 1
            state.families[description.name] = family
            state.families[description.name]?.series[labels] = series
            return series
        }
    }

    private func remove(_ handler: AnyObject) {
        state.withLock { state in
            for (name, family) in state.families {
                guard let labels = family.series.first(where: { $0.value.object === handler })?.key else { continue }
                state.families[name]?.series[labels] = nil
                state.seriesCount -= 1
            }
        }
    }
}
