import DequeModule
import Synchronization

/// Runs a job on a work thread, then `done` on the executor's thread.
package typealias WorkThreads = (_ job: @escaping @Sendable () -> Void, _ done: @escaping () -> Void) -> Void

/// The long jobs of one shard.
///
/// Jobs that other work waits for, such as loads and stored snapshots, begin at once. Jobs that read the past run one
/// after another: many of them may come at once, and each makes a whole state.
final class LongJobs {
    /// The most jobs of one shard that read the past at once.
    private static let pastMax = 1

    private let threads: WorkThreads
    /// The jobs that wait; there are no more than `SessionLimits.resumesMax`.
    private var waiting: Deque<(job: @Sendable () -> Void, done: () -> Void)> = []
    private var pastCount = 0

    init(_ threads: @escaping WorkThreads) { self.threads = threads }

    func run(_ job: @escaping @Sendable () -> Void, _ done: @escaping () -> Void) { threads(job, done) }

    /// Runs a job that reads the past, after the earlier ones.
    func runOfPast(_ job: @escaping @Sendable () -> Void, _ done: @escaping () -> Void) {
        guard pastCount < Self.pastMax else { return waiting.append((job, done)) }
        pastCount += 1
        threads(job) { [self] in
            pastCount -= 1
            done()
            if pastCount < Self.pastMax, let next = waiting.popFirst() { runOfPast(next.job, next.done) }
        }
    }
}

extension SessionEnvironment {
    /// Runs a job that reads or writes `bytes` bytes of JSON, and passes its result to `body`.
    ///
    /// A job that would delay other connections of the event loop too long runs on a work thread. A short one runs at
    /// once.
    func run<Value: Sendable>(
        bytes: Int,
        _ job: @escaping @Sendable () -> Value,
        then body: @escaping (_ value: Value) -> Void
    ) {
        guard bytes > limits.turnJSONBytesMax else { return body(job()) }
        run(isOfPast: false, job, then: body)
    }

    /// Runs a job on a work thread, and passes its result to `body`.
    func run<Value: Sendable>(
        isOfPast: Bool,
        _ job: @escaping @Sendable () -> Value,
        then body: @escaping (_ value: Value) -> Void
    ) {
        let result = JobResult<Value>()
        let run = isOfPast ? jobs.runOfPast : jobs.run
        run({ result.put(job()) }, { if let value = result.take() { body(value) } })
    }
}

/// Carries the result of a job from its work thread to the executor's thread.
private final class JobResult<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func put(_ value: Value) { self.value.withLock { $0 = value } }

    func take() -> Value? { value.withLock { $0.take() } }
}
