// A cluster in one process: members without a log, a bus that delays and loses messages, and one storage for all nodes.

import Dispatch
import RivuletBase
import RivuletCluster
import RivuletSessions
import RivuletStores
import Synchronization

@testable import RivuletServer

/// The bus and the partition of a cluster in memory.
///
/// All members are called on one queue, in order.
final class TestCluster: Sendable {
    /// A message on its way.
    struct Message: Sendable {
        let bytes: [UInt8]
        let sender: String
        let receiver: String

        var kind: PeerMessage.Kind? { bytes.first.flatMap(PeerMessage.Kind.init(rawValue:)) }
    }

    private struct Waiter {
        let isDone: @Sendable ([Message]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var members: [String: TestMember] = [:]
        var standing = ClusterStanding(role: .standby, isConnected: true)
        /// True for a message that is lost.
        var loses: @Sendable (Message) -> Bool = { _ in false }
        var sent: [Message] = []
        var waiters: [Waiter] = []
        /// The messages that wait while the bus is paused; nil while it is not.
        var paused: [Message]?

        /// True if a message is delivered now.
        mutating func delivers(_ message: Message) -> Bool {
            guard !loses(message) else { return false }
            paused?.append(message)
            return paused == nil
        }
    }

    let queue = DispatchQueue(label: "test cluster")
    /// The storage that all nodes see.
    let engine = MemoryStorageEngine()
    private let state = Mutex(State())

    /// Starts the storage.
    init() throws { try engine.lifecycle.start() }

    /// Makes the member of a node.
    func member(_ node: String, messageBytesMax: Int = 65_536) -> TestMember {
        let member = TestMember(node, in: self, messageBytesMax: messageBytesMax)
        state.withLock { state in
            state.members[node] = member
            state.standing.nodes = state.members.keys.sorted()
                .map { ClusterNodeStatus(name: $0, build: "1.0", state: .live, leaseSeconds: 10) }
        }
        return member
    }

    fileprivate var members: [TestMember] { state.withLock { Array($0.members.values) } }

    /// The standing of a node, before its own role.
    fileprivate var standing: ClusterStanding { state.withLock { $0.standing } }

    /// The messages that were sent so far.
    var sent: [Message] { state.withLock { $0.sent } }

    /// Makes a node the owner, or leaves the partition without one; reported to all nodes when it returns.
    func setOwner(_ node: String?) {
        state.withLock { state in
            state.standing.owner = node.flatMap { state.members[$0] }
                .map { ClusterPeer(node: $0.node, incarnation: $0.incarnation) }
            state.standing.term += 1
        }
        for member in members { member.setRole(member.node == node ? .owner : .standby) }
    }

    /// Changes what all nodes see, without a report.
    func change(_ change: (inout ClusterStanding) -> Void) { state.withLock { change(&$0.standing) } }

    /// Loses the messages for which the closure is true.
    func lose(_ loses: @escaping @Sendable (Message) -> Bool) { state.withLock { $0.loses = loses } }

    /// Keeps all messages until `resume`.
    func pause() { state.withLock { $0.paused = [] } }

    /// Delivers the messages that waited.
    func resume() {
        for message in state.withLock({ $0.paused.take() ?? [] }) { deliver(message) }
    }

    func send(_ message: Message) {
        let (isDelivered, done) = state.withLock { state in
            state.sent.append(message)
            let done = state.waiters.filter { $0.isDone(state.sent) }
            state.waiters.removeAll { $0.isDone(state.sent) }
            return (state.delivers(message), done)
        }
        if isDelivered { deliver(message) }
        for waiter in done { waiter.continuation.resume() }
    }

    private func deliver(_ message: Message) {
        let (receiver, sender) = state.withLock { ($0.members[message.receiver], $0.members[message.sender]) }
        queue.async {
            receiver?.take(
                message.bytes,
                from: ClusterPeer(node: message.sender, incarnation: sender?.incarnation ?? 1)
            )
        }
    }

    /// Waits until the sent messages are so; the message that makes them so was delivered then.
    func wait(until isDone: @escaping @Sendable ([Message]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDoneNow = state.withLock { state in
                guard !isDone(state.sent) else { return true }
                state.waiters.append(Waiter(isDone: isDone, continuation: continuation))
                return false
            }
            if isDoneNow { continuation.resume() }
        }
    }

    /// Waits until this many messages of a kind were sent.
    func wait(for count: Int = 1, _ kind: PeerMessage.Kind) async {
        await wait { messages in messages.count { $0.kind == kind } >= count }
    }

    /// Waits until the queue has done all that was posted before.
    func settle() { queue.sync {} }

    /// Reports a change of collections to all nodes but the writer.
    fileprivate func didCommit(to collection: String, by writer: String) {
        for member in members where member.node != writer { member.didApply(collection) }
    }
}

/// The membership of one node.
final class TestMember: ClusterMember {
    private struct State {
        var role = ClusterStanding.Role.standby
        var observer: (any ClusterObserver)?
        var hasLease = true
        var drains = 0
        var drainReply: (@Sendable () -> Void)?
    }

    let cluster = "test"
    let node: String
    let incarnation: UInt64
    let messageBytesMax: Int
    private let network: TestCluster
    private let state = Mutex(State())

    fileprivate init(_ node: String, in network: TestCluster, messageBytesMax: Int) {
        (self.node, self.network, self.messageBytesMax) = (node, network, messageBytesMax)
        incarnation = .random(in: 1...1_000_000)
    }

    var standing: ClusterStanding {
        var standing = network.standing
        standing.role = state.withLock { $0.role }
        return standing
    }

    var mayServe: Bool { state.withLock { $0.role == .owner && $0.hasLease } }
    var leaseSecondsLeft: Double { mayServe ? 5 : 0 }
    /// The server of the node.
    var gateway: ClusterGateway? { state.withLock { $0.observer } as? ClusterGateway }
    /// The calls of `drain`.
    var drains: Int { state.withLock { $0.drains } }

    func attach(_ observer: any ClusterObserver) {
        state.withLock { $0.observer = observer }
        report()
    }

    func send(_ message: [UInt8], to node: String) {
        network.send(TestCluster.Message(bytes: message, sender: self.node, receiver: node))
    }

    func drain(reply: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.drains += 1
            state.drainReply = reply
        }
    }

    /// Answers the call of `drain`.
    func endDrain() { state.withLock { $0.drainReply.take() }?() }

    func setRole(_ role: ClusterStanding.Role) {
        state.withLock { $0.role = role }
        report()
    }

    /// Ends or renews the lease, without a report.
    func setLease(_ isValid: Bool) { state.withLock { $0.hasLease = isValid } }

    func loseBus() {
        let observer = state.withLock { $0.observer }
        network.queue.async { observer?.mayHaveLostMessages() }
    }

    private func report() {
        let (observer, standing) = (state.withLock { $0.observer }, standing)
        network.queue.async { observer?.standingDidChange(standing) }
    }

    func take(_ bytes: [UInt8], from sender: ClusterPeer) {
        state.withLock { $0.observer }?.didReceive(bytes, from: sender)
    }

    fileprivate func didApply(_ collection: String) {
        let observer = state.withLock { $0.observer }
        network.queue.async { observer?.didApply(changesOf: [collection]) }
    }
}

/// The storage of one node: that of the cluster, which its server neither starts nor closes.
final class TestReplica: StorageEngine, ItemStorage, StorageLifecycle {
    private let cluster: TestCluster
    private let node: String
    private let commitCount = Atomic<Int>(0)

    init(_ node: String, of cluster: TestCluster) { (self.node, self.cluster) = (node, cluster) }

    /// The commits that this node has made.
    var commits: Int { commitCount.load(ordering: .relaxed) }

    var capabilities: StorageCapabilities { cluster.engine.capabilities }
    var log: any LogStorage { cluster.engine.log }
    var past: any PastStorage { cluster.engine.past }
    var answers: any AnswerStorage { cluster.engine.answers }
    var directory: any SessionDirectory { cluster.engine.directory }
    var lifecycle: any StorageLifecycle { self }

    func start() throws(StorageError) {}
    func close() {}
    func probe(reply: @escaping StorageReply<Void>) { reply(.success(())) }

    func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        cluster.engine.items(of: collection, reply: reply)
    }

    func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        commitCount.add(1, ordering: .relaxed)
        cluster.engine.commit(changes, to: collection) { [cluster, node] result in
            cluster.didCommit(to: collection, by: node)
            reply(result)
        }
    }
}
