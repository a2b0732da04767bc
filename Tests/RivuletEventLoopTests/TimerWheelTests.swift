// Owns the tests of the timer wheel, with the time as an argument.

import RivuletEventLoop
import SeededRandom
import Testing

@Suite struct TimerWheelTests {
    private func due(_ wheel: inout TimerWheel<Int>, at now: UInt64) -> [Int] {
        wheel.advance(to: now)
        var result: [Int] = []
        while let value = wheel.popDue() { result.append(value) }
        return result
    }

    @Test func `short timers fire at their millisecond`() {
        var wheel = TimerWheel<Int>(time: 1_000)
        _ = wheel.schedule(at: 1_005, 5)
        _ = wheel.schedule(at: 1_001, 1)
        #expect(wheel.nextWake() == 1_001)
        #expect(due(&wheel, at: 1_000).isEmpty)
        #expect(due(&wheel, at: 1_001) == [1])
        #expect(wheel.nextWake() == 1_005)
        #expect(due(&wheel, at: 1_004).isEmpty)
        #expect(due(&wheel, at: 1_005) == [5])
        #expect(wheel.nextWake() == nil)
        #expect(wheel.count == 0)
    }

    @Test func `timers due together fire by deadline and then in the order of scheduling`() {
        var wheel = TimerWheel<Int>(time: 0)
        for (value, deadline) in [(1, 300), (2, 40), (3, 300), (4, 5_000), (5, 40)] as [(Int, UInt64)] {
            _ = wheel.schedule(at: deadline, value)
        }
        #expect(due(&wheel, at: 10_000) == [2, 5, 1, 3, 4])
    }

    @Test func `a deadline that has passed fires a millisecond later`() {
        var wheel = TimerWheel<Int>(time: 500)
        _ = wheel.schedule(at: 100, 1)
        #expect(wheel.nextWake() == 501)
        #expect(due(&wheel, at: 501) == [1])
    }

    @Test func `a cancelled timer does not fire and its id is never valid again`() {
        var wheel = TimerWheel<Int>(time: 0)
        let first = wheel.schedule(at: 10, 1)
        let second = wheel.schedule(at: 10, 2)
        let isCancelled = wheel.cancel(first)
        #expect(isCancelled)
        let third = wheel.schedule(at: 10, 3)
        let isCancelledAgain = wheel.cancel(first)
        #expect(!isCancelledAgain)
        #expect(due(&wheel, at: 10) == [2, 3])
        let areCancelled = [wheel.cancel(second), wheel.cancel(third)]
        #expect(areCancelled == [false, false])
    }

    @Test func `a due timer can still be cancelled by an earlier due timer`() {
        var wheel = TimerWheel<Int>(time: 0)
        _ = wheel.schedule(at: 10, 1)
        let second = wheel.schedule(at: 10, 2)
        wheel.advance(to: 10)
        let first = wheel.popDue()
        #expect(first == 1)
        wheel.cancel(second)
        let next = wheel.popDue()
        #expect(next == nil)
    }

    @Test func `a timer scheduled while others are due waits for the next advance`() {
        var wheel = TimerWheel<Int>(time: 0)
        _ = wheel.schedule(at: 10, 1)
        wheel.advance(to: 10)
        _ = wheel.schedule(at: 10, 2)
        let popped = [wheel.popDue(), wheel.popDue()]
        #expect(popped == [1, nil])
        #expect(due(&wheel, at: 11) == [2])
    }

    @Test func `a delay of years is cut to days`() throws {
        var wheel = TimerWheel<Int>(time: 0)
        _ = wheel.schedule(at: .max / 2, 1)
        let wake = try #require(wheel.nextWake())
        #expect(wake > 5 * 86_400_000)
        #expect(wake < 7 * 86_400_000)
        #expect(due(&wheel, at: wake) == [1])
    }

    @Test func `a leap over all buckets fires everything`() {
        var wheel = TimerWheel<Int>(time: 0)
        for value in 1...1_000 { _ = wheel.schedule(at: UInt64(value * value), value) }
        #expect(due(&wheel, at: 10_000_000) == Array(1...1_000))
    }

    /// The most milliseconds that a timer may be late: 1/31 of its delay, and the rounding to a millisecond.
    private func lateness(_ delay: UInt64) -> UInt64 { delay / 31 + 1 }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `random timers fire once, never early and hardly late, and no wake is missed`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var wheel = TimerWheel<Int>(time: 12_345)
        var now: UInt64 = 12_345
        var pending: [Int: (deadline: UInt64, delay: UInt64, id: TimerID)] = [:]
        for step in 0..<3_000 {
            let bits = UInt64.random(in: 0...20, using: &generator)
            let delay = UInt64.random(in: 1...(1 << bits), using: &generator)
            pending[step] = (now + delay, delay, wheel.schedule(at: now + delay, step))
            if step % 3 == 2, let victim = pending.keys.randomElement(using: &generator) {
                let isCancelled = pending.removeValue(forKey: victim).map { wheel.cancel($0.id) }
                #expect(isCancelled == true)
            }
            #expect(wheel.count == pending.count)
            let wake = wheel.nextWake() ?? now + 1
            #expect(wake > now)
            now = step % 5 == 0 ? wake : now + UInt64.random(in: 0...200, using: &generator)
            for fired in due(&wheel, at: now) {
                let deadline = pending.removeValue(forKey: fired)?.deadline
                #expect(deadline ?? .max <= now)
            }
            let overdue = pending.values.filter { $0.deadline + lateness($0.delay) < now }
            #expect(overdue.isEmpty)
        }
        #expect(!pending.isEmpty)
        #expect(due(&wheel, at: now + 10_000_000).sorted() == pending.keys.sorted())
        #expect(wheel.count == 0)
    }

    @Test func `if the wheel advances wake by wake, each timer fires within its own lateness`() {
        var wheel = TimerWheel<Int>(time: 0)
        for value in 1...2_000 { _ = wheel.schedule(at: UInt64(value * 37), value) }
        var fired = 0
        while let wake = wheel.nextWake() {
            for value in due(&wheel, at: wake) {
                let deadline = UInt64(value * 37)
                #expect(wake >= deadline)
                #expect(wake <= deadline + lateness(deadline))
                fired += 1
            }
        }
        #expect(fired == 2_000)
    }
}
