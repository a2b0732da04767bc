/// A node's membership in its cluster, as the server uses it; any thread may call it.
package protocol ClusterMember: AnyObject, Sendable {
    /// The id of the cluster.
    var cluster: String { get }
    /// The node's name.
    var node: String { get }
    /// The run of this process; another run of the same node has another number.
    var incarnation: UInt64 { get }
    /// The present standing; it may change at any time.
    var standing: ClusterStanding { get }
    /// True if this node is the owner, and its lease lasts now, by a clock that also counts suspended time.
    ///
    /// A session is handed to a request only while it is true.
    var mayServe: Bool { get }
    /// The time for which `mayServe` stays true without a further renewal, in seconds; 0 if it is false.
    var leaseSecondsLeft: Double { get }
    /// The most bytes of a message.
    var messageBytesMax: Int { get }

    /// Sets the receiver of messages and changes; once, before the membership begins.
    func attach(_ observer: any ClusterObserver)

    /// Sends a message to another node: at most once, in the order of this node's sends.
    func send(_ message: [UInt8], to node: String)

    /// Gives the partition up if this node has it, and takes it no more.
    ///
    /// The reply comes when another node has the partition, or when none is there to take it.
    func drain(reply: @escaping @Sendable () -> Void)
}

/// Receives what a membership reports, on the cluster's executor, in order.
package protocol ClusterObserver: AnyObject, Sendable {
    /// The standing has changed.
    ///
    /// The new owner is reported when it may serve. A node that becomes the owner has applied the whole log before.
    func standingDidChange(_ standing: ClusterStanding)

    /// A message of another node has come.
    func didReceive(_ message: [UInt8], from sender: ClusterPeer)

    /// Messages may have been lost, because the connection to the bus was interrupted.
    func mayHaveLostMessages()

    /// Frames of another node were applied, which changed these collections of stores.
    func didApply(changesOf collections: Set<String>)
}

/// One run of a node.
package struct ClusterPeer: Hashable, Sendable {
    package let node: String
    package let incarnation: UInt64

    package init(node: String, incarnation: UInt64) { (self.node, self.incarnation) = (node, incarnation) }
}

/// The place of a node in its cluster.
package struct ClusterStanding: Hashable, Sendable {
    package enum Role: Hashable, Sendable {
        /// The node has not reached the cluster yet, or has not applied the log up to its end.
        case joining
        /// The node applies the log of another owner, or of none.
        case standby
        /// The node writes the log.
        case owner
        /// The node was the owner, and another one has taken the partition: the process has to begin again.
        case deposed
        /// The node takes no part any more, for this reason, which names the remedy.
        case halted(String)
    }

    package var role: Role
    /// The node that has the partition, itself included; nil if none is known.
    package var owner: ClusterPeer?
    /// The claim of the owner.
    package var term: UInt64
    /// The place of the last message that is known to be in the log.
    package var head: LogPosition
    /// The place of the last message that this node has applied.
    package var applied: LogPosition
    /// True if the node is connected to the log.
    package var isConnected: Bool
    package var nodes: [ClusterNodeStatus]

    package init(
        role: Role,
        owner: ClusterPeer? = nil,
        term: UInt64 = 0,
        head: LogPosition = .start,
        applied: LogPosition = .start,
        isConnected: Bool = false,
        nodes: [ClusterNodeStatus] = []
    ) {
        (self.role, self.owner, self.term, self.head) = (role, owner, term, head)
        (self.applied, self.isConnected, self.nodes) = (applied, isConnected, nodes)
    }
}

/// A node as its record describes it.
package struct ClusterNodeStatus: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case live
        case draining
        case gone
    }

    package var name: String
    package var build: String
    package var state: State
    /// The length of its lease.
    package var leaseSeconds: Int

    package init(name: String, build: String, state: State, leaseSeconds: Int) {
        (self.name, self.build, self.state, self.leaseSeconds) = (name, build, state, leaseSeconds)
    }
}
