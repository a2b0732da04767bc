import RivuletCluster

/// The log, the records and the bus, as one process reaches them: late, twice, or not at all.
final class ModelLinks: PartitionLog, ClusterRecords, ClusterBus {
    private unowned let world: Simulation
    private unowned let process: ModelProcess

    init(_ world: Simulation, _ process: ModelProcess) { (self.world, self.process) = (world, process) }

    let survivesPowerLoss = true
    let messageBytesMax = 1 << 20

    private static let cut = LogError.unavailable(detail: "cut")

    private func later(_ job: @escaping () -> Void) { world.add(after: world.delay(), process, job) }

    /// Does a request at once or when its answer comes, and answers.
    private func ask<Answer>(_ effect: @escaping () -> Answer, _ failure: Answer, _ reply: @escaping (Answer) -> Void) {
        if process.isCut || world.chance(2) { return world.add(after: 200, process) { reply(failure) } }
        if world.chance(50) {
            let answer = effect()
            later { reply(answer) }
        } else {
            later { reply(effect()) }
        }
    }

    /// Does a write at once, later, after its answer, or not at all, and answers.
    private func write<Outcome>(
        _ effect: @escaping () -> Outcome,
        refused: Outcome,
        unknown: Outcome,
        _ reply: @escaping (Outcome) -> Void
    ) {
        let fate = process.isCut ? 90 + world.number(below: 10) : world.number(below: world.isCalm ? 88 : 100)
        switch fate {
        case 0..<45: later { reply(effect()) }
        case 45..<88:
            world.add(after: world.delay(), nil) { [world, process] in
                let outcome = effect()
                world.add(after: 1, process) { reply(outcome) }
            }
        case 88..<90:
            // The write is done, and its answer is lost.
            world.add(after: world.delay(), nil) { _ = effect() }
            world.add(after: 300, process) { reply(unknown) }
        case 90..<92:
            world.add(after: 100, process) { reply(refused) }
        case 92..<98:
            world.add(after: 300, process) { reply(unknown) }
        default:
            // The write is done after the answer.
            world.add(after: 100 + world.delay(), process) { reply(unknown) }
            world.add(after: 150 + Int64(world.number(below: 1_500)), nil) { _ = effect() }
        }
    }

    // MARK: - PartitionLog

    func append(
        _ message: [UInt8],
        to partition: Partition,
        after position: LogPosition,
        reply: @escaping (LogAppendOutcome) -> Void
    ) {
        let writer = process.incarnation
        world.willAppend(message, after: position, process)
        write(
            { [world] in world.log.append(message, after: position, by: writer) },
            refused: .refused(Self.cut),
            unknown: .unknown,
            { [process] outcome in
                if outcome == .unknown { process.unknownAfter = position }
                reply(outcome)
            }
        )
    }

    func read(
        _ partition: Partition,
        after position: LogPosition,
        reply: @escaping (Result<[LoggedMessage], LogError>) -> Void
    ) {
        ask({ [world] in .success(world.log.read(after: position)) }, .failure(Self.cut), reply)
    }

    func follow(
        _ partition: Partition,
        deliver: @escaping (LoggedMessage) -> Void,
        mayHaveMissed: @escaping () -> Void
    ) {
        (process.deliver, process.mayHaveMissed) = (deliver, mayHaveMissed)
    }

    func ends(of partition: Partition, reply: @escaping (Result<LogEnds, LogError>) -> Void) {
        if process.isCut { return world.add(after: 200, process) { reply(.failure(Self.cut)) } }
        later { [world] in reply(.success(world.log.ends)) }
    }

    func cut(_ partition: Partition, before position: LogPosition, reply: @escaping (Result<Void, LogError>) -> Void) {
        ask({ [world] in .success(world.log.cut(before: position)) }, .failure(Self.cut), reply)
    }

    func put(_ base: PartitionBase, of partition: Partition, reply: @escaping (Result<Void, LogError>) -> Void) {
        ask({ [world] in .success(world.log.put(base)) }, .failure(Self.cut), reply)
    }

    func base(of partition: Partition, reply: @escaping (Result<PartitionBase?, LogError>) -> Void) {
        ask({ [world] in .success(world.log.base) }, .failure(Self.cut), reply)
    }

    // MARK: - ClusterRecords

    func record(_ name: String, reply: @escaping (Result<ClusterRecord?, LogError>) -> Void) {
        if process.isCut || world.chance(2) { return world.add(after: 200, process) { reply(.failure(Self.cut)) } }
        // A later time only makes the answer newer.
        later { [world] in reply(.success(world.records.record(name))) }
    }

    func put(
        _ value: [UInt8],
        as name: String,
        after revision: UInt64,
        reply: @escaping (RecordOutcome) -> Void
    ) {
        write(
            { [world, process] in
                let outcome = world.records.put(value, as: name, after: revision)
                world.note("\(process.name) puts \(name): \(outcome) \(String(decoding: value, as: UTF8.self))")
                return outcome
            },
            refused: .refused(Self.cut),
            unknown: .unknown,
            reply
        )
    }

    func names(beginningWith prefix: String, reply: @escaping (Result<[String], LogError>) -> Void) {
        ask({ [world] in .success(world.records.names(beginningWith: prefix)) }, .failure(Self.cut), reply)
    }

    // MARK: - ClusterBus

    func send(_ message: [UInt8], to node: String) {
        for process in world.processes where process.name == node && process.isAlive && !process.isCut {
            world.add(after: 1, process) { [unowned process] in process.receive?(message) }
        }
    }

    func receive(as node: String, _ deliver: @escaping ([UInt8]) -> Void) { process.receive = deliver }

    func onConnectionChange(_ report: @escaping (Bool) -> Void) { process.connectionDidChange = report }
}

/// Records with revisions.
struct ModelRecords {
    private var records: [(name: String, record: ClusterRecord)] = []
    private var revision: UInt64 = 0

    func record(_ name: String) -> ClusterRecord? { records.first { $0.name == name }?.record }

    mutating func put(_ value: [UInt8], as name: String, after expected: UInt64) -> RecordOutcome {
        let index = records.firstIndex { $0.name == name }
        guard (index.map { records[$0].record.revision } ?? 0) == expected else { return .conflict }
        revision += 1
        let record = ClusterRecord(value: value, revision: revision)
        if let index { records[index].record = record } else { records.append((name, record)) }
        return .stored(revision: revision)
    }

    func names(beginningWith prefix: String) -> [String] {
        records.map(\.name).filter { $0.hasPrefix(prefix) }.sorted()
    }
}
