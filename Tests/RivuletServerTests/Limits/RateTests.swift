// Checks the rates of limits.

import Testing

@testable import RivuletServer

@Suite struct RateTests {
    @Test(
        arguments: [
            (100, 1, 400, 10_000), (10, 60, 60, 6_000_000), (3, 1, 3, 333_333), (10_485_760, 60, 52_428_800, 5),
            (1, 86_400, 1, 86_400_000_000), (1_000_000_000_000, 1, 1, 1),
            (1_000_000_000_000, 86_400, 1_000_000_000_000, 1),
        ] as [(Int, Int, Int, UInt64)]
    )
    func `the whole burst is there at once`(_ quota: Int, _ window: Int, _ burst: Int, _ unit: UInt64) throws {
        let rate = try #require(Rate(quota: quota, windowSeconds: window, burst: burst))
        #expect(rate.microseconds(of: 1) == unit)
        #expect(rate.microseconds(of: burst) == rate.capacity && rate.microseconds(of: burst + 1) == rate.capacity)
        #expect(rate.count(in: rate.capacity) == burst && rate.count(in: 0) == 0)
        guard burst <= 1_000 else { return }
        let table = ArrivalTable(slots: 1)
        let taken = (0..<2 * burst).count { _ in
            if case .taken = table.take(unit, of: 1, within: rate.capacity, at: 0) { true } else { false }
        }
        #expect(taken == burst)
    }

    @Test(
        arguments: [
            (0, 1, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1), (1, 86_401, 1), (1, 1, 86_401), (1_000_000_000_001, 1, 1),
            (.max, .max, .max), (1, 86_400, 2),
        ] as [(Int, Int, Int)]
    )
    func `other numbers are no rate`(_ quota: Int, _ window: Int, _ burst: Int) {
        #expect(Rate(quota: quota, windowSeconds: window, burst: burst) == nil)
    }
}
