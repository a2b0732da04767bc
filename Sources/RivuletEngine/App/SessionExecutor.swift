/// The one thread (an event loop) on which the sessions of a shard run; or the isolation of a manager, where one job runs at a time.
package protocol SessionExecutor: AnyObject, Sendable {
    /// Whether the caller is on that thread.
    var isCurrent: Bool { get }

    /// Runs the job on that thread soon; jobs of one caller keep their order. Any thread may call.
    ///
    /// - Returns: False when the job will never run, because the thread has ended or its mailbox is full.
    @discardableResult
    func post(_ job: @escaping @Sendable () -> Void) -> Bool
}

/// A reference to a value that only its executor's thread may touch; the reference itself may travel.
package final class Confined<Value>: @unchecked Sendable {
    // SAFETY: the value is read only after `executor.isCurrent` has been checked, so always on one and the same thread.
    private let value: Value
    private let executor: any SessionExecutor

    package init(_ value: Value, to executor: any SessionExecutor) {
        self.value = value
        self.executor = executor
    }

    /// The value, for callers that are on the executor's thread.
    package var onExecutor: Value {
        precondition(executor.isCurrent, "\(Value.self) was touched outside of its executor's thread")
        return value
    }

    /// Hands the value to the job on the executor's thread; false: it has no room for the job, which does not run.
    @discardableResult
    package func post(_ job: @escaping @Sendable (Value) -> Void) -> Bool {
        executor.post { job(self.onExecutor) }
    }
}

extension SessionExecutor {
    /// A reply that may be called on any thread, once, and gives its value to the owner on this executor's thread.
    package func reply<Owner: AnyObject, Value: Sendable>(
        to owner: Owner,
        _ body: @escaping (_ owner: Owner, _ value: Value) -> Void
    ) -> @Sendable (_ value: Value) -> Void {
        let confined = Confined((owner: owner, body: body), to: self)
        return { value in confined.post { $0.body($0.owner, value) } }
    }
}
