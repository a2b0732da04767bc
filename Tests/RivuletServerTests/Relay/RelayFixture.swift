// Owns a cluster of servers in one process: the model of its bus and membership, and clients of its streams.

import CounterFixture
import Dispatch
import RivuletCluster
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import RivuletStores
import Synchronization
import Testing

@testable import RivuletServer

/// The bus and the membership of some nodes: at most once, in order, one message after the other.
final class ModelCluster: Sendable {
    private struct State {
        var members: [String: ModelMember] = [:]
        var owner: ClusterPeer?
        /// Returns true for a message that is lost.
        var loses: @Sendable (_ kind: UInt8, _ sender: String, _ target: String) -> Bool = { _, _, _ in false }
        var sent: [String: Int] = [:]
    }

    private let queue = DispatchQueue(label: "cluster")
    private let state = Mutex(State())

    func add(_ member: ModelMember) {
        state.withLock { $0.members[member.node] = member }
        publish()
    }

    /// Removes a node without a word, as a crash does.
    func remove(_ node: String) { state.withLock { $0.members[node] = nil } }

    /// Makes a node the owner, and returns when all nodes know it; nil if there is none.
    ///
    /// A node that still knew an owner that has crashed would send its next request there.
    func setOwner(_ node: String?) {
        state.withLock { state in
            let member = node.flatMap { state.members[$0] }
            state.owner = member.map { ClusterPeer(node: $0.node, incarnation: $0.incarnation) }
        }
        publish()
        queue.sync {}
    }

    /// Sets the messages that are lost from now on.
    func lose(_ loses: @escaping @Sendable (_ kind: UInt8, _ sender: String, _ target: String) -> Bool) {
        state.withLock { $0.loses = loses }
    }

    /// Reports that some nodes are gone.
    func report(gone: [String]) {
        let nodes = gone.map { ClusterNodeStatus(name: $0, build: "", state: .gone, leaseSeconds: 10) }
        publish(nodes)
    }

    private func publish(_ nodes: [ClusterNodeStatus] = []) {
        let (members, owner) = state.withLock { (Array($0.members.values), $0.owner) }
        queue.async {
            for member in members { member.take(owner, nodes) }
        }
    }

    /// Runs a job between two messages.
    func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

    /// The number of messages of a kind to a node.
    func count(_ kind: UInt8, to node: String) -> Int { state.withLock { $0.sent["\(kind) \(node)", default: 0] } }

    fileprivate func send(_ message: [UInt8], from sender: ModelMember, to node: String) {
        let peer = ClusterPeer(node: sender.node, incarnation: sender.incarnation)
        let target = state.withLock { state -> ModelMember? in
            guard let kind = message.first else { return nil }
            state.sent["\(kind) \(node)", default: 0] += 1
            return state.loses(kind, sender.node, node) ? nil : state.members[node]
        }
        queue.async { target?.deliver(message, from: peer) }
    }
}

/// The membership of one node in a model cluster.
final class ModelMember: ClusterMember {
    private struct State {
        var standing = ClusterStanding(role: .joining)
        var observer: (any ClusterObserver)?
    }

    let node: String
    let incarnation: UInt64
    let messageBytesMax: Int
    let cluster = "cluster"
    private let bus: ModelCluster
    private let state = Mutex(State())

    init(_ node: String, in cluster: ModelCluster, incarnation: UInt64 = .random(in: 1...9_999), messageBytesMax: Int) {
        (self.node, bus, self.incarnation) = (node, cluster, incarnation)
        self.messageBytesMax = messageBytesMax
    }

    var standing: ClusterStanding { state.withLock { $0.standing } }
    var mayServe: Bool { standing.role == .owner }
    var leaseSecondsLeft: Double { mayServe ? 10 : 0 }

    func attach(_ observer: any ClusterObserver) { state.withLock { $0.observer = observer } }
    func send(_ message: [UInt8], to node: String) { bus.send(message, from: self, to: node) }
    func drain(reply: @escaping @Sendable () -> Void) { reply() }

    fileprivate func take(_ owner: ClusterPeer?, _ nodes: [ClusterNodeStatus]) {
        let role: ClusterStanding.Role = owner?.node == node ? .owner : .standby
        let standing = ClusterStanding(role: role, owner: owner, nodes: nodes)
        let observer = state.withLock { state in
            state.standing = standing
            return state.observer
        }
        observer?.standingDidChange(standing)
    }

    fileprivate func deliver(_ message: [UInt8], from sender: ClusterPeer) {
        state.withLock { $0.observer }?.didReceive(message, from: sender)
    }

    func loseConnection() {
        let observer = state.withLock { $0.observer }
        bus.run { observer?.mayHaveLostMessages() }
    }
}

/// The storage that the nodes of a cluster share, as their replicas are equal.
private struct SharedStorage: StorageEngine, StorageLifecycle {
    let engine: MemoryStorageEngine

    var capabilities: StorageCapabilities { engine.capabilities }
    var log: any LogStorage { engine.log }
    var past: any PastStorage { engine.past }
    var answers: any AnswerStorage { engine.answers }
    var directory: any SessionDirectory { engine.directory }
    var lifecycle: any StorageLifecycle { self }

    func start() {}
    func probe(reply: @escaping StorageReply<Void>) { reply(.success(())) }
    func close() {}
}

/// A node's server, with loops on threads of their own.
final class RelayNode: Sendable {
    let name: String
    let member: ModelMember
    private let cluster: ModelCluster
    private let servers: [LoopBound<ServerLoop>]
    private let transports: [LoopBound<StickyTransport>]
    private let context: ServerContext
    private let threads: [LoopThread]

    init(
        _ name: String,
        in cluster: ModelCluster,
        _ engine: MemoryStorageEngine,
        host: (StateServer) throws -> Void,
        loops count: Int = 1,
        messageBytesMax: Int = 1_048_576
    ) throws {
        (self.name, self.cluster) = (name, cluster)
        member = ModelMember(name, in: cluster, messageBytesMax: messageBytesMax)
        var options = ServerOptions()
        options.cluster = member
        let stateServer = StateServer(options: options, storage: SharedStorage(engine: engine))
        try host(stateServer)
        try engine.start()
        let context = try stateServer.makeContext(workers: count, clock: ContinuousClock())
        self.context = context
        try stateServer.openShared(Array(context.apps.values))
        var (servers, transports): ([LoopBound<ServerLoop>], [LoopBound<StickyTransport>]) = ([], [])
        let loops = try (0..<count).map { try EventLoop(index: $0) }
        for loop in loops {
            let served = ServerLoop(index: loop.index, loop: loop, context: context)
            servers.append(LoopBound(served, to: loop))
            transports.append(LoopBound(StickyTransport(loop, served), to: loop))
        }
        (self.servers, self.transports) = (servers, transports)
        for (server, transport) in zip(servers, transports) {
            server.post { [servers] served in
                served.core.attach(servers, transport: transport.onExecutor)
                served.begin()
            }
        }
        stateServer.attachCluster(of: context, servers, ClusterEnding())
        threads = try loops.map { try LoopThread(running: $0) }
        cluster.add(member)
    }

    /// Runs a job on the first loop, after all jobs before it.
    func run<Result: Sendable>(_ job: @escaping @Sendable (ServerLoop) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            servers[0].postReply { continuation.resume(returning: job($0)) }
        }
    }

    /// Stops in order, and returns when the server has ended.
    func stop() {
        for server in servers { server.post { $0.drainAndStop() } }
        for thread in threads { thread.join() }
    }

    /// Ends at once; no other node hears of it.
    func crash() {
        cluster.remove(name)
        for server in servers { server.post { $0.core.loop.stop() } }
        for thread in threads { thread.join() }
    }

    private func connect(loop: Int = 0) -> RelayClient { RelayClient(transports[loop]) }

    /// Opens a stream.
    func open(_ target: String, fields: String = "", loop: Int = 0) -> RelayClient {
        let client = connect(loop: loop)
        client.send("GET /v1/apps/tally/\(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
        return client
    }

    /// Sends a request, and returns the answer.
    @discardableResult
    func request(_ line: String, _ body: String = "", type: String = "application/json") async -> String {
        let client = connect()
        let head = "\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: \(type)\r\n"
        client.send("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        await client.end()
        return client.text
    }

    /// Dispatches events to the session `s`.
    @discardableResult
    func dispatch(_ events: String) async -> String {
        let answer = await request("POST /v1/apps/tally/sessions/s/events", events)
        #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
        return answer
    }
}

/// The client of a connection.
final class RelayClient: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isEnded = false
        var waiters: [(number: Int, isMet: (String, Bool) -> Bool, CheckedContinuation<Void, Never>)] = []
        var lastWaiter = 0
        var id: ConnectionID?
    }

    private let transport: LoopBound<StickyTransport>
    private let state = Mutex(State())

    fileprivate init(_ transport: LoopBound<StickyTransport>) {
        self.transport = transport
        transport.postReply { transport in
            let id = transport.open { [weak self] in self?.take($0) }
            self.state.withLock { $0.id = id }
        }
    }

    private func take(_ bytes: [UInt8]?) {
        let met = state.withLock { state in
            if let bytes { state.bytes += bytes } else { state.isEnded = true }
            let (text, isEnded) = (Self.text(state.bytes), state.isEnded)
            let met = state.waiters.filter { $0.isMet(text, isEnded) }
            state.waiters.removeAll { $0.isMet(text, isEnded) }
            return met.map(\.2)
        }
        for continuation in met { continuation.resume() }
    }

    /// The answer's head, and its body without framing.
    var text: String { state.withLock { Self.text($0.bytes) } }
    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var isEnded: Bool { state.withLock { $0.isEnded } }

    private static func text(_ bytes: [UInt8]) -> String {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        let (head, body) = (String(decoding: bytes[..<end.upperBound], as: UTF8.self), Array(bytes[end.upperBound...]))
        let content = head.contains("Transfer-Encoding: chunked") ? dechunked(body)?.content ?? body : body
        return head + String(decoding: content, as: UTF8.self)
    }

    /// The events, each as its name and its data.
    var events: [String] {
        text.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().joined().components("\n\n").compactMap { event in
            let lines = event.components("\n")
            guard let name = lines.first(where: { $0.hasPrefix("event: ") }),
                let data = lines.first(where: { $0.hasPrefix("data: ") })
            else { return nil }
            return name.dropFirst(7) + " " + data.dropFirst(6)
        }
    }

    /// The names of the events.
    var names: [String] { events.map { String($0.prefix { $0 != " " }) } }

    func send(_ text: String) {
        transport.postReply { transport in
            if let id = self.state.withLock({ $0.id }) { transport.receive(id, Array(text.utf8)) }
        }
    }

    func close() {
        transport.postReply { transport in
            if let id = self.state.withLock({ $0.id }) { transport.close(id, .peerEnded) }
        }
    }

    /// Lets the socket take no bytes, or take them again.
    func setStuck(_ isStuck: Bool) {
        transport.postReply { transport in
            if let id = self.state.withLock({ $0.id }) { transport.setStuck(id, isStuck) }
        }
    }

    /// The time after which a test that waits fails.
    private static let patience = DispatchTimeInterval.seconds(20)

    /// Waits for a text.
    func wait(for text: String, count: Int = 1, location: SourceLocation = #_sourceLocation) async {
        await wait(location) { found, _ in found.components(text).count > count }
    }

    func end(location: SourceLocation = #_sourceLocation) async { await wait(location) { _, isEnded in isEnded } }

    private func wait(_ location: SourceLocation, until isMet: @escaping @Sendable (String, Bool) -> Bool) async {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                if isMet(Self.text(state.bytes), state.isEnded) { return nil }
                state.lastWaiter += 1
                state.waiters.append((state.lastWaiter, isMet, continuation))
                return state.lastWaiter
            }
            guard let number else { return continuation.resume() }
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [self] in
                let waiter = state.withLock { state in
                    defer { state.waiters.removeAll { $0.number == number } }
                    return state.waiters.first { $0.number == number }
                }
                guard let waiter else { return }
                Issue.record("the text did not come; this came: \(text.suffix(1_000))", sourceLocation: location)
                waiter.2.resume()
            }
        }
    }
}

extension StringProtocol {
    /// The parts between the occurrences of a separator.
    fileprivate func components(_ separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map { String($0) }
    }
}

/// Connections in memory, some of which take no bytes for a time.
final class StickyTransport: ConnectionTransport {
    private struct Entry {
        let sink: @Sendable ([UInt8]?) -> Void
        var isStuck = false
        var unsent: [UInt8] = []
    }

    private let loop: EventLoop
    private let delegate: any LoopDelegate
    private var entries: [ConnectionID: Entry] = [:]
    private var lastSlot: UInt32 = 0

    init(_ loop: EventLoop, _ delegate: any LoopDelegate) { (self.loop, self.delegate) = (loop, delegate) }

    func open(_ sink: @escaping @Sendable ([UInt8]?) -> Void) -> ConnectionID {
        lastSlot += 1
        let id = ConnectionID(slot: lastSlot, generation: 1)
        entries[id] = Entry(sink: sink)
        delegate.connectionDidOpen(id, peer: PeerAddress(ip: PeerAddress.IP(v4: 0x7F00_0001), port: 0))
        return id
    }

    func receive(_ id: ConnectionID, _ bytes: [UInt8]) {
        if entries[id] != nil { delegate.connection(id, didReceive: bytes.span) }
    }

    func setStuck(_ id: ConnectionID, _ isStuck: Bool) {
        entries[id]?.isStuck = isStuck
        guard !isStuck, let entry = entries[id], !entry.unsent.isEmpty else { return }
        entries[id]?.unsent = []
        entry.sink(entry.unsent)
        delegate.connectionDidDrain(id)
    }

    func write(_ id: ConnectionID, _ bytes: [UInt8]) -> WriteOutcome {
        guard let entry = entries[id] else { return .closed }
        guard entry.isStuck else {
            entry.sink(bytes)
            return .sent
        }
        entries[id]?.unsent += bytes
        return .queued(unsentBytes: unsentBytes(id))
    }

    func write(_ id: ConnectionID, _ bytes: SharedBytes) -> WriteOutcome { write(id, [], [bytes]) }

    func write(_ id: ConnectionID, _ head: [UInt8], _ blocks: ArraySlice<SharedBytes>) -> WriteOutcome {
        var bytes = head
        for block in blocks { block.append(to: &bytes) }
        return bytes.isEmpty ? .sent : write(id, bytes)
    }

    var hasRoomInTurn: Bool { true }
    func unsentBytes(_ id: ConnectionID) -> Int { entries[id]?.unsent.count ?? 0 }
    func stalledMilliseconds(_ id: ConnectionID) -> UInt64? { nil }
    func pauseReading(_ id: ConnectionID) {}
    func resumeReading(_ id: ConnectionID) {}
    func setStreaming(_ id: ConnectionID) {}
    func closeAfterFlush(_ id: ConnectionID, within time: Duration) { close(id, .local) }

    func close(_ id: ConnectionID, _ reason: CloseReason) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        entry.sink(nil)
        let delegate = LoopBound(delegate, to: loop)
        delegate.postReply { $0.connectionDidClose(id, reason: reason) }
    }
}
