import DequeModule
import RivuletEngine
import Synchronization

/// Holds the jobs from the threads of effects, in order, until the manager runs them.
///
/// The limits on the manager's works and timers bound the queue.
package final class ManagerExecutor: SessionExecutor {
    /// The most jobs in one turn.
    ///
    /// Effects that dispatch without end must not keep the manager from its other callers.
    package static let jobsPerTurnMax = 64

    private struct State {
        var jobs: Deque<@Sendable () -> Void> = []
        /// True if a turn has been requested.
        var isStarted = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let start: @Sendable () -> Void

    /// Creates an executor; `start` makes the manager call ``runTurn()``.
    package init(_ start: @escaping @Sendable () -> Void) {
        self.start = start
    }

    /// Always true: only jobs read it, and they run in the manager's isolation.
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

    /// Runs the waiting jobs, and jobs that arrive meanwhile, up to ``jobsPerTurnMax``.
    ///
    /// Further jobs run in another turn.
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

    /// Returns true if jobs wait; the caller must then request another turn.
    private func hasMore() -> Bool {
        state.withLock { state in
            state.isStarted = !state.jobs.isEmpty
            return state.isStarted
        }
    }

    /// Drops the waiting jobs and all later ones.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.jobs = []
        }
    }
}
