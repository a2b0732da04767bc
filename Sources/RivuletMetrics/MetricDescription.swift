/// A metric's name, kind and help text.
public struct MetricDescription: Sendable, Hashable {
    /// The kind of a metric's values.
    public enum Kind: Sendable, Hashable {
        /// Only grows while the process runs.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts values by upper bounds, smallest first.
        ///
        /// Bounds of times are in seconds.
        case histogram(bounds: [Double])

        /// The kind as it is written in a `# TYPE` line.
        package var name: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    /// The full name, by Prometheus's conventions.
    ///
    /// Source: <https://prometheus.io/docs/practices/naming/>.
    public let name: String
    /// The kind of the values.
    public let kind: Kind
    /// The help text, one sentence.
    public let help: String
    /// The names of the labels.
    public let labels: [String]

    /// Creates the description of a metric.
    public init(_ name: String, _ kind: Kind, _ help: String, labels: [String] = []) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
    }
}
