// Checks that tasks run only when a test runs them, in the order of their arrival.

import RivuletSessions
import RivuletTesting
import Synchronization
import Testing

@Suite struct ManualExecutorTests {
    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        func note(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private let executor = ManualExecutor()
    private let journal = Journal()

    @Test func `tasks run only when the test runs them, in the order of their arrival`() {
        Task(executorPreference: executor) { [journal] in
            journal.note("a")
            await Task.yield()
            journal.note("c")
        }
        executor.post { [journal] in journal.note("b") }
        #expect(journal.all.isEmpty)
        #expect(!executor.isIdle)
        executor.runUntilIdle()
        #expect(journal.all == ["a", "b", "c"])
        #expect(executor.isIdle)
    }

    @Test func `a task that a job starts runs as well, also inside another task`() async {
        executor.post { [executor, journal] in
            Task(executorPreference: executor) { journal.note("inner") }
        }
        executor.runUntilIdle()
        #expect(journal.all == ["inner"])
    }
}
