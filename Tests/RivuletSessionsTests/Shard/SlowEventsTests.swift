// Checks the events that are logged as slow.

import Logging
import Synchronization
import Testing

@testable import RivuletSessions

@Suite struct SlowEventsTests {
    private final class Clock: Sendable {
        let milliseconds = Mutex<UInt64>(1_000)
        func advance(_ by: UInt64) { milliseconds.withLock { $0 += by } }
    }

    private let clock = Clock()
    private let log = RecordedLog()

    private func events(timeMin: Duration = .milliseconds(100)) -> SlowEvents {
        SlowEvents(timeMin: timeMin, logger: Logger(label: "test") { [log] _ in log }) { [clock] in
            clock.milliseconds.withLock { $0 }
        }
    }

    private func run(_ events: SlowEvents, _ milliseconds: UInt64, count: Int = 1) {
        let start = events.begin()
        clock.advance(milliseconds)
        events.end(start, app: "tally", events: count, name: "add")
    }

    private static let line = "an event was slow, and all else on its loop waited (slowEventTimeMin) "

    @Test func `an event is slow from the limit on, and its log line has the duration`() {
        let events = events()
        run(events, 99)
        #expect(log.lines.isEmpty)
        run(events, 100)
        #expect(log.lines == [Self.line + "[tally, add, 100]"])
    }

    @Test func `one line a second has the number of omitted lines, and a line for an array its number of events`() {
        let events = events()
        for _ in 1...3 { run(events, 300, count: 2) }
        #expect(log.lines == [Self.line + "[tally, add, 300, 2]"])
        run(events, 900)
        #expect(log.lines.last == Self.line + "[tally, add, 900, leftOut 2]" && log.lines.count == 2)
    }
}
