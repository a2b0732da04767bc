public import CoreMetrics

/// A metrics factory that can be asked for everything that was measured.
public protocol MetricsExposition: MetricsFactory {
    /// Says what a metric is; before the first handler of that name is made.
    func describe(_ description: MetricDescription)

    /// All metrics in Prometheus's text format, version 0.0.4.
    ///
    /// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.
    func text() -> [UInt8]
}
