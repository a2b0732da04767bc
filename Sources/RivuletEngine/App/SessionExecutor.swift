/// The one thread (an event loop) on which the sessions of a shard run.
///
/// A manager's executor is an isolation that runs one job at a time.
package protocol SessionExecutor: AnyObject, Sendable {
    /// True if the caller is on that thread.
    var isCurrent: Bool { get }

    /// Runs the job on that thread soon; jobs of one caller keep their order.
    ///
    /// It can be called on any thread.
    /// - Returns: False if the job will never run, because the thread has ended or its mailbox is full.
    @discardableResult
    func post(_ job: @escaping @Sendable () -> Void) -> Bool

    /// Runs a job that brings a reply for which the thread waits.
    ///
    /// A full mailbox accepts the job, too. Each reply answers a request, and the number of requests is bounded.
    ///
    /// - Returns: False if the thread has ended.
    @discardableResult
    func postReply(_ job: @escaping @Sendable () -> Void) -> Bool
}

extension SessionExecutor {
    /// Posts the job; for executors with an unlimited mailbox.
    @discardableResult
    package func postReply(_ job: @escaping @Sendable () -> Void) -> Bool { post(job) }
}

/// A reference to a value that only its executor's thread may use.
///
/// The reference itself may be passed between threads.
package final class LoopBound<Value>: @unchecked Sendable {
    // SAFETY: the value is read only after a check of `executor.isCurrent`, so always on the same thread.
    private let value: Value
    private let executor: any SessionExecutor

    package init(_ value: Value, to executor: any SessionExecutor) {
        self.value = value
        self.executor = executor
    }

    /// The value, for callers on the executor's thread.
    package var onExecutor: Value {
        precondition(executor.isCurrent, "\(Value.self) was used outside of its executor's thread")
        return value
    }

    /// Passes the value to the job on the executor's thread.
    ///
    /// Returns false if the mailbox is full; the job does not run then.
    @discardableResult
    package func post(_ job: @escaping @Sendable (Value) -> Void) -> Bool {
        executor.post { job(self.onExecutor) }
    }

    /// Passes the value to a job that brings a reply for which the executor's thread waits.
    ///
    /// Returns false if the thread has ended.
    @discardableResult
    package func postReply(_ job: @escaping @Sendable (Value) -> Void) -> Bool {
        executor.postReply { job(self.onExecutor) }
    }
}

extension SessionExecutor {
    /// Returns a reply function, which can be called on any thread.
    ///
    /// It passes its value to the owner on this executor's thread.
    package func reply<Owner: AnyObject, Value: Sendable>(
        to owner: Owner,
        _ body: @escaping (_ owner: Owner, _ value: Value) -> Void
    ) -> @Sendable (_ value: Value) -> Void {
        let loopBound = LoopBound((owner: owner, body: body), to: self)
        return { value in loopBound.postReply { $0.body($0.owner, value) } }
    }
}
