import RivuletEngine
import Synchronization

/// An executor for tests: tasks and posted jobs run in the order of their arrival, and only inside of
/// ``runUntilIdle()``.
///
/// A task that prefers it, `Task(executorPreference: executor)`, runs on it unless an actor requires another executor.
/// So nothing in a test depends on threads.
public final class ManualExecutor: TaskExecutor {
    private enum Job: Sendable {
        case task(UnownedJob)
        case call(@Sendable () -> Void)
    }

    private let jobs = Mutex<[Job]>([])

    /// Makes an executor without work.
    public init() {}

    /// Takes a part of a task; the runtime calls it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(.task(job)) }
    }

    /// True if there is nothing to run.
    public var isIdle: Bool { jobs.withLock { $0.isEmpty } }

    /// Runs all jobs, and the jobs that they add, until none is left.
    public func runUntilIdle() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            switch job {
            case .task(let task): unsafe task.runSynchronously(on: asUnownedTaskExecutor())
            case .call(let call): call()
            }
        }
    }
}

extension ManualExecutor: SessionExecutor {
    /// Always true: the thread that runs the jobs is the executor's thread.
    package var isCurrent: Bool { true }

    @discardableResult
    package func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        jobs.withLock { $0.append(.call(job)) }
        return true
    }
}
