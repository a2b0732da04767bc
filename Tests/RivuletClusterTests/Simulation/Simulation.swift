import RivuletCluster
import RivuletEngine
import RivuletSessions
import SeededRandom

/// A cluster with a model of everything around it, which one seed decides: delays, faults and clients.
final class Simulation {
    static let leaseSeconds = 3

    static var limits: ClusterNodeLimits {
        var limits = ClusterNodeLimits()
        limits.frameBytesMax = FrameSplitter.smallestFrameBytesMax
        limits.checkpointFrames = 8
        limits.baseBytesMin = 640
        limits.watchMilliseconds = 750
        limits.readMilliseconds = 2_500
        limits.peersMilliseconds = 9_000
        limits.retryMillisecondsMax = 1_000
        return limits
    }

    let seed: UInt64
    var limits = Simulation.limits
    let fault: NodeFault?
    var random: SeededGenerator
    let time = ModelTime()
    var events = ModelEvents()
    let log: ModelLog
    var records = ModelRecords()
    var processes: [ModelProcess] = []
    /// True while nothing goes wrong any more.
    var isCalm = false
    /// The most milliseconds of a delay.
    private let delayMax: Int
    private let slowApplies: Int
    var client = ModelClient()
    var violations: [String] = []
    /// The number of events so far, which shows a node that does nothing for ever.
    private(set) var eventCount = 0
    static let eventsMax = 20_000
    /// The schedule, if it is recorded.
    let trace: ModelTrace?

    init(seed: UInt64, fault: NodeFault? = nil, isTraced: Bool = false) {
        (self.seed, self.fault) = (seed, fault)
        random = SeededGenerator(seed: seed)
        trace = isTraced ? ModelTrace(time) : nil
        log = ModelLog(seed % 64 == 63 ? .standard : ModelFrames().coder)
        delayMax = [6, 20, 60, 400][Int(random.next() % 4)]
        slowApplies = Int(random.next() % 30)
        let count = 3 + (random.next() % 4 == 0 ? Int(random.next() % 3) : 0)
        log.didAppend = { [unowned self] in didAppend($0) }
        for index in 0..<count {
            let process = ModelProcess(
                self,
                name: ["a", "b", "c", "d", "e"][index],
                schema: random.next() % 8 == 0 ? 1 : 2,
                clock: clock(),
                content: SimulatedContent(),
                ended: nil
            )
            processes.append(process)
            add(after: Int64(number(below: 200)), process) { process.node?.start() }
        }
    }

    /// Makes a cluster without faults; a test starts its nodes.
    init(withLimits limits: ClusterNodeLimits = Simulation.limits) {
        (seed, fault, trace) = (0, nil, nil)
        random = SeededGenerator(seed: 0)
        log = ModelLog(.standard)
        (delayMax, slowApplies, isCalm) = (1, 0, true)
        self.limits = limits
        log.didAppend = { [unowned self] in didAppend($0) }
    }

    /// Starts a node on a copy with this content; `ended` is the earlier run on that folder.
    @discardableResult
    func start(
        _ name: String,
        on content: SimulatedContent = SimulatedContent(),
        schema: UInt32 = 2,
        ended: UInt64? = nil
    ) -> ModelProcess {
        let process = ModelProcess(
            self,
            name: name,
            schema: schema,
            clock: ModelClock(time: time, rate: 1_000, offset: 0),
            content: content,
            ended: ended
        )
        processes.append(process)
        process.run { process.node?.start() }
        return process
    }

    /// A clock with a rate that differs by at most a tenth from that of any other.
    func clock() -> ModelClock {
        let rate = chance(50) ? (chance(50) ? 956 : 1_050) : 956 + Int64(number(below: 95))
        return ModelClock(time: time, rate: rate, offset: Int64(number(below: 1_000_000)))
    }

    func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    func chance(_ percent: Int) -> Bool { number(below: 100) < percent && !(isCalm && percent < 10) }

    func delay() -> Int64 { 1 + Int64(number(below: isCalm ? 5 : delayMax)) }

    func add(after wait: Int64, _ process: ModelProcess?, _ job: @escaping () -> Void) {
        events.add(ModelEvents.Event(time: time.now + wait, process: process, job: job))
    }

    func applyLater(_ process: ModelProcess, _ job: @escaping () -> Void) {
        guard number(below: 100) < slowApplies, !isCalm else { return job() }
        add(after: delay() * 2, process, job)
    }

    func note(_ text: @autoclosure () -> String) {
        if let trace { trace.note(text()) }
    }

    func violate(_ text: String) {
        violations.append("at \(time.now): \(text)")
        note("VIOLATION \(text)")
    }

    // MARK: - Running

    /// Runs the events up to a time.
    func run(until end: Int64) {
        while violations.isEmpty, let next = events.next, next <= end, let event = events.pop() {
            time.now = max(time.now, event.time)
            eventCount += 1
            guard eventCount < Self.eventsMax else { return violate("\(eventCount) events") }
            guard let process = event.process else {
                event.job()
                continue
            }
            guard process.isAlive else { continue }
            guard !process.isPaused else {
                process.backlog.append(event.job)
                continue
            }
            process.run(event.job)
            check()
        }
        time.now = max(time.now, end)
    }

    /// Checks that at most one process hands out sessions, and what it hands out.
    private func check() {
        var server: ModelProcess?
        for process in processes where process.serves {
            // A log that has lost the claim of a live owner cannot keep another node from claiming.
            if let server, !log.isDamaged {
                violate("I6: \(server.name) and \(process.name) serve at one time")
            }
            server = process
        }
        if let server, client.needsRead(of: server) { read(at: server) }
    }

    func didAppend(_ message: LoggedMessage) {
        note("log \(message.position.rawValue): \(describe(message))")
        for process in processes where process.isAlive && !process.isCut {
            let copies = chance(9) ? number(below: 3) : 1
            for _ in 0..<copies {
                let delivered = LoggedMessage(
                    position: message.position,
                    previous: number(below: 3) == 0 ? nil : message.previous,
                    bytes: message.bytes
                )
                add(after: delay(), process) { [unowned process] in process.deliver?(delivered) }
            }
        }
    }

    private func describe(_ message: LoggedMessage) -> String {
        guard trace != nil, let frame = try? log.coder.decode(message.bytes) else { return "" }
        let operations = frame.operations.map { operation in
            switch operation {
            case .claim(let claim): "claim by \(claim.node)"
            case .release(let node): "release to \(node)"
            case .checkpoint: "checkpoint"
            default: "\(ModelOperation.id(of: operation) ?? -1)"
            }
        }
        return "frame \(frame.number) term \(frame.term) \(operations)"
    }

    /// Checks a frame before the log sees it.
    func willAppend(_ bytes: [UInt8], after position: LogPosition, _ process: ModelProcess) {
        guard process.unknownAfter == position, let frame = try? log.coder.decode(bytes) else { return }
        let isClaim = if case .claim? = frame.operations.first { true } else { false }
        if !isClaim, frame.part != nil || !frame.operations.isEmpty {
            violate("I12: \(process.name) publishes before an unknown outcome is resolved")
        }
    }

    // MARK: - Clients

    /// Reads each session at a process that may serve.
    func read(at process: ModelProcess) {
        guard !log.isDamaged else { return }
        for (index, session) in ModelClient.sessions.enumerated() {
            let changed = process.replica.state.content.sessions[session]?.changed ?? .start
            if changed < client.floors[index] {
                violate(
                    "a read of \(session) at \(process.name) sees \(changed.rawValue), and "
                        + "\(client.floors[index].rawValue) was answered before"
                )
            }
            client.floors[index] = max(client.floors[index], changed)
        }
        client.didRead(at: process)
    }

    /// Writes at a process that takes writes.
    func submit() {
        let open = processes.filter(\.takesOperations)
        guard !open.isEmpty else { return }
        let process = open[number(below: open.count)]
        guard let node = process.node else { return }
        let (operation, session) = client.next(self, at: process)
        let id = client.begin(at: log.ends.last, session: session)
        note("\(process.name) takes \(id)")
        let bound = LoopBound(self, to: process.executor)
        process.run {
            node.submit(operation, byteCount: operation.byteCount) { bound.onExecutor.didAnswer(id, $0) }
        }
    }

    private func didAnswer(_ id: Int, _ result: Result<OperationOutcome, StorageError>) {
        note("answer \(id) \(result)")
        guard client.answer(id, result) else { return violate("the operation \(id) is answered twice") }
        guard case .success = result, !log.isDamaged else { return }
        guard let place = log.places[id] else { return violate("I3: \(id) is answered, and not in the log") }
        if place <= client.operations[id].begun { violate("I3: \(id) is in the log before it was submitted") }
        if let session = client.operations[id].session, let changed = log.changes[id] {
            client.floors[session] = max(client.floors[session], changed)
            client.mustRead = true
        }
    }
}
