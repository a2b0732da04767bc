public import CoreMetrics
internal import Synchronization

/// A swift-metrics backend that stores measurements and shows them in Prometheus's format.
///
/// A registry belongs to one server, which shows it at `GET /metrics`. A program with metrics of its own passes the
/// same registry to `MetricsSystem.bootstrap`; the text then has the metrics of both. It can be used on any thread.
public final class PrometheusRegistry: MetricsExposition {
    /// The most combinations of names and labels.
    ///
    /// Handlers of further series accept values, but the text does not show them.
    public let seriesMax: Int
    private let state = Mutex(State())

    /// The bounds of timers without a description, in seconds.
    public static let secondsBounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// The bounds of recorders without a description.
    public static let sizeBounds: [Double] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 10_000]

    private struct State {
        var families: [String: Family] = [:]
        var seriesCount = 0
        /// The number of handlers that were made for series beyond the limit.
        var refused: Int64 = 0
    }

    /// Creates a registry without metrics.
    public init(seriesMax: Int = 10_000) {
        self.seriesMax = seriesMax
    }

    /// Describes a metric.
    ///
    /// Call it before the first handler of that name is made.
    public func describe(_ description: MetricDescription) {
        state.withLock { state in
            guard state.families[description.name] == nil else { return }
            state.families[description.name] = Family(description)
        }
    }

    /// Returns all metrics in Prometheus's text format, version 0.0.4, ordered by name.
    public func text() -> [UInt8] {
        let (families, refused) = state.withLock { ($0.families, $0.refused) }
        var text = ""
        for name in families.keys.sorted() { families[name]?.append(to: &text) }
        if refused > 0 {
            let help = "Requests for a new series that were refused, because \(seriesMax) exist."
            var family = Family(MetricDescription("rivulet_metric_series_refused", .gauge, help))
            let series = NumberSeries()
            series.set(refused)
            family.series[[]] = .number(series)
            family.append(to: &text)
        }
        return Array(text.utf8)
    }

    // MARK: - Making handlers

    /// Returns the counter with this name and these labels.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        number(label, dimensions, .counter)
    }

    /// Returns the counter with this name and these labels, for fractional amounts.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { number(label, dimensions, .counter) }

    /// Returns the gauge with this name and these labels.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        number(label, dimensions, .gauge)
    }

    /// Returns the histogram with this name and these labels, or a gauge of the last value if nothing is aggregated.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        aggregate ? histogram(label, dimensions, Self.sizeBounds) : number(label, dimensions, .gauge)
    }

    /// Returns the histogram of seconds with this name and these labels.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions, Self.secondsBounds)
    }

    /// Removes this counter from the text.
    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

    /// Removes this counter from the text.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }

    /// Removes this gauge from the text.
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }

    /// Removes this recorder from the text.
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

    /// Removes this timer from the text.
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func number(
        _ label: String,
        _ dimensions: [(String, String)],
        _ kind: MetricDescription.Kind
    ) -> NumberSeries {
        let made = series(label, dimensions, MetricDescription(Family.name(label), kind, "")) { _ in
            .number(NumberSeries())
        }
        // The name belongs to a metric of another kind. The handler accepts values, but the text does not show them,
        // because a metric has one kind.
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

    /// Returns the series with this name and these labels; creates it if there is none.
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
