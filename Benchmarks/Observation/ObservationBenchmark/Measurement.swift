// This file owns the measurement of one figure: many repetitions, several rounds, the best round, and the allocations
// of one operation.

import CAllocationCount

/// One measured operation.
struct Measurement {
    /// The number of rounds.
    ///
    /// The figure is the best round, because other work on the machine only adds time.
    static let rounds = 7

    let name: String
    let nanoseconds: Double
    let allocations: Double

    /// Runs `body`, which repeats the operation `count` times, and divides the time by `count`.
    init(_ name: String, count: Int, _ body: (Int) -> Void) {
        body(max(1, count / 10))
        var best = Duration.seconds(3600)
        var allocations = UInt64.max
        for _ in 0..<Self.rounds {
            let before = allocation_count()
            let took = ContinuousClock().measure { body(count) }
            allocations = min(allocations, allocation_count() - before)
            best = min(best, took)
        }
        self.name = name
        nanoseconds = best / .nanoseconds(1) / Double(count)
        self.allocations = Double(allocations) / Double(count)
    }

    /// The figure as a row: name, time, allocations.
    var row: String {
        let time = Self.number(nanoseconds, nanoseconds < 1000 ? 1 : 0)
        return Self.pad(name, 58) + Self.pad(time, 12, leading: true)
            + Self.pad(Self.number(allocations, 2), 12, leading: true)
    }

    static func pad(_ text: String, _ width: Int, leading: Bool = false) -> String {
        let space = String(repeating: " ", count: max(1, width - text.count))
        return leading ? space + text : text + space
    }

    private static func number(_ value: Double, _ digits: Int) -> String {
        let factor = digits == 0 ? 1.0 : digits == 1 ? 10.0 : 100.0
        let scaled = Int((value * factor).rounded())
        guard digits > 0 else { return "\(scaled)" }
        let fraction = String(scaled % Int(factor))
        return "\(scaled / Int(factor))." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}

/// Keeps the optimiser from removing an unused value.
@inline(never)
func use<Value>(_ value: borrowing Value) {}

/// Hides a value from the optimiser.
@inline(never)
@_optimize(none)
func hide<Value>(_ value: Value) -> Value { value }
