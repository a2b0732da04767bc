// Checks that a state's size is accurate enough, and that measuring it costs little.

import Testing

@testable import RivuletSessions

@Suite struct StateSizeTests {
    /// A text that events replace, and the number of its measurements.
    private final class Model {
        var size: StateSize
        var bytes: Int
        let limit: Int
        var wholes = 0
        var growths = 0

        init(_ bytes: Int, limit: Int) {
            self.bytes = bytes
            self.limit = limit
            size = StateSize(atMost: bytes)
        }

        /// Replaces `old` bytes by `new` bytes.
        func replace(_ old: Int, by new: Int) -> Bool {
            let isCounted =
                size.countAtMost(new, limit: limit)
                || size.count(limit: limit) {
                    wholes += 1
                    return bytes + new - old
                } growth: {
                    growths += 1
                    return new - old
                }
            if isCounted { bytes += new - old }
            return isCounted
        }
    }

    @Test func `a state that stays small is measured seldom`() {
        let model = Model(1_000, limit: 1_000_000)
        for _ in 0..<10_000 { #expect(model.replace(50, by: 50)) }
        #expect(model.wholes < 10_000 * 50 / 4_000)
        #expect(model.growths == 0)
        #expect((1_000...6_100).contains(model.size.bytes))
    }

    @Test func `a state grows up to its limit and not beyond`() {
        let model = Model(0, limit: 1_000_000)
        for _ in 0..<10_000 { #expect(model.replace(0, by: 100)) }
        #expect(model.size.bytes == 1_000_000)
        #expect(!model.replace(0, by: 1))
        #expect(model.size.bytes == 1_000_000)
        #expect(model.replace(100, by: 100))
        #expect(model.replace(100, by: 50))
        #expect(model.replace(0, by: 50))
        #expect(model.wholes < 30)
    }

    @Test func `a full state is not measured for each event that it refuses`() {
        let model = Model(0, limit: 1_000_000)
        #expect(model.replace(0, by: 1_000_000))
        for _ in 0..<1_000 { #expect(!model.replace(0, by: 1)) }
        #expect(model.wholes == 1)
    }

    @Test func `a state that is larger than its limit may shrink, and not grow`() {
        let model = Model(2_000, limit: 1_000)
        #expect(!model.replace(0, by: 1))
        #expect(model.replace(500, by: 100))
        #expect(model.bytes == 1_600)
        #expect(!model.replace(0, by: 1))
        #expect(model.replace(1_500, by: 0))
        #expect(model.replace(0, by: 900))
        #expect(!model.replace(0, by: 1))
    }

    @Test func `a state whose upper bound is too large is measured before an event is refused`() {
        let model = Model(5_000, limit: 1_000)
        model.bytes = 100
        #expect(model.replace(0, by: 800))
        #expect(model.size.bytes == 900)
    }
}
