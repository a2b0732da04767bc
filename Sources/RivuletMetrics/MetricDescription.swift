/// A metric's name, kind and help text.
public struct MetricDescription: Sendable, Hashable {
    /// What a metric's values are.
    public enum Kind: Sendable, Hashable {
        /// Only grows while the process runs.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts what it is told by upper bounds, smallest first; seconds where it measures time.
        case histogram(bounds: [Double])

        /// The kind as a `# TYPE` line has it.
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
    /// What its values are.
    public let kind: Kind
    /// One sentence.
    public let help: String
    /// The names of its labels.
    public let labels: [String]

    /// Describes a metric.
    public init(_ name: String, _ kind: Kind, _ help: String, labels: [String] = []) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
    }
}
