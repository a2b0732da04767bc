// Checks that a test controls the passing of time, and the order in which sleeping tasks are woken.

import RivuletTesting
import Synchronization
import Testing

@Suite struct ManualClockTests {
    /// A log of events with their times.
    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        func note(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private let clock = ManualClock()
    private let executor = ManualExecutor()
    private let journal = Journal()

    private func sleeper(_ name: String, for durations: Duration...) -> Task<Void, Never> {
        Task(executorPreference: executor) { [clock, journal] in
            for duration in durations {
                do {
                    try await clock.sleep(for: duration)
                    journal.note("\(name) at \(clock.now)")
                } catch {
                    journal.note("\(name): \(error)")
                }
            }
        }
    }

    @Test func `sleeping tasks are woken in the order of their deadlines, each at its own time`() {
        _ = sleeper("slow", for: .seconds(3))
        _ = sleeper("quick", for: .seconds(1), .seconds(1), .seconds(1))
        clock.advance(by: .seconds(10), running: executor)
        #expect(
            journal.all == [
                "quick at 1.0 seconds", "quick at 2.0 seconds", "slow at 3.0 seconds", "quick at 3.0 seconds",
            ]
        )
        #expect(clock.now.offset == .seconds(10))
    }

    @Test func `no sleep ends before its deadline`() {
        _ = sleeper("a", for: .seconds(1))
        clock.advance(by: .milliseconds(999), running: executor)
        #expect(journal.all.isEmpty)
        #expect(clock.deadlines.map(\.offset) == [.seconds(1)])
        clock.advance(by: .milliseconds(1), running: executor)
        #expect(journal.all == ["a at 1.0 seconds"])
        #expect(clock.deadlines.isEmpty)
    }

    @Test func `a sleep cancelled before or after its start ends with an error`() {
        let begun = sleeper("begun", for: .seconds(1))
        executor.runUntilIdle()
        begun.cancel()
        sleeper("not begun", for: .seconds(1)).cancel()
        executor.runUntilIdle()
        #expect(journal.all == ["begun: CancellationError()", "not begun: CancellationError()"])
        #expect(clock.deadlines.isEmpty)
    }

    @Test func `a sleep until the present time does not wait`() {
        _ = sleeper("now", for: .zero)
        executor.runUntilIdle()
        #expect(journal.all == ["now at 0.0 seconds"])
    }
}
