package import Logging
package import RivuletEngine
package import RivuletSessions
import Synchronization

/// A node of a cluster with one partition: it follows the log into its replica, takes the partition when no other node
/// has it, and writes the log while it has it.
///
/// It has no I/O and no clock of its own. The log, the records and the bus are used on the executor alone. Any thread
/// may call its methods.
package final class ClusterNode: ClusterMember, ClusterWriter {
    package let cluster: String
    package let node: String
    package let incarnation: UInt64
    package let messageBytesMax: Int
    private let report = NodeReport()
    private let now: @Sendable () -> Int64
    private let core: LoopBound<NodeCore>

    /// Makes a node, on the executor's thread; it begins with `start()`.
    ///
    /// The name of the node has at most 255 bytes.
    package init(
        _ options: ClusterNodeOptions,
        log: any PartitionLog,
        records: any ClusterRecords,
        bus: any ClusterBus,
        replica: any Replica,
        executor: any SessionExecutor,
        surroundings: ClusterNodeSurroundings,
        logger: Logger
    ) {
        precondition(options.node.utf8.count <= NodeEnvelope.nameBytesMax, "the node's name is too long")
        (cluster, node, incarnation) = (options.cluster, options.node, options.incarnation)
        now = surroundings.now
        messageBytesMax = bus.messageBytesMax - NodeEnvelope.byteCount(for: options.node)
        let links = NodeLinks(log: log, records: records, bus: bus, replica: replica, executor: executor)
        core = LoopBound(NodeCore(options, links, surroundings, report, logger), to: executor)
    }

    package var standing: ClusterStanding { report.standing }

    package var mayServe: Bool { report.mayServe(at: now()) }

    package var leaseSecondsLeft: Double { report.secondsLeft(at: now()) }

    package func attach(_ observer: any ClusterObserver) { core.post { $0.observer = observer } }

    /// Begins the membership; once.
    package func start() { core.post { $0.start() } }

    /// Ends the membership: nothing is taken or written any more, and other nodes need not wait for the lease.
    ///
    /// The reply comes when the record says so, or when the log cannot be reached for the length of the lease.
    package func stop(reply: @escaping @Sendable () -> Void) {
        if !core.postReply({ $0.stop(reply) }) { reply() }
    }

    package func send(_ message: [UInt8], to node: String) {
        let bytes = NodeEnvelope.wrap(message, from: ClusterPeer(node: self.node, incarnation: incarnation))
        core.post { $0.links.bus.send(bytes, to: node) }
    }

    package func drain(reply: @escaping @Sendable () -> Void) {
        if !core.postReply({ $0.drain(reply) }) { reply() }
    }

    package var refusal: StorageError? { report.takesOperations ? nil : NodeCore.notOwner }

    package func submit(
        _ operation: Operation,
        byteCount: Int,
        reply: @escaping StorageReply<OperationOutcome>
    ) {
        let isTaken = core.post {
            $0.submit(PendingOperation(operation: operation, byteCount: byteCount, reply: reply))
        }
        if !isTaken {
            reply(.failure(.unavailable(detail: "the cluster's thread has too much to do: try again later")))
        }
    }
}

/// The parts of the world that a node uses.
struct NodeLinks {
    let log: any PartitionLog
    let records: any ClusterRecords
    let bus: any ClusterBus
    let replica: any Replica
    let executor: any SessionExecutor
}
