import RivuletAuth
import RivuletEngine
import RivuletEventLoop
import RivuletSessions
import RivuletStores

/// The values that all parts of one loop share: its number, thread, transport, peers, counters and log.
final class LoopCore {
    let index: Int
    let loop: EventLoop
    let context: ServerContext
    /// The transport of the connections: the loop itself, except in tests without sockets.
    private(set) var transport: any ConnectionTransport
    /// All loops of the server in the order of their indices.
    private(set) var peers: [LoopBound<ServerLoop>] = []
    /// The counts since they were published last.
    let counters: LoopCounters
    let log: RequestLog
    /// The limits; nil for a server without limits.
    let limiter: LoopLimiter?
    /// True if the loop takes no more connections and requests.
    private(set) var isDraining = false
    /// The server loop that owns this core; it lives at least as long as the core is used.
    private unowned var server: ServerLoop?

    init(index: Int, loop: EventLoop, context: ServerContext) {
        self.index = index
        self.loop = loop
        self.context = context
        transport = loop
        counters = LoopCounters(apps: context.served.count)
        log = RequestLog(context)
        limiter = context.limits.map { [counters] in LoopLimiter($0, loop, counters) }
    }

    /// Sets the server loop of this core; call it once.
    func attach(to server: ServerLoop) { self.server = server }

    /// Sets the loops of the server, and the transport if it is not the loop; call it once, before the first
    /// connection.
    func attach(_ peers: [LoopBound<ServerLoop>], transport: (any ConnectionTransport)? = nil) {
        precondition(self.peers.isEmpty, "loop \(index) has its peers already")
        self.peers = peers
        if let transport { self.transport = transport }
    }

    /// Records a refused credential, and returns its answer.
    func refuse(_ error: CredentialError) -> Problem {
        counters.authenticated(.refused)
        log.logRefusedCredential(error)
        return .credentialRefused(because: context.options.explainsRefusedCredentials ? error : nil)
    }

    /// Returns a caller that was found earlier under the present keys and rules, which may be others by now.
    ///
    /// - Throws: 401 for a credential that was revoked or has expired, or that the present keys have not verified.
    func identify(again identity: Identity) throws(Problem) -> Identity {
        guard !context.isRevoked(identity) else { throw refuse(.revoked) }
        var present = identity
        if let authentication = context.authentication, !authentication.hasMade(identity) {
            guard let again = authentication.snapshot.authenticator.identify(again: identity) else {
                throw refuse(.keysReplaced)
            }
            present = again
        }
        if let error = present.expiry(at: Int(WallClock.milliseconds() / 1_000)) { throw refuse(error) }
        return present
    }

    /// Begins to drain; false if it has begun already.
    func beginDraining() -> Bool {
        defer { isDraining = true }
        return !isDraining
    }

    /// Runs the job on a loop, at once if it is this one.
    ///
    /// It returns false, without running the job, if the loop's mailbox is full.
    @discardableResult
    func onLoop(_ target: Int, _ job: @escaping @Sendable (ServerLoop) -> Void) -> Bool {
        guard target == index else { return peers[target].post(job) }
        if let server { job(server) }
        return true
    }

    /// Makes another loop send the answer to one of its requests; the answer is dropped if that loop has ended.
    func post(_ response: Response, to exchange: Exchange) {
        peers[exchange.loop].postReply { $0.send(response, to: exchange) }
    }

    /// Runs the job on a loop, at once if it is this one; even a full mailbox takes the job.
    ///
    /// Use it for jobs that must not be lost.
    func tell(_ target: Int, _ job: @escaping @Sendable (ServerLoop) -> Void) {
        guard target == index else {
            peers[target].postReply(job)
            return
        }
        if let server { job(server) }
    }

    /// Runs the job on the loop that owns the session.
    @discardableResult
    func onShard(of key: SessionKey, _ job: @escaping @Sendable (ServerLoop) -> Void) -> Bool {
        onLoop(context.shard(of: key), job)
    }
}

extension EventLoop: SessionExecutor {
    /// True if the caller is on the loop's thread.
    package var isCurrent: Bool { isOnLoop }
}
