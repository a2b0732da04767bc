import CoreMetrics
import RivuletCluster
import RivuletMetrics
import Synchronization

/// The metrics of a server in a cluster; those of a server that is alone stay 0.
final class ClusterMetrics: Sendable {
    private let roles: [any MeterHandler]
    private let term: any MeterHandler
    private let head: any MeterHandler
    private let applied: any MeterHandler
    private let leaseLeft: any MeterHandler
    private let forwarded: [any CounterHandler]
    private let waiting: any MeterHandler
    private let moved: any CounterHandler
    private let busLost: any CounterHandler
    /// The counts that were published last.
    private let published = Mutex<[Int]>(Array(repeating: 0, count: ForwardOutcome.count + 2))

    init(_ factory: any MetricsFactory) {
        func gauge(_ metric: MetricDescription, _ dimensions: [(String, String)] = []) -> any MeterHandler {
            factory.makeMeter(label: metric.name, dimensions: dimensions)
        }
        func counter(_ metric: MetricDescription, _ dimensions: [(String, String)] = []) -> any CounterHandler {
            factory.makeCounter(label: metric.name, dimensions: dimensions)
        }
        roles = ClusterRole.allCases.map { gauge(ServerMetric.clusterRole, $0.dimensions) }
        term = gauge(ServerMetric.clusterTerm)
        head = gauge(ServerMetric.clusterHead)
        applied = gauge(ServerMetric.clusterApplied)
        leaseLeft = gauge(ServerMetric.clusterLeaseLeft)
        forwarded = ForwardOutcome.allCases.map { counter(ServerMetric.clusterForwarded, $0.dimensions) }
        waiting = gauge(ServerMetric.clusterWaiting)
        moved = counter(ServerMetric.clusterMoved)
        busLost = counter(ServerMetric.clusterBusLost)
    }

    /// Publishes the standing, and the counts since the last time.
    func publish(_ cluster: ClusterGateway) {
        let standing = cluster.member.standing
        let role = ClusterRole(standing.role)
        for (index, handler) in roles.enumerated() { handler.set(Int64(index == role.rawValue ? 1 : 0)) }
        term.set(Int64(clamping: standing.term))
        head.set(Int64(clamping: standing.head.rawValue))
        applied.set(Int64(clamping: standing.applied.rawValue))
        leaseLeft.set(cluster.member.leaseSecondsLeft)
        let counts = cluster.counts
        waiting.set(Int64(counts.waiting.load(ordering: .relaxed)))
        let now =
            counts.forwarded.map { $0.value.load(ordering: .relaxed) }
            + [counts.moved.load(ordering: .relaxed), counts.busLost.load(ordering: .relaxed)]
        published.withLock { before in
            for (handler, (now, earlier)) in zip(forwarded + [moved, busLost], zip(now, before)) where now > earlier {
                handler.increment(by: Int64(now - earlier))
            }
            before = now
        }
    }
}

/// The part that a node takes in its cluster.
enum ClusterRole: Int, MetricLabel {
    case joining, standby, owner, deposed, halted

    static let name = "role"
    static let count = allCases.count

    init(_ role: ClusterStanding.Role) {
        self =
            switch role {
            case .joining: .joining
            case .standby: .standby
            case .owner: .owner
            case .deposed: .deposed
            case .halted: .halted
            }
    }
}
