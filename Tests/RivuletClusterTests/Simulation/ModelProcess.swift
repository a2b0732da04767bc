import Logging
import RivuletCluster
import RivuletEngine

/// One run of a node, with its links to the model of the world.
final class ModelProcess {
    let name: String
    let incarnation: UInt64
    let schema: UInt32
    let clock: ModelClock
    let executor = ModelExecutor()
    let replica: SimulatedReplica
    private(set) var node: ClusterNode?

    /// True until the process has ended.
    var isAlive = true
    /// True while the process is stopped by a signal; its events wait in `backlog`.
    var isPaused = false
    var backlog: [() -> Void] = []
    /// True while the process cannot reach the log, the records and the bus.
    var isCut = false
    /// True if the process was told to give the partition up.
    var isDraining = false

    var deliver: ((LoggedMessage) -> Void)?
    var mayHaveMissed: (() -> Void)?
    var receive: (([UInt8]) -> Void)?
    var connectionDidChange: ((Bool) -> Void)?
    /// The place behind which an append with operations had an unknown outcome.
    var unknownAfter: LogPosition?

    init(
        _ world: Simulation,
        name: String,
        schema: UInt32,
        clock: ModelClock,
        content: SimulatedContent,
        ended: UInt64?
    ) {
        (self.name, self.schema, self.clock) = (name, schema, clock)
        incarnation = world.random.next()
        replica = SimulatedReplica(executor)
        replica.state.content = content
        replica.state.synced = content
        replica.state.delay = { [unowned self, unowned world] job in world.applyLater(self, job) }
        var options = ClusterNodeOptions(
            cluster: "sim",
            node: name,
            incarnation: incarnation,
            build: "1",
            schemas: ["s": schema],
            leaseSeconds: Simulation.leaseSeconds,
            endedIncarnation: ended
        )
        options.limits = world.limits
        var surroundings = ClusterNodeSurroundings(
            now: { clock.now },
            schedule: { [unowned self, unowned world] wait, job in
                world.add(after: clock.duration(of: wait), self, job)
            }
        )
        surroundings.coder = world.log.coder
        #if DEBUG
        surroundings.fault = world.fault
        #endif
        let handler = ModelLogHandler(trace: world.trace.map { LoopBound($0, to: executor) }, node: name)
        let links = ModelLinks(world, self)
        node = ClusterNode(
            options,
            log: links,
            records: links,
            bus: links,
            replica: replica,
            executor: executor,
            surroundings: surroundings,
            logger: Logger(label: name) { _ in handler }
        )
    }

    var isRunning: Bool { isAlive && !isPaused }

    /// True if the process hands out sessions now.
    var serves: Bool { isRunning && node?.mayServe == true }

    var takesOperations: Bool { isRunning && node?.refusal == nil }

    func run(_ job: () -> Void) {
        job()
        while isAlive {
            let jobs = executor.take()
            guard !jobs.isEmpty else { return }
            for job in jobs { job() }
        }
    }

    /// Ends the process; the replica keeps what was on disk.
    func kill() {
        isAlive = false
        (deliver, mayHaveMissed, connectionDidChange, backlog) = (nil, nil, nil, [])
        node = nil
    }
}

/// The schedule of a run, line by line.
final class ModelTrace {
    private let time: ModelTime
    private(set) var lines: [String] = []

    init(_ time: ModelTime) { self.time = time }

    func note(_ text: String) { lines.append("\(time.now) \(text)") }
}

/// Adds the log lines of a node to the schedule of a traced run.
struct ModelLogHandler: LogHandler {
    private let trace: LoopBound<ModelTrace>?
    private let node: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(trace: LoopBound<ModelTrace>?, node: String) {
        (self.trace, self.node, logLevel) = (trace, node, trace == nil ? .critical : .notice)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { trace?.onExecutor.note("\(node): \(event.message)") }
}
