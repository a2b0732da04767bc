import RivuletCluster
import RivuletNATS
import Testing

@Suite(.timeLimit(.minutes(1))) struct NATSPartitionLogTests {
    /// A node with an empty cluster on the shared server.
    private func node(_ limits: NATSLogLimits = NATSLogLimits()) async throws -> NATSTestNode {
        let node = try NATSTestNode(NATSTestServers.shared.get().list, logLimits: limits)
        _ = try await node.create()
        return node
    }

    /// Appends messages "1", "2" and so on.
    private func fill(_ node: NATSTestNode, _ count: UInt64) async {
        for number in 1...count {
            let outcome = await node.append("\(number)", after: number - 1)
            #expect(outcome == .committed(LogPosition(rawValue: number)))
        }
    }

    @Test func `a message is written behind the last one only`() async throws {
        let node = try await node()
        defer { node.stop() }
        #expect(await node.append("1", after: 1) == .moved(last: 0))
        #expect(await node.append("1", after: 0) == .committed(1))
        #expect(await node.append("2", after: 0) == .moved(last: 1))
        #expect(await node.append("2", after: 1) == .committed(2))
        let messages = try await node.read(after: 0)
        #expect(
            messages == [
                LoggedMessage(position: 1, previous: 0, bytes: Array("1".utf8)),
                LoggedMessage(position: 2, previous: 1, bytes: Array("2".utf8)),
            ]
        )
    }

    @Test func `an empty log has no ends and no messages`() async throws {
        let node = try await node()
        defer { node.stop() }
        #expect(try await node.ends() == LogEnds(first: 0, last: 0))
        #expect(try await node.read(after: 0) == [])
        try await node.cut(before: 5)
        #expect(await node.append("1", after: 0) == .committed(1))
    }

    @Test func `one of racing messages is written`() async throws {
        let nodes = [try await node()]
        defer { for node in nodes { node.stop() } }
        let outcomes = await withTaskGroup(of: LogAppendOutcome.self) { group in
            for number in 0..<16 { group.addTask { await nodes[0].append("\(number)", after: 0) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .committed(1) } == 1)
        #expect(outcomes.count { $0 == .moved(last: 1) } == 15)
        #expect(try await nodes[0].ends() == LogEnds(first: 1, last: 1))
    }

    @Test func `a read begins anywhere and has batches without gaps`() async throws {
        var limits = NATSLogLimits()
        limits.readMessagesMax = 3
        let node = try await node(limits)
        defer { node.stop() }
        await fill(node, 8)
        for start in UInt64(0)...8 {
            let read = try await node.read(after: start)
            #expect(read.map(\.position.rawValue) == Array((start + 1)..<min(start + 4, 9)))
            #expect(read.map(\.previous?.rawValue) == read.map { $0.position.rawValue - 1 })
        }
    }

    @Test func `a read ends after its bytes, but has one message at least`() async throws {
        var limits = NATSLogLimits()
        limits.readBytesMax = 1_000
        let node = try await node(limits)
        defer { node.stop() }
        for number in UInt64(0)..<3 {
            _ = await node.append([UInt8](repeating: 7, count: 100_000), after: number)
        }
        let read = try await node.read(after: 1)
        #expect(read.map(\.position) == [2])
        #expect(read.first?.bytes.count == 100_000)
    }

    @Test func `a cut keeps the messages from its position on, and always the last`() async throws {
        let node = try await node()
        defer { node.stop() }
        await fill(node, 6)
        try await node.cut(before: 1)
        #expect(try await node.ends() == LogEnds(first: 1, last: 6))
        try await node.cut(before: 4)
        #expect(try await node.ends() == LogEnds(first: 4, last: 6))
        // The first message that is left does not follow the position: its predecessor's place tells so.
        let first = try #require(try await node.read(after: 0).first)
        #expect((first.position, first.previous) == (4, 3))
        try await node.cut(before: 2)
        try await node.cut(before: 1_000)
        #expect(try await node.ends() == LogEnds(first: 6, last: 6))
        #expect(await node.append("x", after: 0) == .moved(last: 6))
        #expect(await node.append("7", after: 6) == .committed(7))
    }

    @Test func `a message over the server's limit is refused with the limit`() async throws {
        let node = try await node()
        defer { node.stop() }
        let outcome = await node.append([UInt8](repeating: 0, count: 1_048_576), after: 0)
        guard case .refused(.tooLarge(let limit)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(await node.append([UInt8](repeating: 0, count: limit), after: 0) == .committed(1))
    }

    @Test func `a full log refuses messages and is still read`() async throws {
        let node = try NATSTestNode(NATSTestServers.shared.get().list)
        defer { node.stop() }
        await node.connected()
        let facts = ClusterFacts(id: "c", created: "", secretFingerprint: "", replicas: 1)
        try await node.call { node, reply in node.setup.create(facts, logBytesMax: 100_000, reply: reply) }.get()
        #expect(await node.append([UInt8](repeating: 1, count: 60_000), after: 0) == .committed(1))
        let outcome = await node.append([UInt8](repeating: 2, count: 60_000), after: 1)
        guard case .refused(.full) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try await node.read(after: 0).count == 1)
    }

    @Test func `a follower gets messages with their predecessors, and is told to look`() async throws {
        var limits = NATSLogLimits()
        limits.followSilenceMax = .milliseconds(100)
        let writer = try await node()
        defer { writer.stop() }
        let follower = try NATSTestNode(
            NATSTestServers.shared.get().list,
            prefix: writer.prefix,
            logLimits: limits
        )
        defer { follower.stop() }
        await follower.connected()
        await fill(writer, 1)
        let (messages, putMessage) = AsyncStream.makeStream(of: LoggedMessage.self)
        let (looks, putLook) = AsyncStream.makeStream(of: Void.self)
        await follower.onLoop { node in
            node.log.follow(.first) {
                putMessage.yield($0)
            } mayHaveMissed: {
                putLook.yield()
            }
        }
        // A subscription counts when the server has answered a request behind it.
        _ = try await follower.ends()
        #expect(await writer.append("2", after: 1) == .committed(2))
        #expect(await writer.append("3", after: 2) == .committed(3))
        var next = messages.makeAsyncIterator()
        #expect(await next.next() == LoggedMessage(position: 2, previous: 1, bytes: Array("2".utf8)))
        #expect(await next.next() == LoggedMessage(position: 3, previous: 2, bytes: Array("3".utf8)))
        // At the start, after the servers know the subscription, and again whenever nothing comes.
        var look = looks.makeAsyncIterator()
        for _ in 0..<4 { await look.next() }
    }

    @Test func `a base of several MiB is put and read again, and replaces an earlier one`() async throws {
        let node = try await node()
        defer { node.stop() }
        func base() async throws -> PartitionBase? {
            try await node.call { node, reply in node.log.base(of: .first, reply: reply) }.get()
        }
        func put(_ base: PartitionBase) async throws {
            try await node.call { node, reply in node.log.put(base, of: .first, reply: reply) }.get()
        }
        #expect(try await base() == nil)
        let empty = PartitionBase(position: 1, frames: [])
        try await put(empty)
        #expect(try await base() == empty)
        // Sizes below, at and above a chunk, and frames of no bytes.
        let sizes = [0, 3, 524_284, 524_288, 0, 1_500_000, 1]
        let frames = sizes.enumerated().map { index, size in
            (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) }
        }
        let large = PartitionBase(position: 7, frames: frames)
        try await put(large)
        #expect(try await base() == large)
        try await put(PartitionBase(position: 6, frames: [[1]]))
        #expect(try await base() == large)
        let last = PartitionBase(position: 8, frames: [[1], [2, 3]])
        try await put(last)
        #expect(try await base() == last)
        // One chunk and the manifest: nothing of the earlier bases is left.
        let info = await node.api("STREAM.INFO.\(node.names.baseStream)", "")
        #expect(info.contains("\"messages\":2,"))
    }

    @Test func `one of two bases that are put at once is stored, and the other leaves nothing`() async throws {
        let node = try await node()
        defer { node.stop() }
        let bases = [1, 2].map { PartitionBase(position: LogPosition(rawValue: $0), frames: [[UInt8($0)], [], [9]]) }
        // Both read the manifest before one of them writes it.
        let results = await node.call { (node, reply: @escaping ([Int: Result<Void, LogError>]) -> Void) in
            var results: [Int: Result<Void, LogError>] = [:]
            for (index, base) in bases.enumerated() {
                node.log.put(base, of: .first) { result in
                    results[index] = result
                    if results.count == bases.count { reply(results) }
                }
            }
        }
        let stored = results.filter { if case .success = $0.value { true } else { false } }
        #expect(stored.count == 1)
        let winner = try #require(stored.first?.key)
        #expect(try await node.call { node, reply in node.log.base(of: .first, reply: reply) }.get() == bases[winner])
        #expect(await node.api("STREAM.INFO.\(node.names.baseStream)", "").contains("\"messages\":2,"))
    }

    @Test func `a follower that was not connected is told to look, and sees the gap`() async throws {
        let writer = try await node()
        let follower = try NATSTestNode(NATSTestServers.shared.get().list, prefix: writer.prefix)
        defer {
            writer.stop()
            follower.stop()
        }
        await follower.connected()
        let (messages, putMessage) = AsyncStream.makeStream(of: LoggedMessage.self)
        let (looks, putLook) = AsyncStream.makeStream(of: Void.self)
        await follower.onLoop { node in
            node.log.follow(.first) {
                putMessage.yield($0)
            } mayHaveMissed: {
                putLook.yield()
            }
        }
        _ = try await follower.ends()
        var (nextMessage, nextLook) = (messages.makeAsyncIterator(), looks.makeAsyncIterator())
        await nextLook.next()
        await fill(writer, 1)
        #expect(await nextMessage.next()?.position == 1)
        await follower.onLoop { $0.connection.stop() }
        #expect(await writer.append("2", after: 1) == .committed(2))
        await follower.onLoop { $0.connection.start() }
        await follower.connected()
        await nextLook.next()
        _ = try await follower.ends()
        #expect(await writer.append("3", after: 2) == .committed(3))
        #expect(await nextMessage.next() == LoggedMessage(position: 3, previous: 2, bytes: Array("3".utf8)))
        #expect(try await follower.read(after: 1).map(\.position) == [2, 3])
    }

    @Test func `a call without connection is refused at once, and certainly not written`() async throws {
        let node = try NATSTestNode([NATSServer(host: "127.0.0.1", port: 1)])
        defer { node.stop() }
        guard case .refused(.unavailable) = await node.append("1", after: 0) else {
            Issue.record("an append without connection was not refused")
            return
        }
        await #expect(throws: LogError.self) { try await node.read(after: 0) }
    }

    @Test func `a log whose streams are missing names the command that makes them`() async throws {
        let node = try NATSTestNode(NATSTestServers.shared.get().list)
        defer { node.stop() }
        await node.connected()
        let error = await #expect(throws: LogError.self) { try await node.ends() }
        #expect(
            error
                == .incompatible(
                    detail:
                        "NATS has no streams of this cluster. Create them with `rivulet cluster init`, or, for a cluster "
                        + "that has lost them, run `rivulet cluster reseed --from NODE`."
                )
        )
        // Nothing listens on the subject, so the message was certainly not written.
        #expect(
            await node.append("1", after: 0)
                == .refused(.unavailable(detail: "NATS has no leader for \(node.names.log(.first))."))
        )
    }
}
