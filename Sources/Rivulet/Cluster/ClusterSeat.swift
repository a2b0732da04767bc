import RivuletCluster
import RivuletEngine
import RivuletSessions
import Synchronization

/// The place of a server in a cluster that it may not have reached yet: a node takes it later.
///
/// Any thread may call it.
final class ClusterSeat: ClusterMember, ClusterWriter {
    let node: String
    let incarnation: UInt64
    private let executor: any SessionExecutor
    private let state = Mutex(State())

    private struct State {
        var cluster = ""
        var member: ClusterNode?
        var observer: (any ClusterObserver)?
        /// The standing before a node is there.
        var standing = ClusterStanding(role: .joining)
        var onAttach: (@Sendable () -> Void)?
        var onReports: (@Sendable (any ClusterObserver) -> any ClusterObserver)?
    }

    /// The most bytes of a message before the servers have said theirs.
    private static let messageBytesMaxBefore = 1_000_000

    init(node: String, incarnation: UInt64, executor: any SessionExecutor) {
        (self.node, self.incarnation, self.executor) = (node, incarnation, executor)
    }

    // MARK: - The node

    private var member: ClusterNode? { state.withLock { $0.member } }
    /// The server's receiver of reports; nil before the server begins.
    var observer: (any ClusterObserver)? { state.withLock { $0.observer } }

    /// Sets the closure that is called on the executor when the server has begun.
    func onAttach(_ attached: @escaping @Sendable () -> Void) { state.withLock { $0.onAttach = attached } }

    /// Sets a closure that puts another receiver before the server's.
    func onReports(_ wrap: @escaping @Sendable (any ClusterObserver) -> any ClusterObserver) {
        state.withLock { $0.onReports = wrap }
    }

    func set(cluster: String) { state.withLock { $0.cluster = cluster } }

    /// Gives the place to a node, and begins its membership; on the executor, after the server has begun.
    func take(_ node: ClusterNode) {
        guard let observer else { return }
        state.withLock { $0.member = node }
        node.attach(observer)
        node.start()
    }

    /// Ends the part of a server with a node that cannot begin; the reason names the remedy.
    func halt(_ reason: String) {
        let standing = ClusterStanding(role: .halted(reason))
        let observer = state.withLock { state in
            (state.standing, state.member) = (standing, nil)
            return state.observer
        }
        observer?.standingDidChange(standing)
    }

    /// Ends the membership.
    func stop(reply: @escaping @Sendable () -> Void) {
        guard let member else { return reply() }
        member.stop(reply: reply)
    }

    // MARK: - ClusterMember

    var cluster: String { state.withLock { $0.cluster } }
    var standing: ClusterStanding {
        let (member, standing) = state.withLock { ($0.member, $0.standing) }
        return member?.standing ?? standing
    }
    var mayServe: Bool { member?.mayServe ?? false }
    var leaseSecondsLeft: Double { member?.leaseSecondsLeft ?? 0 }
    var messageBytesMax: Int { member?.messageBytesMax ?? Self.messageBytesMaxBefore }

    func attach(_ observer: any ClusterObserver) {
        let (standing, attached) = state.withLock { state in
            state.observer = state.onReports?(observer) ?? observer
            return (state.standing, state.onAttach)
        }
        executor.postReply {
            if case .halted = standing.role { observer.standingDidChange(standing) }
            attached?()
        }
    }

    func send(_ message: [UInt8], to node: String) { member?.send(message, to: node) }

    /// Gives the partition up, and ends the membership, because only a server that stops calls it.
    ///
    /// A replica that the server closes afterwards must get no frames any more.
    func drain(reply: @escaping @Sendable () -> Void) { stop(reply: reply) }

    // MARK: - ClusterWriter

    private static let notJoined = StorageError.unavailable(
        detail: "this node has not joined its cluster yet: try again later"
    )

    var refusal: StorageError? { member.map(\.refusal) ?? Self.notJoined }

    func submit(_ operation: Operation, byteCount: Int, reply: @escaping StorageReply<OperationOutcome>) {
        guard let member else { return reply(.failure(Self.notJoined)) }
        member.submit(operation, byteCount: byteCount, reply: reply)
    }
}
