internal import Synchronization

/// Jobs on their way into a loop, first in first out; the only part of a loop that other threads touch.
final class Mailbox: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State: Sendable {
        var jobs: [Job] = []
        /// Whether the loop has ended: nothing runs any more.
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wake: WakeEvent
    private let jobsMax: Int

    /// A mailbox that wakes its loop through `wake`, at most `jobsMax` jobs deep.
    init(wake: WakeEvent, jobsMax: Int) {
        self.wake = wake
        self.jobsMax = jobsMax
    }

    /// Adds a job; false when the loop has ended or the mailbox is full.
    ///
    /// It wakes the loop if there was none yet, unless the loop itself is the poster: it looks here before it sleeps.
    func post(_ job: @escaping Job, wakes: Bool) -> Bool {
        let isFirst = state.withLock { state -> Bool? in
            guard !state.isClosed, state.jobs.count < jobsMax else { return nil }
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        guard let isFirst else { return false }
        // Not under the lock, which the loop takes as soon as it is awake.
        if isFirst, wakes { wake.signal() }
        return true
    }

    /// Whether no job waits.
    var isEmpty: Bool { state.withLock { $0.jobs.isEmpty } }

    /// Swaps the waiting jobs for `empty`, whose memory is used again.
    func take(into empty: inout [Job]) {
        state.withLock { swap(&$0.jobs, &empty) }
    }

    /// Takes no more jobs; gives those that will not run, so that they are released outside the lock.
    func close() -> [Job] {
        state.withLock { state in
            state.isClosed = true
            return exchange(&state.jobs, with: [])
        }
    }
}
