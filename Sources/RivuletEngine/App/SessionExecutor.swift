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
