package import RivuletSessions

/// Writes operations into the cluster's log, as the storage of the owner uses it.
///
/// Any thread may call it. It returns at once.
package protocol ClusterWriter: AnyObject, Sendable {
    /// The error with which an operation would be refused now; nil if operations are taken.
    var refusal: StorageError? { get }

    /// Writes an operation, and replies once, on any thread, when a quorum has it on disk and this node has applied it.
    ///
    /// Operations are written and answered in the order of the calls. `byteCount` is the operation's
    /// `Operation.byteCount`. The errors are these:
    /// - `.unavailable` and `.full`: the operation was certainly not written.
    /// - `.indeterminate`: the operation may have been written, or may still be.
    /// - `.closed`: the writer takes no operations any more, and this one was not written.
    func submit(_ operation: Operation, byteCount: Int, reply: @escaping StorageReply<OperationOutcome>)
}
