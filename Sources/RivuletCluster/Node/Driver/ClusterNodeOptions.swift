/// The identity of a node, and its limits.
package struct ClusterNodeOptions: Sendable {
    /// The identifier of the cluster, as its facts have it.
    package var cluster: String
    package var node: String
    /// The run of this process: a random number, other than that of any other run.
    package var incarnation: UInt64
    package var build: String
    /// The schema versions of the node's apps.
    package var schemas: [String: UInt32]
    /// The length of the lease, 3 to 60.
    package var leaseSeconds: Int
    /// The last run of this node that used the replica's folder; nil if there is none.
    ///
    /// The lock of the folder proves that it has ended, so that this run may take its record at once.
    package var endedIncarnation: UInt64?
    package var limits: ClusterNodeLimits

    package init(
        cluster: String,
        node: String,
        incarnation: UInt64,
        build: String,
        schemas: [String: UInt32],
        leaseSeconds: Int = 10,
        endedIncarnation: UInt64? = nil,
        limits: ClusterNodeLimits = ClusterNodeLimits()
    ) {
        (self.cluster, self.node, self.incarnation, self.build) = (cluster, node, incarnation, build)
        (self.schemas, self.leaseSeconds, self.endedIncarnation) = (schemas, leaseSeconds, endedIncarnation)
        self.limits = limits
    }

    /// The node's record at its start.
    var record: NodeRecord {
        NodeRecord(
            incarnation: incarnation,
            build: build,
            schemas: schemas,
            leaseSeconds: leaseSeconds,
            state: .live
        )
    }

    var lease: Int64 { Int64(leaseSeconds) * 1_000 }

    var claim: Claim { Claim(node: node, incarnation: incarnation, build: build, schemas: schemas) }
}

/// The limits of a node.
package struct ClusterNodeLimits: Sendable {
    /// The most bytes of a frame.
    package var frameBytesMax = 512 << 10
    /// The most operations of a frame.
    package var frameOperationsMax = 512
    /// The most bytes of operations that wait for a frame.
    package var queuedBytesMax = 64 << 20
    /// The most operations that wait for a frame.
    package var queuedOperationsMax = 16_384
    /// The most frames that wait for the replica; beyond them the log is not read, and nothing is written.
    package var unappliedFramesMax = 256
    /// The most bytes of the frames that wait for the replica.
    package var unappliedBytesMax = 32 << 20
    /// The most frames in one transaction of the replica.
    package var appliedFramesMax = 64
    /// The number of frames between two checkpoints.
    package var checkpointFrames: UInt64 = 1_024
    /// The least bytes of the log between two bases.
    package var baseBytesMin = 64 << 20
    /// The most bytes of a message of a base.
    package var baseFrameBytesMax = 512 << 10
    /// The time between two reads of the owner's record, in milliseconds; at most a quarter of the lease.
    package var watchMilliseconds: Int64 = 500
    /// The time between two reads of the log by a node that hears nothing, in milliseconds.
    package var readMilliseconds: Int64 = 1_000
    /// The time between two readings of all nodes' records, in milliseconds; nil is the length of the lease.
    package var peersMilliseconds: Int64?
    /// The most time between two attempts of a failed request, in milliseconds.
    package var retryMillisecondsMax: Int64 = 5_000

    package init() {}
}

/// The surroundings of a node: its clock, its timers and its log lines.
package struct ClusterNodeSurroundings {
    /// Returns milliseconds of a clock that never goes back and that counts the time in which the machine sleeps.
    package let now: @Sendable () -> Int64
    /// Runs a job on the node's executor after this many milliseconds.
    package let schedule: (_ milliseconds: Int64, _ job: @escaping () -> Void) -> Void
    package var coder = FrameCoder.standard
    #if DEBUG
    package var fault: NodeFault?
    #else
    package var fault: NodeFault? { nil }
    #endif

    package init(
        now: @escaping @Sendable () -> Int64,
        schedule: @escaping (_ milliseconds: Int64, _ job: @escaping () -> Void) -> Void
    ) {
        (self.now, self.schedule) = (now, schedule)
    }
}
