/// Small records that all nodes share, each written under the condition that it has not changed: leases and facts.
///
/// It is used on one executor, and replies there, exactly once for each call.
package protocol ClusterRecords: AnyObject {
    /// Reads a record; nil if there is none.
    ///
    /// The answer is not older than any write that was answered before the call.
    func record(_ name: String, reply: @escaping (Result<ClusterRecord?, LogError>) -> Void)

    /// Writes a record in place of that with this revision; 0 means that there must be none.
    func put(
        _ value: [UInt8],
        as name: String,
        after revision: UInt64,
        reply: @escaping (RecordOutcome) -> Void
    )

    /// Lists the names of the records that begin with a prefix, sorted.
    func names(beginningWith prefix: String, reply: @escaping (Result<[String], LogError>) -> Void)
}

/// A record at one of its revisions.
package struct ClusterRecord: Hashable, Sendable {
    package let value: [UInt8]
    package let revision: UInt64

    package init(value: [UInt8], revision: UInt64) { (self.value, self.revision) = (value, revision) }
}

/// The outcome of a conditional write.
package enum RecordOutcome: Hashable, Sendable {
    /// The record has this revision now.
    case stored(revision: UInt64)
    /// Nothing was written, because the record has another revision.
    case conflict
    /// Nothing was written, for another reason.
    case refused(LogError)
    /// The record may have been written.
    case unknown
}

/// Messages between nodes, each delivered at most once and in the order of their sender.
///
/// It is used on one executor.
package protocol ClusterBus: AnyObject {
    /// The most bytes of one message.
    var messageBytesMax: Int { get }

    /// Sends a message to the node with this name; it is lost if the node is gone or one of both is not connected.
    func send(_ message: [UInt8], to node: String)

    /// Delivers the messages for this node.
    func receive(as node: String, _ deliver: @escaping ([UInt8]) -> Void)

    /// Sets the closure that is called when the connection ends (false) and when it is there again (true).
    func onConnectionChange(_ report: @escaping (_ isConnected: Bool) -> Void)
}
