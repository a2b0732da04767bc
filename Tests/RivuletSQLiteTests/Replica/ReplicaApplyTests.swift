// Checks the applies of a copy: their transactions, the quotas of operations, and the frames that are refused.

import CStorageFaults
import RivuletBase
import RivuletCluster
import RivuletSQLite
import RivuletSessions
import RivuletStores
import StorageConformance
import Testing

@Suite struct ReplicaApplyTests {
    private func create(
        _ id: String,
        entries: [LogEntry] = TestData.entries(1...2),
        snapshot: StateSnapshot? = nil,
        owner: String? = nil,
        quota: StorageQuota = .none
    ) -> Operation {
        .append(
            TestData.key(id),
            at: .creating(epoch: TestData.epoch, time: 1, snapshot: snapshot, owner: owner),
            entries: entries,
            answers: .none,
            quota: quota
        )
    }

    @Test func `waiting applies share one transaction without a sync, and have their own outcomes`() async throws {
        let folder = try TemporaryFolder()
        folder.failDisk()
        let replica = try folder.replica()
        defer { replica.close() }
        var chain = FrameChain()
        let frames = [
            [
                chain.next([create("a")]),
                chain.next([.claim(Claim(node: "n", incarnation: 1, build: "", schemas: [:]))]),
            ],
            [chain.next([create("b"), create("a")])], [chain.next([])], [chain.next([.delete(TestData.key("z"))])],
        ]
        let gate = Gate()
        await gate.holdWriter(of: replica)
        let (syncs, commits) = (folder.syncs, try LogBytes(of: folder).commits.count)
        let answers = Answers<[OperationOutcome]>(expecting: frames.count)
        for (index, frames) in frames.enumerated() {
            replica.apply(frames, of: .first, reply: answers.reply(index))
        }
        gate.open()
        let outcomes = try await answers.all().map { try $0.get().map(\.withoutToken) }
        let created = OperationOutcome.appended(
            .committed(SessionHead(epoch: TestData.epoch, version: 2, token: 0))
        )
        #expect(outcomes == [[created, .none], [created, .appended(.conflict)], [], [.deleted(false)]])
        #expect(folder.syncs == syncs)
        #expect(try LogBytes(of: folder).commits.count == commits + 1)
        let position = try await replica.position()
        #expect(position.cluster == FrameChain.cluster)
        #expect(position.position == chain.position)
        #expect(position.link == chain.link)
        #expect(try await replica.sessions(app: "counter", limit: 9).map(\.id) == ["a", "b"])
    }

    @Test func `the newest claim and its end are there when the copy is opened again`() async throws {
        let folder = try TemporaryFolder()
        let claim = Claim(node: "n", incarnation: .max, build: "1", schemas: ["counter": 2])
        var chain = FrameChain()
        for operations in [[Operation.claim(claim)], [create("a")], [.release(to: "m")]] {
            let replica = try folder.replica()
            _ = try await replica.apply([chain.next(operations)])
            replica.close()
        }
        let replica = try folder.replica()
        defer { replica.close() }
        #expect(try await replica.position().ownership == PartitionOwnership(claim: claim, release: "m"))
        #expect(try await replica.export().position.ownership == PartitionOwnership(claim: claim, release: "m"))
    }

    @Test func `a new copy stands at the start, and an apply without frames leaves it there`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        defer { replica.close() }
        #expect(try await replica.apply([]) == [])
        #expect(try await replica.position() == .start)
        #expect(try await replica.export() == ReplicaExport(position: .start, operations: []))
    }

    @Test func `the writes of all other roles are refused, and reads and probes are not`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        defer { replica.close() }
        var chain = FrameChain()
        _ = try await replica.apply([chain.next([create("a")])])
        let head = try #require(try await replica.load(TestData.key("a"))).head
        for write: () async throws -> Void in [
            { _ = try await replica.create(TestData.key("b"), epoch: "e", time: 1) },
            { _ = try await replica.append(TestData.key("a"), at: .after(head), [TestData.entry(3)]) },
            {
                _ = try await replica.compact(
                    TestData.key("a"),
                    at: head,
                    snapshot: TestData.snapshot(2),
                    keepingFrom: 3
                )
            },
            { _ = try await replica.delete(TestData.key("a")) },
            { try replica.setQuotas(["counter": StorageQuota(sessionsMax: 1)]) },
        ] {
            let error = await #expect(throws: StorageError.self) { try await write() }
            guard case .incompatible = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let items = await withCheckedContinuation { continuation in
            replica.commit([.put(key: "k", document: [1])], to: "todos") { continuation.resume(returning: $0) }
        }
        guard case .incompatible = items.error else { Issue.record("\(items)"); return }
        try await replica.probe()
        #expect(try await replica.load(TestData.key("a"))?.head == head)
        _ = try await replica.apply([chain.next([create("b")])])
    }

    @Test func `a server without a cluster refuses the calls of a copy`() async throws {
        let folder = try TemporaryFolder()
        let single = try folder.engine()
        defer { single.close() }
        var chain = FrameChain()
        let frame = chain.next([create("a")])
        await #expect(throws: StorageError.self) { _ = try await single.apply([frame]) }
        await #expect(throws: StorageError.self) { _ = try await single.position() }
        await #expect(throws: StorageError.self) { _ = try await single.contentHash() }
        #expect(try await single.sessions(app: "counter", limit: 9) == [])
    }

    @Test func `the limits of an operation decide, and a refused one changes nothing`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica { $0.itemsMax = 1 }
        defer { replica.close() }
        var chain = FrameChain()
        let large = TestData.snapshot(0, byteCount: 6_000)
        let two = StorageQuota(sessionsMax: 2)
        let one = StorageQuota(ownerSessionsMax: 1)
        // The row of the large snapshot is compressed, and its quota counts the state.
        let bytes = StorageQuota(bytesMax: 5_999)
        let put = [ItemChange.put(key: "a", document: [1]), .put(key: "b", document: [2])]
        let outcomes = try await replica.apply([
            chain.next([create("a", entries: [], snapshot: large, quota: bytes)]),
            chain.next([
                create("a", owner: "ann", quota: two), create("b", owner: "ann", quota: one),
                create("b", owner: "bob", quota: two), create("c", quota: two), create("c", quota: .none),
            ]),
            chain.next([
                .items(collection: "todos", changes: put, time: 5, itemsMax: 1),
                .items(collection: "todos", changes: put, time: 6, itemsMax: 2),
            ]),
        ])
        let refusals = outcomes.map { outcome in
            switch outcome {
            case .refused(let excess): excess.limitName
            case .items(let error): error.map { "\($0)" } ?? "stored"
            default: "stored"
            }
        }
        let tooMany = "\(ItemStorageError.tooMany(limit: 1))"
        #expect(
            refusals == [
                "bytesMax", "stored", "ownerSessionsMax", "stored", "sessionsMax", "stored", tooMany, "stored",
            ]
        )
        #expect(try await replica.sessions(app: "counter", limit: 9).map(\.id) == ["a", "b", "c"])
        #expect(try SQLiteCheck.run(folder: folder.path) == [])
    }

    /// A frame that must be refused, made after two others.
    struct BadFrame: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (inout FrameChain) -> [PositionedFrame]
    }

    static let badFrames = [
        BadFrame(testDescription: "repeated") { chain in
            let frame = chain.next([])
            return [frame, frame]
        },
        BadFrame(testDescription: "of another cluster") { [$0.next([], cluster: "other")] },
        BadFrame(testDescription: "of an earlier term") { [$0.next([], term: 0)] },
        BadFrame(testDescription: "with an operation of a base") {
            let session = BaseOperation.session(TestData.key("z"), epoch: "e", created: 1, owner: nil)
            return [$0.next([.delete(TestData.key("a")), .base(session)])]
        },
        BadFrame(testDescription: "with a part of an operation") { chain in
            let whole = chain.next([])
            var frame = whole.frame
            frame.part = OperationPart(total: 3, offset: 2, bytes: [1])
            return [PositionedFrame(position: whole.position, frame: frame, hash: whole.hash)]
        },
    ]

    @Test(arguments: badFrames)
    func `a bad frame is refused with all frames of its call, and no frame is taken until the copy is opened again`(
        bad: BadFrame
    ) async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        var chain = FrameChain()
        try await replica.apply([chain.next([create("a")])])
        let (position, hash) = (try await replica.position(), try await replica.contentHash())
        let good = chain.next([create("b")])
        var badChain = chain
        let frames = bad.make(&badChain)
        let error = await #expect(throws: StorageError.self) { try await replica.apply([good] + frames) }
        guard case .incompatible = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let next = await #expect(throws: StorageError.self) { try await replica.apply([good]) }
        guard case .unavailable(let detail) = next else {
            Issue.record("\(String(describing: next))")
            return
        }
        #expect(detail.contains("this copy takes no more: start the node again"))
        #expect(try await replica.position() == position)
        #expect(try await replica.contentHash() == hash)
        #expect(try await replica.load(TestData.key("a"))?.head.version == 2)
        try await replica.probe()
        replica.close()
        let again = try folder.replica()
        defer { again.close() }
        #expect(try await again.position() == position)
        try await again.apply([good])
        #expect(try await again.sessions(app: "counter", limit: 9).map(\.id) == ["a", "b"])
    }

    @Test func `a checkpoint with other outcomes shows that the copy has diverged`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        defer { replica.close() }
        var chain = FrameChain()
        try await replica.apply([chain.next([create("a")])])
        let outcomes = try await replica.position().outcomes
        try await replica.apply([chain.next([.checkpoint(outcomes: outcomes)])])
        let frame = chain.next([.checkpoint(outcomes: outcomes &+ 1)])
        let error = await #expect(throws: StorageError.self) { try await replica.apply([frame]) }
        guard case .corrupt(nil, let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("the outcomes of this copy differ from the outcomes of the log's owner"))
        #expect(detail.contains("stop the node, and delete the folder \(folder.path); the node copies the data again"))
    }

    @Test func `another partition is refused`() async throws {
        let folder = try TemporaryFolder()
        let replica = try folder.replica()
        defer { replica.close() }
        let other = Partition(rawValue: 3)
        await #expect(throws: StorageError.self) {
            _ = try await replica.answer { replica.position(of: other, reply: $0) }
        }
        var chain = FrameChain()
        let frame = chain.next([])
        await #expect(throws: StorageError.self) {
            _ = try await replica.answer { replica.apply([frame], of: other, reply: $0) }
        }
    }

    @Test func `a call that the queue refuses ends the applies, because the next one would skip its frames`()
        async throws
    {
        let folder = try TemporaryFolder()
        let replica = try folder.replica { $0.writesWaitingMax = 2 }
        defer { replica.close() }
        var chain = FrameChain()
        let gate = Gate()
        await gate.holdWriter(of: replica)
        let answers = Answers<[OperationOutcome]>(expecting: 3)
        for index in 0..<3 {
            replica.apply([chain.next([create("\(index)")])], of: .first, reply: answers.reply(index))
        }
        gate.open()
        #expect(await answers.all().map { $0.error == nil } == [true, false, false])
        let frame = chain.next([create("3")])
        await #expect(throws: StorageError.self) { try await replica.apply([frame]) }
        #expect(try await replica.sessions(app: "counter", limit: 9).map(\.id) == ["0"])
    }
}
