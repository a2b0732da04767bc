import Logging

/// The state of a node that only operators see, and the log lines about its links.
struct NodeStatus {
    var isConnected = false {
        didSet { if isConnected != oldValue { isChanged = true } }
    }
    /// The place of the last message that the replica has applied.
    var applied = LogPosition.start {
        didSet { isChanged = true }
    }
    /// The role that was published last.
    private(set) var shown = ClusterStanding.Role.joining
    private var tip = LogPosition.start
    private var head = LogPosition.start
    private var isChanged = true
    private var own: NodeRecord
    private var all: [ClusterNodeStatus] = []
    private var version = -1
    private var next = Int64.min
    private var isTroubled = false
    private let node: String
    private let logger: Logger

    init(_ options: ClusterNodeOptions, _ logger: Logger) {
        (own, node, self.logger) = (options.record, options.node, logger)
    }

    /// Logs the first failure since the log was reached last.
    mutating func didFail(_ detail: String) {
        isConnected = false
        guard !isTroubled else { return }
        isTroubled = true
        logger.warning(
            "the cluster's log cannot be used now, and is tried again: \(detail)",
            metadata: ["node": "\(node)"]
        )
    }

    mutating func didWork() {
        isConnected = true
        guard isTroubled else { return }
        isTroubled = false
        logger.notice("the cluster's log can be used again", metadata: ["node": "\(node)"])
    }

    /// True if the standing differs from the one before; the answer counts as published.
    mutating func hasChanged(to role: ClusterStanding.Role, tip: ChainTip, head: LogPosition) -> Bool {
        guard isChanged || role != shown || tip.position != self.tip || head != self.head else { return false }
        (shown, self.tip, self.head, isChanged) = (role, tip.position, head, false)
        return true
    }

    func note(_ text: String) { logger.notice("\(text)", metadata: ["node": "\(node)"]) }

    /// The status of all nodes; those that are silent are found out once a second.
    mutating func nodes(_ peers: PeerTable, own state: NodeRecord.State?, at now: Int64) -> [ClusterNodeStatus] {
        let state = state ?? .live
        guard version != peers.version || own.state != state || now >= next else { return all }
        (version, own.state, next) = (peers.version, state, now + 1_000)
        let all = peers.status(own: own, at: now)
        if all != self.all { (self.all, isChanged) = (all, true) }
        return all
    }
}
