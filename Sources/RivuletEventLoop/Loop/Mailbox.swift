internal import Synchronization

/// The queue of jobs for a loop, first in first out; the only part of a loop that other threads use.
final class Mailbox: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State: Sendable {
        var jobs: [Job] = []
        /// True if the loop has ended and runs no more jobs.
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wake: WakeEvent
    private let jobsMax: Int

    /// Makes a mailbox of at most `jobsMax` jobs that wakes its loop through `wake`.
    init(wake: WakeEvent, jobsMax: Int) {
        self.wake = wake
        self.jobsMax = jobsMax
    }

    /// Adds a job; returns false if the loop has ended, or if the mailbox is full and the job is bounded.
    ///
    /// The first job in an empty mailbox wakes the loop, if `wakes` is true. The loop itself need not be woken, because
    /// it checks its mailbox before it sleeps.
    func post(_ job: @escaping Job, wakes: Bool, isBounded: Bool = true) -> Bool {
        let isFirst = state.withLock { state -> Bool? in
            guard !state.isClosed, !isBounded || state.jobs.count < jobsMax else { return nil }
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        guard let isFirst else { return false }
        // The signal is outside of the lock, because the loop takes the lock as soon as it is awake.
        if isFirst, wakes { wake.signal() }
        return true
    }

    /// True if no job waits.
    var isEmpty: Bool { state.withLock { $0.jobs.isEmpty } }

    /// Swaps the waiting jobs with `empty`, so that the memory of `empty` is used again.
    func take(into empty: inout [Job]) {
        state.withLock { swap(&$0.jobs, &empty) }
    }

    /// Closes the mailbox; returns the jobs that will not run, so that they are released outside of the lock.
    func close() -> [Job] {
        state.withLock { state in
            state.isClosed = true
            return exchange(&state.jobs, with: [])
        }
    }
}
