public import CoreMetrics

/// A metrics factory that can return all of its measurements.
public protocol MetricsExposition: MetricsFactory {
    /// Describes a metric.
    ///
    /// Call it before the first handler of that name is made.
    func describe(_ description: MetricDescription)

    /// Returns all metrics in Prometheus's text format, version 0.0.4.
    ///
    /// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.
    func text() -> [UInt8]
}
