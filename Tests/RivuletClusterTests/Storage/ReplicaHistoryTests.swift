// Checks that equal frames make equal copies, also through a base.

import ClusterModels
import RivuletCluster
import RivuletSessions
import Testing

@Suite struct ReplicaHistoryTests {
    @Test(arguments: 0..<30 as Range<UInt64>)
    func `the same frames make equal copies and outcomes, also through a base in the middle`(seed: UInt64) throws {
        var random = RandomOperations(seed: seed)
        var history = History(seed: seed)
        let (first, second, third) = (ModelReplica(), ModelReplica(lastToken: 77), ModelReplica(lastToken: 555))
        var middle = 20 + random.number(60)
        for turn in 0..<100 {
            let frame = try history.next()
            let outcomes = try first.applied([frame])
            #expect(try second.applied([frame]).map(\.withoutToken) == outcomes.map(\.withoutToken))
            middle -= 1
            if middle == 0 {
                let base = PartitionBase(try second.exported(frameBytesMax: 2_048), of: .first, frameBytesMax: 2_048)
                #expect(base.frames.allSatisfy { $0.count <= 2_048 })
                try third.loaded(ReplicaExport(base, of: .first))
                #expect(third.position == second.position)
            } else if middle < 0 {
                #expect(try third.applied([frame]).map(\.withoutToken) == outcomes.map(\.withoutToken))
            }
            #expect(second.position == first.position)
            // A hash reads the whole content, so not every step has one.
            if turn % 25 == 24 { #expect(try second.hash() == first.hash()) }
        }
        #expect(try third.hash() == first.hash())
        #expect(third.position == first.position)
        #expect(first.position.outcomes != 0)
    }

    @Test func `frames have the same outcomes one by one and all at once`() throws {
        var history = History(seed: 3)
        let frames = try (0..<60).map { _ in try history.next() }
        let (single, whole) = (ModelReplica(), ModelReplica())
        let outcomes = try frames.flatMap { try single.applied([$0]) }
        #expect(try whole.applied(frames) == outcomes)
        #expect(whole.position == single.position)
        #expect(try whole.hash() == single.hash())
    }

    @Test func `a copy that has diverged stops at the next checkpoint`() throws {
        let replica = ModelReplica()
        let key = SessionKey(app: "a", id: "b")
        _ = try replica.applied([history([.delete(key)], after: 0)])
        var hash = OutcomeHash()
        hash.add(.deleted(false))
        _ = try replica.applied([history([.checkpoint(outcomes: hash.value)], after: 1)])
        let position = replica.position
        #expect(throws: StorageError.self) { try replica.applied([history([.checkpoint(outcomes: 1)], after: 2)]) }
        #expect(replica.position == position)
        // The copy takes no further frames.
        #expect(throws: StorageError.self) { try replica.applied([history([.delete(key)], after: 2)]) }
    }

    @Test func `a base with a missing, a foreign or a damaged frame is refused`() throws {
        var history = History(seed: 9)
        let replica = ModelReplica()
        for _ in 0..<50 { _ = try replica.applied([history.next()]) }
        let base = PartitionBase(try replica.exported(frameBytesMax: 1_024), of: .first, frameBytesMax: 1_024)
        #expect(base.frames.count > 2)
        #expect(try ReplicaExport(base, of: .first).position == replica.position)
        #expect(throws: FrameError.self) { try ReplicaExport(base, of: Partition(rawValue: 1)) }
        for index in base.frames.indices {
            var frames = base.frames
            frames.remove(at: index)
            #expect(throws: FrameError.self) {
                try ReplicaExport(PartitionBase(position: base.position, frames: frames), of: .first)
            }
        }
        var frames = base.frames
        frames[1][20] ^= 1
        #expect(throws: FrameError.self) {
            try ReplicaExport(PartitionBase(position: base.position, frames: frames), of: .first)
        }
        let small = PartitionBase(try replica.exported(frameBytesMax: 1 << 20), of: .first, frameBytesMax: 1 << 20)
        let mixed = PartitionBase(position: base.position, frames: base.frames.dropLast() + small.frames.suffix(1))
        #expect(
            try ReplicaExport(small, of: .first).operations.joined().elementsEqual(
                ReplicaExport(base, of: .first).operations.joined()
            )
        )
        #expect(throws: FrameError.self) {
            try ReplicaExport(
                PartitionBase(position: base.position, frames: Array(mixed.frames.dropFirst())),
                of: .first
            )
        }
    }

    private func history(_ operations: [Operation], after number: UInt64) -> PositionedFrame {
        let frame = Frame(
            cluster: "c",
            partition: .first,
            previous: FrameLink(number: number, term: 1, hash: .none),
            term: 1,
            nonce: 0,
            operations: operations
        )
        return PositionedFrame(position: LogPosition(rawValue: number + 1), frame: frame, hash: .none)
    }
}

/// Makes the frames of a random history.
private struct History {
    private var random: RandomOperations
    private var content = ModelContent()
    private var link = FrameLink.start
    private var hash = OutcomeHash()
    private var position: UInt64 = 0

    init(seed: UInt64) { random = RandomOperations(seed: seed) }

    /// Makes the next frame, and reads it from its bytes.
    mutating func next() throws -> PositionedFrame {
        var operations: [RivuletCluster.Operation] = []
        for _ in 0..<random.number(6) {
            var operation = random.next(in: content)
            if case .checkpoint = operation { operation = .checkpoint(outcomes: hash.value) }
            hash.add(content.apply(operation))
            operations.append(operation)
        }
        let frame = Frame(
            cluster: "cluster",
            partition: .first,
            previous: link,
            term: 1,
            nonce: random.random.next(),
            operations: operations
        )
        let bytes = FrameCodec.encode(frame)
        link = FrameLink(number: frame.number, term: 1, hash: FrameCodec.hash(of: bytes))
        position += UInt64(1 + random.number(3))
        return PositionedFrame(
            position: LogPosition(rawValue: position),
            frame: try FrameCodec.decode(bytes),
            hash: link.hash
        )
    }
}

extension OperationOutcome {
    fileprivate var withoutToken: OperationOutcome {
        switch self {
        case .created(.created(let head)): .created(.created(head.withoutToken))
        case .created(.exists(let head)): .created(.exists(head.withoutToken))
        case .appended(.committed(let head)): .appended(.committed(head.withoutToken))
        case .compacted(.compacted(let head, let retained)):
            .compacted(.compacted(head.withoutToken, retained: retained))
        default: self
        }
    }
}

extension SessionHead {
    fileprivate var withoutToken: SessionHead { SessionHead(epoch: epoch, version: version, token: 0) }
}
