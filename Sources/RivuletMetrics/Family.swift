/// One label of a series.
struct MetricLabel: Hashable, Sendable {
    let name: String
    let value: String
}

/// The values behind a name and its labels.
enum Series: Sendable {
    case number(NumberSeries)
    case histogram(HistogramSeries)

    var object: AnyObject {
        switch self {
        case .number(let series): series
        case .histogram(let series): series
        }
    }
}

/// All series of one name.
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>.
struct Family: Sendable {
    let description: MetricDescription
    var series: [[MetricLabel]: Series] = [:]

    init(_ description: MetricDescription) {
        self.description = description
    }

    /// Appends the help text, the type and a line for each value; nothing for a metric without values.
    func append(to text: inout String) {
        guard !series.isEmpty else { return }
        let name = description.name
        if !description.help.isEmpty {
            let help = description.help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
            text += "# HELP \(name) \(help)\n"
        }
        text += "# TYPE \(name) \(description.kind.name)\n"
        let lines = series.map { (labels: $0.key, text: $0.key.map(\.text).joined(separator: ","), series: $0.value) }
        for line in lines.sorted(by: { $0.text < $1.text }) {
            switch line.series {
            case .number(let series): text += "\(name)\(Self.braces(line.text)) \(series.current.text)\n"
            case .histogram(let series): append(series, line.text, to: &text)
            }
        }
    }

    private func append(_ series: HistogramSeries, _ labels: String, to text: inout String) {
        let (name, current) = (description.name, series.current)
        var count = 0
        for (bound, counted) in zip(series.bounds + [.infinity], current.counts) {
            count += counted
            let bound = #"le="\#(MetricNumber.text(bound))""#
            text += "\(name)_bucket\(Self.braces(labels.isEmpty ? bound : "\(labels),\(bound)")) \(count)\n"
        }
        text += "\(name)_sum\(Self.braces(labels)) \(MetricNumber.text(current.sum))\n"
        text += "\(name)_count\(Self.braces(labels)) \(count)\n"
    }

    private static func braces(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

    /// Returns a valid Prometheus name, `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    ///
    /// Each invalid character becomes an underscore.
    static func name(_ label: String) -> String { name(label, hasColons: true) }

    /// Returns a valid name of a label, `[a-zA-Z_][a-zA-Z0-9_]*`.
    static func labelName(_ label: String) -> String { name(label, hasColons: false) }

    private static func name(_ label: String, hasColons: Bool) -> String {
        let text = String(label.map { isNamed($0) || (hasColons && $0 == ":") ? $0 : "_" })
        return text.first.map { $0.isNumber } ?? true ? "_" + text : text
    }

    private static func isNamed(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_")
    }
}

extension MetricLabel {
    /// The label as it is written in a line.
    fileprivate var text: String {
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\(name)=\"\(escaped)\""
    }
}
