// Checks the account of the memory for bodies: its limits, its queues, and its end at zero.

import SeededRandom
import Synchronization
import Testing

@testable import RivuletServer

/// Holds the reservations that a budget grants later.
private final class Granted: Sendable {
    private let reservations = Mutex<[BodyBudget.Reservation]>([])

    var count: Int { reservations.withLock { $0.count } }
    func add(_ reservation: BodyBudget.Reservation) { reservations.withLock { $0.append(reservation) } }

    /// Releases all reservations.
    func release() {
        let all = reservations.withLock { reservations in
            defer { reservations = [] }
            return reservations
        }
        _ = consume all
    }
}

@Suite struct BodyBudgetTests {
    private let budget = BodyBudget(bytesMax: 16_384 * 8)
    private let granted = Granted()

    private func wait(for bytes: Int, _ share: BodyBudget.Share = .large) -> BodyBudget.Waiter? {
        budget.wait(for: bytes, share, holding: 0) { [granted] in granted.add($0) }
    }

    @Test func `large bodies do not use the share of small ones`() {
        #expect(budget.bytesMax(of: .small) == 16_384 && budget.bytesMax(of: .large) == 98_304)
        let large = budget.reserve(98_304, .large)
        #expect(large != nil && budget.reserve(1, .large) == nil)
        let small = budget.reserve(16_384, .small)
        #expect(small != nil && budget.reserve(1, .small) == nil)
        #expect(budget.bytes == 114_688)
        withExtendedLifetime((large, small)) {}
    }

    @Test func `a reservation is returned when it is released`() {
        var reservation = budget.reserve(100, .large)
        #expect(budget.bytes == 100 && reservation?.bytes == 100)
        reservation = nil
        #expect(budget.bytes == 0)
    }

    @Test func `waiting bodies get memory in the order in which they came`() throws {
        var first = budget.reserve(98_304, .large)
        let large = try #require(wait(for: 98_000))
        let little = try #require(wait(for: 1_000))
        #expect(granted.count == 0 && budget.bytes == 98_304 + 2 * BodyBudget.waiterBytesMin)
        withExtendedLifetime(first) {}
        first = nil
        #expect(granted.count == 1)
        // A later request does not overtake the waiting body.
        #expect(budget.reserve(100, .large) == nil)
        granted.release()
        #expect(granted.count == 1 && !budget.hasWaiters(for: .large))
        granted.release()
        withExtendedLifetime((large, little)) {}
    }

    @Test func `a body that stops waiting lets later ones proceed`() throws {
        let first = budget.reserve(80_000, .large)
        let large = try #require(wait(for: 98_000))
        let little = try #require(wait(for: 1_000))
        #expect(granted.count == 0)
        large.cancel()
        #expect(granted.count == 1)
        large.cancel()
        little.cancel()
        #expect(granted.count == 1)
        withExtendedLifetime(first) {}
    }

    @Test func `a body that asks after memory was freed gets it at once`() throws {
        let waiter = try #require(wait(for: 1_000))
        #expect(granted.count == 1 && !budget.hasWaiters(for: .large))
        withExtendedLifetime(waiter) {}
    }

    @Test func `waiting bodies hold at most their own share`() {
        let first = budget.reserve(98_304, .large)
        let one = wait(for: 1)
        let two = wait(for: 1)
        #expect(one != nil && two != nil && wait(for: 1) == nil)
        withExtendedLifetime((first, one, two)) {}
    }

    @Test func `waiting large bodies do not use the places of small ones`() {
        let full = (budget.reserve(98_304, .large), budget.reserve(16_384, .small))
        let large = [wait(for: 1), wait(for: 1), wait(for: 1)]
        let small = [wait(for: 1, .small), wait(for: 1, .small), wait(for: 1, .small)]
        #expect(large.map { $0 != nil } == [true, true, false] && small.map { $0 != nil } == [true, true, false])
        #expect(budget.bytes == 16_384 * 8)
        withExtendedLifetime((full, large, small)) {}
    }

    @Test func `random programs never exceed the limit, and end at zero`() {
        var generator = SeededGenerator(seed: 20)
        for _ in 0..<50 {
            var held: [BodyBudget.Reservation] = []
            var waiters: [BodyBudget.Waiter] = []
            for _ in 0..<200 {
                let share = Bool.random(using: &generator) ? BodyBudget.Share.small : .large
                let bytes = Int.random(in: 1...budget.bytesMax(of: share), using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1: if let reservation = budget.reserve(bytes, share) { held.append(reservation) }
                case 2: if let waiter = wait(for: bytes, share) { waiters.append(waiter) }
                case 3: if let index = held.indices.randomElement(using: &generator) { held.remove(at: index) }
                case 4:
                    guard let index = waiters.indices.randomElement(using: &generator) else { continue }
                    waiters.remove(at: index).cancel()
                default: granted.release()
                }
                #expect(budget.bytes <= 16_384 * 8)
            }
            for waiter in waiters { waiter.cancel() }
            (held, waiters) = ([], [])
            granted.release()
            #expect(budget.bytes == 0)
            #expect(!budget.hasWaiters(for: .small) && !budget.hasWaiters(for: .large))
        }
    }

    @Test func `many threads together lose no byte and no waiter`() async {
        await withTaskGroup(of: Void.self) { group in
            for seed in 0..<4 {
                group.addTask { [budget] in
                    var generator = SeededGenerator(seed: UInt64(seed))
                    for _ in 0..<2_000 {
                        let bytes = Int.random(in: 1...80_000, using: &generator)
                        if budget.reserve(bytes, .large) != nil { continue }
                        // A granted reservation is released on the thread on which it was granted.
                        let waiter = budget.wait(for: bytes, .large, holding: 0) { _ in }
                        if Bool.random(using: &generator) { waiter?.cancel() }
                    }
                }
            }
        }
        #expect(budget.bytes == 0 && !budget.hasWaiters(for: .large))
    }
}
