// Part of Rivulet. See README.md for the architecture.
// Owns the jobs that other threads have posted to a loop, and the call that wakes it for them.

internal import CLibuv
internal import Synchronization

/// Jobs on their way into a loop, first in first out; the only part of a loop that other threads touch.
final class Mailbox: Sendable {
    typealias Job = @Sendable () -> Void

    @safe
    private struct State: @unchecked Sendable {
        var jobs: [Job] = []
        /// nil once the loop has closed its handles: nothing runs any more.
        // SAFETY: libuv allows uv_async_send from any thread; the handle is freed only after `close` took it away from
        // here, and both happen under the lock.
        var wake: UnsafeMutablePointer<uv_async_t>?
    }

    private let state: Mutex<State>
    private let jobsMax: Int

    /// A mailbox that wakes its loop through `wake`, at most `jobsMax` jobs deep.
    init(wake: UnsafeMutablePointer<uv_async_t>, jobsMax: Int) {
        state = unsafe Mutex(State(wake: wake))
        self.jobsMax = jobsMax
    }

    /// Adds a job; false when the loop has ended or the mailbox is full.
    ///
    /// It wakes the loop if there was none yet, unless the loop itself is the poster: it looks here before it sleeps.
    func post(_ job: @escaping Job, wakes: Bool) -> Bool {
        state.withLock { state in
            guard let wake = unsafe state.wake, state.jobs.count < jobsMax else { return false }
            if wakes, state.jobs.isEmpty { _ = unsafe uv_async_send(wake) }
            state.jobs.append(job)
            return true
        }
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
            unsafe state.wake = nil
            return exchange(&state.jobs, with: [])
        }
    }
}
