import DequeModule
import RivuletEngine
import Synchronization

/// Keeps the jobs that come from the threads of effects, in their order, until the manager runs them.
///
/// Bounded by the works and timers of the manager, which post no more than they are allowed to have under way.
package final class ManagerExecutor: SessionExecutor {
    /// The most jobs in one turn: effects that dispatch without end must not keep the manager from everybody else.
    package static let jobsPerTurnMax = 64

    private struct State {
        var jobs: Deque<@Sendable () -> Void> = []
        /// Whether somebody is on the way to run them.
        var isStarted = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let start: @Sendable () -> Void

    /// Takes what sees to it that the manager calls ``runTurn()``.
    package init(_ start: @escaping @Sendable () -> Void) {
        self.start = start
    }

    /// Always: only jobs ask, and they run in the manager's isolation.
    package var isCurrent: Bool { true }

    @discardableResult
    package func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, starts) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.jobs.append(job)
            defer { state.isStarted = true }
            return (true, !state.isStarted)
        }
        if starts { start() }
        return isTaken
    }

    /// Runs the jobs that are there, and those that come meanwhile, up to ``jobsPerTurnMax``; what is left has a turn of its own.
    package func runTurn() {
        for _ in 0..<Self.jobsPerTurnMax {
            guard let job = next() else { return }
            job()
        }
        if hasMore() { start() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let job = state.jobs.popFirst()
            if job == nil { state.isStarted = false }
            return job
        }
    }

    /// Whether there are jobs, for which somebody stays on the way.
    private func hasMore() -> Bool {
        state.withLock { state in
            state.isStarted = !state.jobs.isEmpty
            return state.isStarted
        }
    }

    /// Drops what there is and what still comes.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.jobs = []
        }
    }
}
