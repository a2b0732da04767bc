import Logging
import RivuletCluster
import RivuletEngine
import RivuletNATS
import RivuletSessions

/// The answers of a node to questions of commands.
extension NodeDriver {
    func answer(_ question: NodeQuestion, _ reply: @escaping (NodeAnswer) -> Void) {
        switch question {
        case .standing: answerStanding(reply)
        case .contentHash:
            replica.contentHash(
                of: .first,
                reply: link.nats.loop.reply(to: self) { reply(Self.answer($1)) }
            )
        case .drain: drain(reply)
        case .reseed(let beyond): reseed(beyond: beyond, reply)
        }
    }

    private func answerStanding(_ reply: @escaping (NodeAnswer) -> Void) {
        let answer = NodeAnswer(seat.standing)
        guard node == nil else { return reply(answer) }
        // A node that has halted before it joined has applied what its copy has.
        replica.position(
            of: .first,
            reply: link.nats.loop.reply(to: self) { (_, result: Result<ReplicaPosition, StorageError>) in
                var answer = answer
                switch result {
                case .success(let position): answer.applied = position.position
                case .failure(let error): answer.error = "this node's copy cannot be read: \(error)"
                }
                reply(answer)
            }
        )
    }

    private static func answer(_ result: Result<ContentHash, StorageError>) -> NodeAnswer {
        switch result {
        case .failure(let error): return NodeAnswer(error: "this node's copy cannot be read: \(error)")
        case .success(let content):
            var answer = NodeAnswer()
            (answer.applied, answer.hash) = (content.position, String(content.hash, radix: 16))
            return answer
        }
    }

    private func drain(_ reply: @escaping (NodeAnswer) -> Void) {
        guard let node else { return reply(NodeAnswer(error: "the node \(options.node) has not joined its cluster")) }
        logger.notice("gives the partition up, as rivulet cluster drain asks", metadata: ["node": "\(options.node)"])
        let answer = link.nats.loop.reply(to: self) { (driver: NodeDriver, _: Void) in
            reply(NodeAnswer(driver.seat.standing))
        }
        node.drain { answer(()) }
    }

    private func reseed(beyond: LogPosition, _ reply: @escaping (NodeAnswer) -> Void) {
        guard case .halted = seat.standing.role, let facts else {
            return reply(
                NodeAnswer(
                    error:
                        "the node \(options.node) has not halted: its log is whole, and a reseed would end the work of the "
                        + "cluster; only a halted node is the source of a reseed"
                )
            )
        }
        logger.warning("begins the log again, as rivulet cluster reseed asks", metadata: ["node": "\(options.node)"])
        Reseed(self, facts, beyond: beyond) { [logger, options] result in
            switch result {
            case .failure(let error):
                logger.error("the reseed has failed: \(error.text)", metadata: ["node": "\(options.node)"])
                reply(NodeAnswer(error: error.text))
            case .success(let answer): reply(answer)
            }
        }.run()
    }
}

/// The log's new beginning, with the content of this node's copy.
///
/// The base is stored first, so that an interrupted reseed is run again. The new log begins far behind the end of the
/// old one: a copy that has applied messages that are lost finds a message that does not follow them, and halts.
private final class Reseed {
    /// The distance from the end of the old log to the beginning of the new one.
    static let distance: UInt64 = 1 << 20
    private static let baseFrameBytesMax = 512 << 10

    private let driver: NodeDriver
    private let facts: ClusterFacts
    private let beyond: LogPosition
    private let reply: (Result<NodeAnswer, LogError>) -> Void

    init(
        _ driver: NodeDriver,
        _ facts: ClusterFacts,
        beyond: LogPosition,
        reply: @escaping (Result<NodeAnswer, LogError>) -> Void
    ) {
        (self.driver, self.facts, self.beyond, self.reply) = (driver, facts, beyond, reply)
    }

    private var link: ClusterLink { driver.link }

    func run() {
        link.setup.restoreStreams(of: facts) { [self] error in
            if let error { return reply(.failure(error)) }
            link.log.base(of: .first) { [self] result in
                switch result {
                // A base that is lost, too, is replaced.
                case .failure(.lost): export(after: .start)
                case .failure(let error): reply(.failure(error))
                case .success(let base): export(after: base?.position ?? .start)
                }
            }
        }
    }

    private func export(after base: LogPosition) {
        driver.replica.export(
            .first,
            frameBytesMax: Self.baseFrameBytesMax,
            reply: link.nats.loop.reply(to: self) { $0.didExport($1, after: base) }
        )
    }

    private func didExport(_ result: Result<ReplicaExport, StorageError>, after base: LogPosition) {
        switch result {
        case .failure(let error):
            reply(.failure(.unavailable(detail: "The copy of \(driver.options.node) cannot be read: \(error).")))
        case .success(let export):
            let position = export.position
            guard position.cluster == facts.id else {
                return fail("The copy of \(driver.options.node) has no data of the cluster. Name another node.")
            }
            guard position.position >= base else {
                return fail(
                    "The copy of \(driver.options.node) is at \(position.position.rawValue), behind the base at "
                        + "\(base.rawValue), which would lose data. Name another node."
                )
            }
            let content = PartitionBase(export, of: .first, frameBytesMax: ClusterNodeLimits().frameBytesMax)
            let record = BaseRecord(
                position: position.position,
                byteCount: content.frames.reduce(0) { $0 + $1.count }
            )
            link.log.put(content, of: .first) { [self] result in
                if case .failure(let error) = result { return reply(.failure(error)) }
                write(record, position)
            }
        }
    }

    private func fail(_ detail: String) { reply(.failure(.incompatible(detail: detail))) }

    private func write(_ base: BaseRecord, _ position: ReplicaPosition) {
        let name = BaseRecord.name(of: .first)
        link.records.record(name) { [self] result in
            switch result {
            case .failure(let error): reply(.failure(error))
            case .success(let stored):
                link.records.put(base.bytes, as: name, after: stored?.revision ?? 0) { [self] outcome in
                    guard case .stored = outcome else {
                        let detail = "The record of the base was not stored (\(outcome)). Run the reseed again."
                        return reply(.failure(.unavailable(detail: detail)))
                    }
                    findEnd(position)
                }
            }
        }
    }

    private func findEnd(_ position: ReplicaPosition) {
        link.log.ends(of: .first) { [self] result in
            switch result {
            case .failure(let error): reply(.failure(error))
            case .success(let ends): begin(position, after: max(ends.last, position.position, beyond))
            }
        }
    }

    private func begin(_ position: ReplicaPosition, after end: LogPosition) {
        let options = driver.options
        let claim = Claim(node: options.node, incarnation: driver.seat.incarnation, build: options.build, schemas: [:])
        let frame = Frame(
            cluster: facts.id,
            partition: .first,
            previous: position.link,
            term: position.link.term + 1,
            nonce: .random(in: .min ... .max),
            operations: [.claim(claim)]
        )
        let first = LogPosition(rawValue: end.rawValue + Self.distance)
        link.log.begin(.first, with: FrameCodec.encode(frame), at: first) { [self] result in
            reply(
                result.map {
                    var answer = NodeAnswer(driver.seat.standing)
                    (answer.applied, answer.head) = (position.position, first)
                    return answer
                }
            )
        }
    }
}
