import RivuletCluster
import RivuletEngine
import RivuletSessions
import Synchronization
import Testing

@Suite struct ClusterNodeTests {
    private let world = Simulation(withLimits: Simulation.limits)

    private func advance(_ milliseconds: Int64) { world.run(until: world.time.now + milliseconds) }

    /// Submits an operation, and returns the place of its later answer.
    private func write(_ operation: RivuletCluster.Operation, at process: ModelProcess) -> Answer {
        let answer = Answer()
        process.run {
            process.node?.submit(operation, byteCount: operation.byteCount) { result in answer.set(result) }
        }
        return answer
    }

    private final class Answer: Sendable {
        private let result = Mutex<Result<OperationOutcome, StorageError>?>(nil)

        var value: Result<OperationOutcome, StorageError>? { result.withLock { $0 } }

        func set(_ new: Result<OperationOutcome, StorageError>) { result.withLock { $0 = new } }
    }

    /// The check of zlib, bit by bit.
    private static func crc32(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0 as UInt32) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }

    private func halt(of process: ModelProcess) -> String? {
        if case .halted(let reason) = process.node?.standing.role { reason } else { nil }
    }

    @Test func `the first node of an empty cluster becomes the owner and writes`() {
        let a = world.start("a")
        advance(500)
        #expect(a.serves)
        #expect(a.node?.standing.role == .owner)
        let answer = write(ModelOperation.create("x", id: 1), at: a)
        advance(50)
        #expect(answer.value == .success(.created(.created(SessionHead(epoch: "1", version: 0, token: 0)))))
        #expect(a.node?.standing.applied == world.log.ends.last)
    }

    @Test func `a standby follows, refuses writes and names the owner`() {
        let a = world.start("a")
        advance(500)
        let b = world.start("b")
        advance(500)
        _ = write(ModelOperation.create("x", id: 1), at: a)
        advance(50)
        #expect(b.replica.state.content.sessions["x"] != nil)
        #expect(b.node?.standing.role == .standby)
        #expect(b.node?.standing.owner == ClusterPeer(node: "a", incarnation: a.incarnation))
        let answer = write(ModelOperation.create("y", id: 2), at: b)
        #expect(answer.value == .failure(.unavailable(detail: "this node does not have the partition: ask its owner")))
        advance(10_000)
        #expect(b.node?.standing.nodes.map(\.name) == ["a", "b"])
    }

    @Test func `a dead owner is followed within 1.1 leases and a second`() {
        let a = world.start("a")
        advance(500)
        let b = world.start("b")
        advance(5_000)
        a.kill()
        let killed = world.time.now
        while !b.serves, world.time.now < killed + 10_000 { advance(10) }
        #expect(world.time.now - killed <= 3_300 + 1_000)
    }

    @Test func `an owner that starts again on its folder is the owner at once`() {
        let a = world.start("a")
        advance(500)
        world.start("b")
        advance(3_000)
        a.kill()
        let again = world.start("a", on: a.replica.state.content, ended: a.incarnation)
        advance(100)
        #expect(again.serves)
        #expect(again.node?.standing.term == 2)
    }

    @Test func `a drained owner hands the partition over without a wait for its lease`() {
        let a = world.start("a")
        advance(500)
        let b = world.start("b")
        advance(10_000)
        let drained = Answer()
        let answer = write(ModelOperation.create("x", id: 1), at: a)
        a.run { a.node?.drain { drained.set(.success(.none)) } }
        #expect(!a.serves)
        advance(200)
        #expect(b.serves)
        #expect(drained.value != nil)
        if case .success? = answer.value {} else { Issue.record("the write before the drain is lost") }
        #expect(a.node?.standing.role == .standby)
    }

    @Test func `a node that stops need not be waited for`() {
        let a = world.start("a")
        advance(500)
        let b = world.start("b")
        advance(10_000)
        let stopped = Answer()
        a.run { a.node?.stop { stopped.set(.success(.none)) } }
        advance(500)
        #expect(stopped.value != nil)
        #expect(b.serves)
    }

    @Test func `a second live node of the same name halts, and the first one goes on`() {
        let a = world.start("a")
        advance(500)
        let other = world.start("a")
        advance(5_000)
        #expect(a.serves)
        #expect(halt(of: other)?.contains("give each node its own --node name") == true)
    }

    @Test func `a live owner ends its part when another run takes its name`() {
        let a = world.start("a")
        advance(500)
        // The caller says that the first run has ended, which is wrong.
        let other = world.start("a", ended: a.incarnation)
        advance(2_000)
        // Both serve until the first run reads the claim of the second one.
        world.violations = []
        advance(2_000)
        #expect(!a.serves)
        #expect(other.serves)
        #expect(a.node?.standing.role == .deposed)
    }

    @Test func `a log that ends before the node's position halts it`() {
        let a = world.start("a")
        advance(500)
        a.kill()
        world.log.truncate(0)
        let empty = Simulation(withLimits: Simulation.limits)
        let late = empty.start("a", on: a.replica.state.content, ended: a.incarnation)
        empty.run(until: 2_000)
        let place = a.replica.state.content.position.position.rawValue
        #expect(
            halt(of: late) == "the log ends at 0 before this node's \(place): run rivulet cluster reseed --from NODE"
        )
        #expect(empty.log.history.isEmpty)
    }

    @Test func `a copy of another cluster halts the node`() {
        var content = SimulatedContent()
        let frame = Frame(cluster: "other", partition: .first, previous: .start, term: 1, nonce: 1, operations: [])
        _ = content.apply(PositionedFrame(position: LogPosition(rawValue: 1), frame: frame, hash: .none))
        let a = world.start("a", on: content)
        advance(500)
        #expect(halt(of: a)?.contains("this node's copy is of the cluster other") == true)
    }

    @Test func `a message of a newer build halts with the remedy`() {
        let a = world.start("a")
        advance(500)
        let b = world.start("b")
        advance(500)
        a.kill()
        var bytes = FrameCodec.encode(
            Frame(cluster: "sim", partition: .first, previous: .start, term: 1, nonce: 2, operations: [])
        )
        // The format version, and the check over all bytes.
        bytes[4] = 9
        let check = Self.crc32(of: bytes.dropLast(4))
        bytes.replaceSubrange(
            (bytes.count - 4)...,
            with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: check >> $0) }
        )
        let position = LogPosition(rawValue: world.log.ends.last.rawValue + 1)
        b.run { b.deliver?(LoggedMessage(position: position, previous: world.log.ends.last, bytes: bytes)) }
        #expect(halt(of: b)?.hasSuffix("upgrade this node") == true)
    }

    @Test func `a copy that differs at a checkpoint halts`() {
        let a = world.start("a")
        advance(500)
        let b = world.start("b")
        advance(500)
        b.replica.state.content.falsify()
        for id in 1..<12 {
            _ = write(ModelOperation.create("s\(id)", id: id), at: a)
            advance(50)
        }
        #expect(halt(of: b)?.hasSuffix("stop it, delete its folder, start it again") == true)
        #expect(a.serves)
    }

    @Test func `a node with older apps does not claim`() {
        let a = world.start("a")
        advance(500)
        let b = world.start("b", schema: 1)
        advance(500)
        a.kill()
        advance(20_000)
        #expect(b.node?.standing.role == .standby)
        world.start("c")
        advance(5_000)
        #expect(world.processes.last?.serves == true)
    }

    @Test func `a full log refuses writes, and reads go on`() {
        let a = world.start("a")
        advance(500)
        world.log.isFull = true
        let answer = write(ModelOperation.create("x", id: 1), at: a)
        advance(50)
        #expect(answer.value == .failure(.full(detail: "full")))
        #expect(a.serves)
        world.log.isFull = false
        let second = write(ModelOperation.create("x", id: 2), at: a)
        advance(50)
        if case .success? = second.value {
        } else {
            Issue.record("the log has space again: \(String(describing: second.value))")
        }
    }

    @Test func `writes beyond the queue's limit are refused`() {
        var limits = Simulation.limits
        limits.queuedOperationsMax = 2
        let world = Simulation(withLimits: limits)
        let a = world.start("a")
        world.run(until: 500)
        let answers = (0..<5).map { write(ModelOperation.create("s\($0)", id: $0), at: a) }
        let refused = answers.count { if case .failure(.unavailable)? = $0.value { true } else { false } }
        #expect(refused == 2)
        world.run(until: 600)
        #expect(answers.count { if case .success? = $0.value { true } else { false } } == 3)
    }

    @Test func `an operation that is larger than a frame is written in parts`() throws {
        let a = world.start("a")
        advance(500)
        let b = world.start("b")
        advance(100)
        _ = write(ModelOperation.create("x", id: 1), at: a)
        advance(50)
        let head = try #require(a.replica.state.content.sessions["x"])
        let answer = write(ModelOperation.append("x", head, id: 2, padding: 3_000), at: a)
        advance(50)
        #expect(answer.value == .success(.appended(.committed(SessionHead(epoch: "1", version: 1, token: 0)))))
        #expect(b.replica.state.content.hash == a.replica.state.content.hash)
    }

    @Test func `a new node begins with the base when the log was cut`() {
        let a = world.start("a")
        advance(500)
        for id in 1..<30 {
            _ = write(ModelOperation.create("s\(id)", id: id), at: a)
            advance(50)
        }
        advance(1_000)
        #expect(world.log.ends.first > LogPosition(rawValue: 2))
        let b = world.start("b")
        advance(1_000)
        #expect(b.node?.standing.role == .standby)
        #expect(b.replica.state.content.hash == a.replica.state.content.hash)
    }

    @Test func `messages reach the other node with the name and the run of their sender`() {
        let a = world.start("a")
        let b = world.start("b")
        let observer = Observer()
        b.run { b.node?.attach(observer) }
        a.run { a.node?.send([1, 2, 3], to: "b") }
        advance(10)
        let received = observer.received.withLock { $0 }
        #expect(received.map(\.message) == [[1, 2, 3]])
        #expect(received.map(\.sender) == [ClusterPeer(node: "a", incarnation: a.incarnation)])
    }

    @Test func `changes of other nodes' stores are reported`() {
        let a = world.start("a")
        advance(500)
        let b = world.start("b")
        let observers = [Observer(), Observer()]
        a.run { a.node?.attach(observers[0]) }
        b.run { b.node?.attach(observers[1]) }
        advance(500)
        _ = write(ModelOperation.item("k", id: 1), at: a)
        advance(50)
        #expect(observers.map { $0.collections.withLock { $0 } } == [[], ["c"]])
        #expect(observers[1].roles.withLock { $0 }.last == .standby)
    }

    private final class Observer: ClusterObserver {
        let received = Mutex<[(message: [UInt8], sender: ClusterPeer)]>([])
        let collections = Mutex<Set<String>>([])
        let roles = Mutex<[ClusterStanding.Role]>([])

        func standingDidChange(_ standing: ClusterStanding) { roles.withLock { $0.append(standing.role) } }

        func didReceive(_ message: [UInt8], from sender: ClusterPeer) {
            received.withLock { $0.append((message, sender)) }
        }

        func mayHaveLostMessages() {}

        func didApply(changesOf collections: Set<String>) { self.collections.withLock { $0.formUnion(collections) } }
    }
}
