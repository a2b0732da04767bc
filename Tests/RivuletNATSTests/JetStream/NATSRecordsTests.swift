import RivuletCluster
import RivuletNATS
import Testing

@Suite(.timeLimit(.minutes(1))) struct NATSRecordsTests {
    private func node() async throws -> NATSTestNode {
        let node = try NATSTestNode(NATSTestServers.shared.get().list)
        _ = try await node.create()
        return node
    }

    @Test func `a record is written only in place of its present revision`() async throws {
        let node = try await node()
        defer { node.stop() }
        #expect(try await node.record("node.a") == nil)
        guard case .stored(let first) = await node.put("1", as: "node.a", after: 0) else {
            Issue.record("the first write was not stored")
            return
        }
        #expect(await node.put("2", as: "node.a", after: 0) == .conflict)
        #expect(await node.put("2", as: "node.b", after: first) == .conflict)
        #expect(try await node.record("node.a") == ClusterRecord(value: Array("1".utf8), revision: first))
        guard case .stored(let second) = await node.put("2", as: "node.a", after: first) else {
            Issue.record("the second write was not stored")
            return
        }
        #expect(second > first)
        #expect(await node.put("3", as: "node.a", after: first) == .conflict)
        #expect(try await node.record("node.a") == ClusterRecord(value: Array("2".utf8), revision: second))
    }

    @Test func `one of racing writes is stored`() async throws {
        let node = try await node()
        defer { node.stop() }
        let outcomes = await withTaskGroup(of: RecordOutcome.self) { group in
            for number in 0..<16 { group.addTask { await node.put("\(number)", as: "lease", after: 0) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .conflict } == 15)
        #expect(outcomes.count { if case .stored = $0 { true } else { false } } == 1)
    }

    @Test func `names are listed by their beginning, whatever characters they have`() async throws {
        let node = try await node()
        defer { node.stop() }
        let names = ["node.a", "node.b c", "node.ä*>=", "node..x.", "other", "node"]
        for name in names {
            guard case .stored = await node.put(name, as: name, after: 0) else {
                Issue.record("\(name) was not stored")
                continue
            }
            #expect(try await node.record(name)?.value == Array(name.utf8))
        }
        let found = try await node.call { (node, reply: @escaping (Result<[String], LogError>) -> Void) in
            node.records.names(beginningWith: "node.", reply: reply)
        }.get()
        #expect(found == ["node..x.", "node.a", "node.b c", "node.ä*>="])
        let all = try await node.call { (node, reply: @escaping (Result<[String], LogError>) -> Void) in
            node.records.names(beginningWith: "", reply: reply)
        }.get()
        #expect(all == (names + ["cluster"]).sorted())
    }

    @Test func `the messages of one node to another come in order, and not to a third`() async throws {
        let servers = try NATSTestServers.shared.get().list
        let one = try NATSTestNode(servers)
        let two = try NATSTestNode(servers, prefix: one.prefix)
        defer {
            one.stop()
            two.stop()
        }
        await one.connected()
        await two.connected()
        let (messages, put) = AsyncStream.makeStream(of: [UInt8].self)
        await two.onLoop { node in
            node.bus.receive(as: "node.two") { put.yield($0) }
            node.bus.receive(as: "node.three") { _ in Issue.record("a message went to another node") }
        }
        _ = await two.api("INFO", "")
        #expect(await one.onLoop { $0.bus.messageBytesMax } == 1_048_576)
        await one.onLoop { node in
            for number in UInt8(0)..<100 { node.bus.send([number], to: "node.two") }
            node.bus.send([UInt8](repeating: 1, count: 1_048_576), to: "node.two")
        }
        var next = messages.makeAsyncIterator()
        for number in UInt8(0)..<100 { #expect(await next.next() == [number]) }
        #expect(await next.next()?.count == 1_048_576)
    }
}
