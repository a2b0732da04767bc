internal import CoreMetrics
internal import Synchronization

/// The current number of a counter or a gauge.
///
/// It can be used on any thread.
final class NumberSeries: Sendable {
    private let value = Mutex(MetricNumber.integer(0))

    /// Adds an amount to the number.
    func add(_ amount: MetricNumber) {
        value.withLock { $0 = $0 + amount }
    }

    func set(_ amount: MetricNumber) {
        value.withLock { $0 = amount }
    }

    var current: MetricNumber { value.withLock { $0 } }
}

/// A number that stays an integer as long as possible.
///
/// A `Double` alone would lose single counts beyond 2^53.
enum MetricNumber {
    case integer(Int64)
    case real(Double)

    static func + (left: MetricNumber, right: MetricNumber) -> MetricNumber {
        if case .integer(let left) = left, case .integer(let right) = right {
            let (sum, isTooLarge) = left.addingReportingOverflow(right)
            if !isTooLarge { return .integer(sum) }
        }
        return .real(left.double + right.double)
    }

    var double: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        }
    }

    /// The number in the form that Prometheus reads.
    var text: String {
        switch self {
        case .integer(let value): String(value)
        case .real(let value): Self.text(value)
        }
    }

    /// Returns a number in the form that Go's `ParseFloat` reads.
    static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map { String($0) } ?? "\(value)"
    }
}

/// The counts of a histogram.
///
/// It can be used on any thread.
final class HistogramSeries: Sendable {
    /// One count for each bound, and a last count without a bound.
    ///
    /// Each count has only the values above the previous bound.
    struct Counts {
        var counts: [Int]
        var sum = 0.0
    }

    let bounds: [Double]
    private let counts: Mutex<Counts>

    init(bounds: [Double]) {
        self.bounds = bounds
        counts = Mutex(Counts(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func observe(_ value: Double) {
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts.withLock { counts in
            counts.counts[index] += 1
            counts.sum += value
        }
    }

    var current: Counts { counts.withLock { $0 } }
}

extension NumberSeries: CounterHandler {
    func increment(by amount: Int64) {
        // A counter never decreases.
        if amount > 0 { add(.integer(amount)) }
    }

    func reset() { set(.integer(0)) }
}

extension NumberSeries: FloatingPointCounterHandler {
    func increment(by amount: Double) { add(.real(amount)) }
}

extension NumberSeries: MeterHandler {
    func set(_ value: Int64) { set(.integer(value)) }

    func set(_ value: Double) { set(.real(value)) }

    func decrement(by amount: Double) { increment(by: -amount) }
}

extension NumberSeries: RecorderHandler {
    func record(_ value: Int64) { set(.integer(value)) }

    func record(_ value: Double) { set(.real(value)) }
}

extension HistogramSeries: RecorderHandler {
    func record(_ value: Int64) { observe(Double(value)) }

    func record(_ value: Double) { observe(value) }
}

extension HistogramSeries: TimerHandler {
    func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1e9) }
}
