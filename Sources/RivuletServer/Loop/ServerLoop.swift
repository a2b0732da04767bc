import Logging
import RivuletBase
import RivuletCluster
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// One event loop of the server: connects its parts, and passes them the loop's events.
///
/// Everything here runs on the loop's thread. Other loops reach it by `LoopBound.post`. Each part has its own state:
/// connections and requests (`ConnectionDriver`), streams (`StreamDriver`), feeds of stores and values (`SharedFeeds`),
/// sessions (`SessionShard`). The endpoints in `Endpoints/` have no state. Each endpoint finds the resource that a
/// request names, acts on it, and responds.
final class ServerLoop {
    let core: LoopCore
    let connections: ConnectionDriver
    let streams: StreamDriver
    let review: StreamReview
    let feeds: SharedFeeds
    let shard: SessionShard
    let outbox: StreamOutbox
    /// Passes requests to other nodes; nil for a server that is alone.
    private(set) var forwarder: RequestForwarder?
    /// The requests of other nodes; nil for a server that is alone.
    private(set) var peers: PeerRequests?
    /// The questions about tickets of other nodes; nil for a server that is alone.
    private(set) var tickets: PeerTickets?
    /// The sources of this loop's streams on another node; nil for a server that is alone.
    let remote: RemoteSources?
    private let sink: ShardSink
    private let publisher: LoopPublisher
    private var memoryTrim = MemoryTrim()

    init(index: Int, loop: EventLoop, context: ServerContext) {
        let core = LoopCore(index: index, loop: loop, context: context)
        let table = ConnectionTable()
        self.core = core
        connections = ConnectionDriver(core, table)
        streams = StreamDriver(core, connections, table)
        review = StreamReview(core, connections, streams)
        outbox = StreamOutbox(core, streams)
        remote = context.relay.map { [connections, streams] in RemoteSources(core, connections, streams, $0) }
        streams.attach(remote)
        feeds = SharedFeeds(core, outbox)
        sink = ShardSink(outbox, core)
        publisher = LoopPublisher(core)
        shard = SessionShard(
            environment: SessionEnvironment(
                executor: loop,
                storage: context.storage,
                limits: context.options.sessionLimits,
                logger: context.logger,
                wallClock: { WallClock.milliseconds() },
                uptime: { .milliseconds(Int64(clamping: loop.nowMilliseconds)) },
                schedule: { delay, job in _ = loop.schedule(after: delay, job) },
                work: { job, done in loop.work(job, done: done) },
                clock: context.clock,
                sink: sink,
                slowEvents: SlowEvents(
                    timeMin: context.options.sessionLimits.slowEventTimeMin,
                    logger: context.logger,
                    now: { MonotonicClock.coarseMilliseconds() }
                ),
                makeGroupID: context.makeGroupID,
                mayHandOut: context.cluster.map { cluster in { cluster.isServing } }
            )
        )
        core.attach(to: self)
        connections.attach(to: self)
        guard let cluster = context.cluster else { return }
        forwarder = RequestForwarder(core, cluster, self)
        peers = PeerRequests(core, cluster, self)
        tickets = PeerTickets(core, cluster)
    }

    var context: ServerContext { core.context }

    // MARK: - Life

    /// Begins the loop's regular work.
    func begin() {
        core.loop.setDelegate(self)
        every(.seconds(1)) { server in
            server.publishMetrics()
            server.core.log.renewQuotas()
            server.trimMemory()
            server.review.decideAfterReload()
        }
        if core.index == 0, let cluster = context.cluster {
            every(.milliseconds(250)) { _ in
                _ = cluster.hasCaughtUp(cluster.member.standing, now: MonotonicClock.milliseconds())
            }
        }
        every(context.options.sessionLimits.idleTimeMax / 10) { $0.shard.evict() }
        if core.index == 0, let relay = context.relay { every(.seconds(1)) { _ in relay.tick() } }
        if core.index == 0, let authentication = context.authentication {
            every(.milliseconds(Authentication.lookInterval)) { _ in authentication.lookForChanges() }
            every(.milliseconds(RevocationList.expiryInterval)) { server in
                // Only the owner writes.
                guard server.context.cluster?.isServing ?? true else { return }
                server.context.revocations?.removeExpired(at: Int(WallClock.milliseconds() / 1_000))
            }
        }
    }

    private func every(_ interval: Duration, _ job: @escaping (ServerLoop) -> Void) {
        core.loop.schedule(after: interval) { [self] in
            job(self)
            if !core.isDraining { every(interval, job) }
        }
    }

    /// Publishes the counts since the last call; called once a second, and when a client asks.
    func publishMetrics() {
        let gauges = LoopGauges(
            connections: connections.count,
            sessions: shard.residentCount,
            passivated: shard.passivatedCount,
            sessionBytes: shard.residentBytes
        )
        let left = shard.takeEvictions()
        publisher.publish(gauges, idleEvictions: left.idle, watchedEvictions: left.watched)
    }

    /// Returns unused memory to the system after a flood of requests; the first loop does it for all loops.
    private func trimMemory() {
        guard core.index == 0, let bytes = ProcessFigures.residentBytes(), memoryTrim.isDue(residentBytes: bytes)
        else { return }
        core.loop.trimMemory()
    }

    // MARK: - Draining

    /// Takes no more connections and requests; accepted requests still get their answers.
    func drain() {
        guard core.beginDraining() else { return }
        core.loop.stopListening()
        if core.index == 0 { context.relay?.end() }
        shard.drain()
        feeds.close()
        streams.endInTurn(streams.ids, because: .draining)
        connections.closeIdle()
    }

    /// Drains, and ends the loop when all requests are answered or the time for it is over.
    func drainAndStop() {
        guard !core.isDraining else { return }
        drain()
        stopWhenQuiet(since: core.loop.nowMilliseconds)
    }

    private func stopWhenQuiet(since start: UInt64) {
        let isOver = core.loop.nowMilliseconds >= start + context.options.limits.drainTimeMax.milliseconds
        let isQuiet = connections.count == 0 && shard.isQuiet && peers?.isEmpty ?? true
        guard context.record(quiet: isQuiet, loop: core.index) || isOver else {
            core.loop.schedule(after: .milliseconds(10)) { [self] in stopWhenQuiet(since: start) }
            return
        }
        core.log.renewQuotas()
        core.loop.stop()
    }
}

// MARK: - The loop's events

extension ServerLoop: LoopDelegate {
    func connectionDidOpen(_ id: ConnectionID, peer: PeerAddress) { connections.didOpen(id, peer: peer) }

    func connection(_ id: ConnectionID, didReceive bytes: Span<UInt8>) {
        if let connection = connections[id] { connections.didReceive(bytes, on: connection) }
    }

    func connectionDidEnd(_ id: ConnectionID) {
        if let connection = connections[id] { connections.didEnd(connection) }
    }

    func connectionDidDrain(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        streams.didDrain(connection)
        connections.didDrain(connection)
    }

    func connectionDidClose(_ id: ConnectionID, reason: CloseReason) {
        guard let connection = connections[id] else { return }
        connections.didClose(connection)
        streams.forget(connection, .peer)
    }

    func loopWillSleep() -> Bool {
        flushOutbox()
        let hasDue = runDeadlines()
        let hasUnwritten = streams.endTurn()
        // Streams may have asked for something in `endTurn` that another loop has to answer.
        flushOutbox()
        publisher.countTurn()
        return hasDue || hasUnwritten
    }

    /// The trace of the request under way; nil without one.
    func trace(of exchange: Exchange) -> TraceParent? {
        connections[exchange.connection]?.request?.trace ?? peers?.trace(of: exchange.connection)
    }

    /// The body that all answers with this value share; nil if there is no room to keep it, so that each answer has its
    /// own.
    func body(of value: ReadValue) -> SharedBody? {
        guard context.hasRoomToKeep || !value.isKept else { return nil }
        return value.form.value { SharedBody(value.json, account: context.heldBytes) }
    }

    func loopDidRefuseConnection(_ error: AcceptError) {
        core.counters.connectionRefused(ConnectionRefusalReason(error))
        context.logger.warning("a connection was turned away", metadata: ["cause": "\(error)"])
    }

    /// Runs the deadlines that are due, as many as a turn allows; true if more are due.
    func runDeadlines() -> Bool {
        connections.runDeadlines { connection, now in
            if let stream = connection.stream {
                streams.deadlineDidPass(stream, on: connection, now: now)
            } else {
                connections.deadlineDidPass(connection, now: now)
            }
        }
    }

    /// Passes the work of this turn for streams of other loops to those loops.
    private func flushOutbox() {
        sink.endTurn()
        outbox.flush { send($0, toSlot: $1) }
        if let remote { remote.flush() }
    }
}
