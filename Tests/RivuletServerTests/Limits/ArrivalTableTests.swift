// Checks the rates of limits against a bucket of tokens, and the table that keeps them.

import SeededRandom
import Testing

@testable import RivuletServer

/// A bucket that fills by one in each microsecond: the same algorithm, written another way.
private struct Bucket {
    let capacity: UInt64
    private var level: UInt64
    private var time: UInt64

    init(capacity: UInt64, at time: UInt64) { (self.capacity, level, self.time) = (capacity, capacity, time) }

    mutating func take(_ cost: UInt64, at now: UInt64) -> ArrivalTable.Outcome {
        level = min(level + (now - time), capacity)
        time = now
        guard level >= cost else { return .refused(wait: cost - level) }
        level -= cost
        return .taken(ahead: capacity - level)
    }

    mutating func giveBack(_ cost: UInt64) { level = min(level + cost, capacity) }
}

@Suite struct ArrivalTableTests {
    private static let key: UInt64 = 0xABCD_EF01_2345_6789

    /// All sequences of this length over the elements.
    private static func sequences<Element>(of elements: [Element], length: Int) -> [[Element]] {
        (0..<length).reduce([[]]) { sequences, _ in sequences.flatMap { start in elements.map { start + [$0] } } }
    }

    @Test(arguments: [(1, 1), (1, 3), (2, 5), (3, 4)])
    func `each sequence of costs and pauses ends as with a bucket of tokens`(_ quota: Int, _ burst: Int) throws {
        let rate = try #require(Rate(quota: quota, windowSeconds: 1, burst: burst))
        let unit = rate.microseconds(of: 1)
        let pauses = [UInt64(0), 1, unit - 1, unit, 3 * unit]
        let steps = pauses.map { (pause: $0, count: 1) } + pauses.map { (pause: $0, count: 2) }
        for steps in Self.sequences(of: steps, length: 4) {
            let table = ArrivalTable(slots: 1)
            var (now, bucket) = (UInt64(5), Bucket(capacity: rate.capacity, at: 5))
            for (pause, count) in steps {
                now += pause
                let cost = rate.microseconds(of: count)
                let outcome = table.take(cost, of: Self.key, within: rate.capacity, at: now)
                #expect(outcome == bucket.take(cost, at: now))
            }
        }
    }

    @Test func `random costs of many keys end as with a bucket for each key`() throws {
        var random = SeededGenerator(seed: 7)
        let rate = try #require(Rate(quota: 7, windowSeconds: 3, burst: 11))
        // The sixteenth bit is the last one of a slot, so each key has a slot of its own.
        let keys = (UInt64(0)..<64).map { $0 | UInt64.random(in: .min ... .max, using: &random) << 16 }
        let table = ArrivalTable()
        var (now, buckets) = (UInt64(1) << 44 - 1_000_000, [UInt64: Bucket]())
        for _ in 0..<50_000 {
            now += UInt64.random(in: 0...20_000, using: &random)
            let key = try #require(keys.randomElement(using: &random))
            let cost = rate.microseconds(of: Int.random(in: 1...12, using: &random))
            var bucket = buckets[key] ?? Bucket(capacity: rate.capacity, at: now)
            let outcome = table.take(cost, of: key, within: rate.capacity, at: now)
            try #require(outcome == bucket.take(cost, at: now))
            if case .taken = outcome, Bool.random(using: &random) {
                table.giveBack(cost, of: key, within: rate.capacity, at: now)
                bucket.giveBack(cost)
            }
            buckets[key] = bucket
        }
    }

    @Test func `a full table refuses a key only for its own costs`() throws {
        var random = SeededGenerator(seed: 8)
        let rate = try #require(Rate(quota: 5, windowSeconds: 1, burst: 4))
        let (table, cost) = (ArrivalTable(slots: 2), rate.microseconds(of: 1))
        let keys = (UInt64(0)..<40).map { $0 | $0 << 45 }
        var (now, taken, refusedCount) = (UInt64(0), [UInt64: [UInt64]](), 0)
        for _ in 0..<20_000 {
            now += UInt64.random(in: 0...10_000, using: &random)
            // Some keys send much more often than others.
            let range = Bool.random(using: &random) ? 0..<3 : keys.indices
            let key = keys[Int.random(in: range, using: &random)]
            let recent = taken[key, default: []].filter { $0 + rate.capacity > now }
            switch table.take(cost, of: key, within: rate.capacity, at: now) {
            case .taken: taken[key] = recent + [now]
            case .refused:
                refusedCount += 1
                try #require(UInt64(recent.count + 1) * cost > rate.capacity)
            }
        }
        #expect(refusedCount > 1_000)
    }

    @Test func `a third key of a slot replaces the one with the earlier time`() throws {
        let table = ArrivalTable(slots: 1)
        let keys = (UInt64(1)...3).map { $0 << 45 }
        #expect(table.take(50, of: keys[0], within: 100, at: 0) == .taken(ahead: 50))
        #expect(table.take(80, of: keys[1], within: 100, at: 0) == .taken(ahead: 80))
        #expect(table.take(30, of: keys[2], within: 100, at: 0) == .taken(ahead: 30))
        #expect(table.take(30, of: keys[1], within: 100, at: 0) == .refused(wait: 10))
        #expect(table.take(80, of: keys[2], within: 100, at: 0) == .refused(wait: 10))
        // The first key is forgotten, and has its whole burst. To take back its cost changes no other key.
        table.giveBack(50, of: keys[0], within: 100, at: 0)
        #expect(table.take(100, of: keys[0], within: 100, at: 0) == .taken(ahead: 100))
    }

    @Test func `a time of the past is a full burst, also after months`() {
        for days in [UInt64(1), 50, 101, 102, 150, 203, 204, 1_000] {
            let table = ArrivalTable(slots: 1)
            #expect(table.take(1_000_000, of: Self.key, within: 1_000_000, at: 0) == .taken(ahead: 1_000_000))
            let later = days * 86_400_000_000
            #expect(table.take(1_000_000, of: Self.key, within: 1_000_000, at: later) == .taken(ahead: 1_000_000))
            #expect(table.take(1, of: Self.key, within: 1_000_000, at: later) == .refused(wait: 1))
        }
    }

    @Test func `a caller with a clock that is behind gets no second burst`() {
        let table = ArrivalTable(slots: 1)
        #expect(table.take(1_000, of: Self.key, within: 1_000, at: 50_000) == .taken(ahead: 1_000))
        #expect(table.take(1, of: Self.key, within: 1_000, at: 48_000) == .refused(wait: 2_001))
    }

    @Test func `callers at the same time get one burst together`() async {
        let table = ArrivalTable()
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<1_000).count { _ in
                        if case .taken = table.take(10, of: Self.key, within: 20_000, at: 0) { true } else { false }
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(taken == 2_000)
    }
}
