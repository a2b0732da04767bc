import RivuletEngine
import RivuletEventLoop
import RivuletSessions

/// The things that all parts of one loop share: its number, its thread, its wire, its peers, its counters and its log.
final class LoopCore {
    /// The time after which an answer is posted again to a loop whose mailbox was full.
    private static let answerRetryTime = Duration.milliseconds(10)

    let index: Int
    let loop: EventLoop
    let context: ServerContext
    /// What carries the connections: the loop itself, but in tests without sockets.
    private(set) var wire: any ConnectionWire
    /// All loops of the server in the order of their indices.
    private(set) var peers: [Confined<ServerLoop>] = []
    /// Counts since they were published last.
    let counters: LoopCounters
    let log: RequestLog
    /// Whether the loop takes no more connections and requests.
    private(set) var isDraining = false
    /// The loop that this is the core of, which outlives it in all calls.
    private unowned var server: ServerLoop?

    init(index: Int, loop: EventLoop, context: ServerContext) {
        self.index = index
        self.loop = loop
        self.context = context
        wire = loop
        counters = LoopCounters(apps: context.served.count)
        log = RequestLog(context)
    }

    /// Says which loop this is the core of; once.
    func attach(to server: ServerLoop) { self.server = server }

    /// Says which loops the server has, and what carries the connections if not the loop; once, before the first connection.
    func attach(_ peers: [Confined<ServerLoop>], wire: (any ConnectionWire)? = nil) {
        precondition(self.peers.isEmpty, "loop \(index) has its peers already")
        self.peers = peers
        if let wire { self.wire = wire }
    }

    /// Begins to drain; false when it has begun already.
    func beginDraining() -> Bool {
        defer { isDraining = true }
        return !isDraining
    }

    /// Runs the job on a loop, at once when it is this one; false: the loop's mailbox is full, and the job does not run.
    @discardableResult
    func onLoop(_ target: Int, _ job: @escaping @Sendable (ServerLoop) -> Void) -> Bool {
        guard target == index else { return peers[target].post(job) }
        if let server { job(server) }
        return true
    }

    /// Has another loop send the answer to one of its requests.
    ///
    /// A loop whose mailbox is full gets the answer later. At most one answer waits here for each of its connections.
    func post(_ response: Response, to exchange: Exchange) {
        let isPosted = peers[exchange.loop].post { $0.send(response, to: exchange) }
        guard !isPosted else { return }
        loop.schedule(after: Self.answerRetryTime) { [self] in post(response, to: exchange) }
    }

    /// Runs the job on the loop that owns the session.
    @discardableResult
    func onShard(of key: SessionKey, _ job: @escaping @Sendable (ServerLoop) -> Void) -> Bool {
        onLoop(context.shard(of: key), job)
    }
}

extension EventLoop: SessionExecutor {
    /// Whether the caller is on the loop's thread.
    package var isCurrent: Bool { isOnLoop }
}
