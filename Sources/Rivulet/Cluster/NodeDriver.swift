import Logging
import RivuletBase
import RivuletCluster
import RivuletEngine
import RivuletEventLoop
import RivuletNATS
import RivuletSQLite
import RivuletServer
import RivuletSessions

/// The way of a process into its cluster: the connection, the checks, and then the node; on the loop's thread.
final class NodeDriver {
    /// The most time between two attempts.
    static let pauseMax = Duration.seconds(5)
    /// The time between two looks at a connection that is not made yet.
    private static let lookInterval = Duration.milliseconds(100)
    /// The time between two readings of all nodes' records: a node that has just joined takes the partition of a node
    /// that drains.
    private static let peersMilliseconds: Int64 = 1_000
    /// The time after which a monitor that did not answer is asked again.
    static let monitorPause = Duration.seconds(10)

    let options: ClusterOptions
    let link: ClusterLink
    let replica: SQLiteStorageEngine
    let seat: ClusterSeat
    let logger: Logger
    private let result: NodeStart
    /// The earlier runs on the data folder, which have ended.
    private let endedRuns: Set<UInt64>
    /// The schema versions of the server's apps.
    private let schemas: () -> [String: UInt32]

    private enum Phase {
        case connecting
        case checking
        /// The checks have passed, and the server has not begun yet.
        case waiting(ClusterNodeOptions)
        case ended
    }

    private var phase = Phase.connecting
    private var failures = 0
    private var isTroubled = false
    private(set) var facts: ClusterFacts?
    private(set) var node: ClusterNode?

    init(
        _ options: ClusterOptions,
        _ link: ClusterLink,
        _ replica: SQLiteStorageEngine,
        _ seat: ClusterSeat,
        _ result: NodeStart,
        endedRuns: Set<UInt64>,
        schemas: @escaping () -> [String: UInt32],
        logger: Logger
    ) {
        (self.options, self.link, self.replica, self.seat) = (options, link, replica, seat)
        (self.result, self.endedRuns, self.schemas, self.logger) = (result, endedRuns, schemas, logger)
    }

    private var loop: EventLoop { link.nats.loop }

    func start() {
        link.connection.start()
        look()
    }

    /// Takes the beginning of the server.
    func didAttach() { join() }

    /// Ends the connection and the loop.
    func stop() {
        phase = .ended
        link.connection.stop()
        // The connection sends what waits, such as the end of the lease.
        loop.schedule(after: .milliseconds(50)) { [loop] in loop.stop() }
    }

    // MARK: - Attempts

    private func look() {
        guard case .connecting = phase else { return }
        if link.connection.isConnected { return check() }
        switch link.connection.problem {
        case .incompatible(let detail)?: return refuse(detail)
        case let error?: trouble(error)
        case nil: break
        }
        loop.schedule(after: Self.lookInterval) { [weak self] in self?.look() }
    }

    private func trouble(_ error: LogError) {
        result.set(.unreachable)
        guard !isTroubled else { return }
        isTroubled = true
        logger.warning(
            "the cluster's log cannot be reached, and is tried again: \(error.text)",
            metadata: ["node": "\(options.node)"]
        )
    }

    private func retry(_ error: LogError) {
        guard case .checking = phase else { return }
        if case .incompatible(let detail) = error { return refuse(detail) }
        trouble(error)
        phase = .connecting
        failures += 1
        let pause = min(Self.pauseMax, .milliseconds(100) * (1 << min(failures, 6)))
        loop.schedule(after: pause) { [weak self] in self?.look() }
    }

    /// Ends the start for a reason that names the remedy: the process ends, or, when it takes requests already, halts.
    private func refuse(_ reason: String) {
        phase = .ended
        guard !result.set(.refused(reason)) else { return }
        seat.halt(reason)
    }

    /// Halts a node that has a copy of the cluster's data, so that it can be the source of a reseed.
    private func halt(_ reason: String) {
        phase = .ended
        result.set(.checked)
        seat.halt(reason)
    }

    // MARK: - Checks

    private func check() {
        phase = .checking
        link.setup.facts { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): retry(error)
            case .success(nil):
                replica.position(of: .first, reply: loop.reply(to: self) { $0.refuseWithoutFacts($1) })
            case .success(let facts?): check(facts)
            }
        }
    }

    private func check(_ facts: ClusterFacts) {
        guard facts.secretFingerprint == options.secret.clusterFingerprint else {
            return refuse(
                "the secret key is not that of the cluster \(facts.id): give all nodes the same RIVULET_SECRET_KEY or "
                    + "RIVULET_SECRET_KEY_FILE"
            )
        }
        if self.facts == nil {
            self.facts = facts
            seat.set(cluster: facts.id)
            link.answer(as: options.node, of: facts.id) { [weak self] question, reply in
                guard let self else { return reply(NodeAnswer(error: "the node is stopping")) }
                answer(question, reply)
            }
        }
        replica.position(
            of: .first,
            reply: loop.reply(to: self) { $0.didReadPosition($1, facts) }
        )
    }

    private func refuseWithoutFacts(_ position: Result<ReplicaPosition, StorageError>) {
        let address = options.link.address
        guard case .success(let position) = position, !position.cluster.isEmpty else {
            return refuse("NATS at \(address) has no cluster: create it with rivulet cluster init --cluster \(address)")
        }
        refuse(
            "NATS at \(address) has no cluster, and this node's copy is of the cluster \(position.cluster): name the servers of "
                + "that cluster in --cluster, or restore a backup of NATS"
        )
    }

    private func didReadPosition(_ position: Result<ReplicaPosition, StorageError>, _ facts: ClusterFacts) {
        let hasCopy: Bool
        switch position {
        case .failure(let error): return refuse("this node's copy cannot be read: \(error)")
        case .success(let position): hasCopy = position.cluster == facts.id
        }
        link.setup.check { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let checked): checkDisks(checked)
            case .failure(.incompatible(let detail)) where hasCopy: halt(detail)
            case .failure(let error): retry(error)
            }
        }
    }

    private func checkDisks(_ checked: CheckedCluster) {
        guard !options.isSyncVerified else { return checkName(checked.facts) }
        let monitors = MonitorCheck(options.monitors, of: checked.servers, on: link.nats)
        monitors.run { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): retry(error)
            case .success(let silent):
                if !silent.isEmpty { watch(silent, checked.servers) }
                checkName(checked.facts)
            }
        }
    }

    /// Asks monitors again that did not answer, until each has said that its server writes through.
    private func watch(_ silent: [NATSMonitorURL], _ servers: Set<String>) {
        let list = silent.map(\.description).joined(separator: ", ")
        logger.warning(
            "NATS monitors do not answer, and are asked again: \(list)",
            metadata: ["node": "\(options.node)"]
        )
        loop.schedule(after: Self.monitorPause) { [weak self] in self?.askAgain(silent, servers) }
    }

    private func askAgain(_ silent: [NATSMonitorURL], _ servers: Set<String>) {
        guard let url = silent.first else { return }
        NATSMonitor.check([url], of: [], on: link.nats) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success: askAgain(Array(silent.dropFirst()), servers)
            case .failure(.incompatible(let detail)):
                logger.critical("\(detail)", metadata: ["node": "\(options.node)"])
                seat.stop { [seat, loop] in loop.post { seat.halt(detail) } }
            case .failure:
                loop.schedule(after: Self.monitorPause) { [weak self] in self?.askAgain(silent, servers) }
            }
        }
    }

    /// Finds out if another process has the node's name, and so renews its record.
    private func checkName(_ facts: ClusterFacts) {
        let watch = NameWatch(options.node, link.records, loop)
        watch.run(endedRuns: endedRuns) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): retry(error)
            case .success(.taken(let run)):
                refuse(
                    "another node named \(options.node) is running (its run is \(String(run, radix: 16))): give each "
                        + "node its own --node name"
                )
            case .success(.free(let ended)): didCheck(facts, ended)
            }
        }
    }

    private func didCheck(_ facts: ClusterFacts, _ ended: UInt64?) {
        guard case .checking = phase else { return }
        if isTroubled {
            logger.notice("the cluster's log can be reached", metadata: ["node": "\(options.node)"])
        }
        var limits = ClusterNodeLimits()
        limits.peersMilliseconds = Self.peersMilliseconds
        phase = .waiting(
            ClusterNodeOptions(
                cluster: facts.id,
                node: options.node,
                incarnation: seat.incarnation,
                build: options.build,
                schemas: [:],
                leaseSeconds: options.leaseSeconds,
                endedIncarnation: ended,
                limits: limits
            )
        )
        result.set(.checked)
        join()
    }

    /// Makes the node, when the checks have passed and the server has begun.
    private func join() {
        guard case .waiting(var options) = phase, seat.observer != nil else { return }
        phase = .ended
        options.schemas = schemas()
        let node = ClusterNode(
            options,
            log: link.log,
            records: link.records,
            bus: NATSBus(connection: link.connection, names: link.names, cluster: options.cluster),
            replica: replica,
            executor: loop,
            surroundings: ClusterNodeSurroundings(
                now: { BootClock.milliseconds() },
                schedule: { [loop] milliseconds, job in loop.schedule(after: .milliseconds(milliseconds), job) }
            ),
            logger: logger
        )
        self.node = node
        seat.take(node)
    }
}

extension LogError {
    /// The reason as text.
    var text: String {
        switch self {
        case .unavailable(let detail), .full(let detail), .incompatible(let detail), .lost(let detail): detail
        case .tooLarge(let limitBytes): "A message has more than \(limitBytes) bytes."
        }
    }
}
