// Checks the work that one connection, and all together, may do in one turn of the loop.

import RivuletEventLoop
import SeededRandom
import Testing

@Suite struct EventLoopTurnTests {
    @Test func `one connection gives the kernel at most one part of its bytes in a turn`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        let bytes = [UInt8](repeating: 7, count: 200_000)
        let (outcome, unsent) = try harness.onLoop { loop in (loop.write(id, bytes), loop.unsentBytes(id)) }
        #expect(outcome == .queued(unsentBytes: 200_000 - 65_536))
        #expect(unsent == 200_000 - 65_536)
        #expect(try client.receive(exactly: 200_000).count == 200_000)
        #expect(try harness.events.take() == .drained(id))
        harness.stop()
    }

    @Test func `all connections give the kernel at most a turn's bytes, and half of them directly`() throws {
        var limits = LoopLimits()
        limits.bytesPerTurnMax = 100_000
        limits.bytesPerWriteMax = 20_000
        let harness = try LoopHarness(limits: limits)
        let clients = try (0..<6).map { _ in try TestClient(port: harness.port) }
        let ids = try clients.map { _ in try harness.nextOpened() }
        let block = SharedBytes([UInt8](repeating: 7, count: 20_000))
        let sent = try harness.onLoop { loop in ids.map { loop.write($0, block) } }
        #expect(sent == Array(repeating: .sent, count: 3) + Array(repeating: .queued(unsentBytes: 20_000), count: 3))
        for client in clients { #expect(try client.receive(exactly: 20_000).count == 20_000) }
        let drained = try (0..<3).map { _ in try harness.events.take() }
        #expect(ids[3...].allSatisfy { drained.contains(.drained($0)) })
        harness.stop()
    }

    @Test func `a turn writes to many connections until its bytes are used up`() throws {
        var limits = LoopLimits()
        limits.bytesPerTurnMax = 100_000
        let harness = try LoopHarness(limits: limits)
        let clients = try (0..<4).map { _ in try TestClient(port: harness.port) }
        let ids = try clients.map { _ in try harness.nextOpened() }
        let block = SharedBytes([UInt8](repeating: 7, count: 20_000))
        let outcomes = try harness.onLoop { loop in
            var rest = ids[...]
            var outcomes: [WriteOutcome] = []
            while !rest.isEmpty {
                let (sent, outcome) = loop.write(block, toEach: Array(rest).span)
                outcomes += Array(repeating: .sent, count: sent)
                rest = rest.dropFirst(sent)
                guard !rest.isEmpty else { break }
                outcomes.append(outcome)
                rest = rest.dropFirst()
            }
            return outcomes
        }
        #expect(outcomes == [.sent, .sent, .sent, .queued(unsentBytes: 20_000)])
        for client in clients { #expect(try client.receive(exactly: 20_000).count == 20_000) }
        harness.stop()
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `bytes keep their order, however they are written`(seed: UInt64) throws {
        var limits = LoopLimits()
        limits.bytesPerTurnMax = 200_000
        let harness = try LoopHarness(limits: limits)
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        let expected = try harness.onLoop { loop in
            var generator = SeededGenerator(seed: seed)
            var expected: [UInt8] = []
            func piece() -> [UInt8] {
                let most = [10, 5_000, 20_000, 100_000].randomElement(using: &generator) ?? 1
                let first = UInt8.random(in: 0...255, using: &generator)
                let count = Int.random(in: 0...most, using: &generator)
                let bytes = (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
                expected += bytes
                return bytes
            }
            for _ in 0..<60 {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: _ = loop.write(id, piece())
                case 1: _ = loop.write(id, SharedBytes(piece()))
                case 2: _ = loop.write(id, piece(), [SharedBytes(piece()), SharedBytes(piece())])
                default:
                    expected.append(0)
                    _ = loop.write(SharedBytes([0] + piece()), toEach: [id].span)
                }
            }
            return expected
        }
        #expect(try client.receive(exactly: expected.count) == expected)
        harness.stop()
    }

    @Test func `one connection is read once in a turn`() throws {
        let reads = Handover<[ConnectionID]>()
        let harness = try LoopHarness { _, delegate in
            var turn: [ConnectionID] = []
            delegate.onReceive = { id, _ in turn.append(id) }
            delegate.onSleep = {
                if !turn.isEmpty { reads.put(turn) }
                turn = []
            }
        }
        let client = try TestClient(port: harness.port)
        _ = try harness.nextOpened()
        try client.send([UInt8](repeating: 1, count: 1_000_000))
        var received = 0
        while received < 1_000_000 {
            if case .received(_, let bytes) = try harness.events.take() { received += bytes.count }
        }
        harness.stop()
        #expect(reads.rest.allSatisfy { $0.count == 1 })
    }

    /// A loop that reports the connections that it has read in each turn.
    private func harness(_ limits: LoopLimits, telling turns: Handover<[ConnectionID]>) throws -> LoopHarness {
        try LoopHarness(limits: limits) { _, delegate in
            var turn: [ConnectionID] = []
            delegate.onReceive = { id, _ in turn.append(id) }
            delegate.onSleep = {
                if !turn.isEmpty { turns.put(turn) }
                turn = []
            }
        }
    }

    /// Holds a loop until the test releases it.
    private func hold(_ harness: LoopHarness) throws -> Handover<Void> {
        let (isWaiting, goesOn) = (Handover<Void>(), Handover<Void>())
        harness.loop.post {
            isWaiting.put(())
            #expect(throws: Never.self) { try goesOn.take() }
        }
        try isWaiting.take()
        return goesOn
    }

    @Test func `many connections are read in several turns, each of them once`() throws {
        var limits = LoopLimits()
        limits.readsPerTurnMax = 3
        let turns = Handover<[ConnectionID]>()
        let harness = try harness(limits, telling: turns)
        let clients = try (0..<20).map { _ in try TestClient(port: harness.port) }
        let ids = try clients.map { _ in try harness.nextOpened() }
        // The loop waits until all clients have sent.
        let goesOn = try hold(harness)
        for client in clients { try client.send([1]) }
        goesOn.put(())
        var read: [ConnectionID] = []
        while read.count < 20 {
            let turn = try turns.take()
            #expect(turn.count <= 3)
            read += turn
        }
        #expect(Set(read) == Set(ids))
        harness.stop()
        #expect(turns.rest.isEmpty)
    }

    @Test func `a turn reads no more connections than it may`() throws {
        var limits = LoopLimits()
        limits.readsPerTurnMax = 2
        let most = Handover<Int>()
        let harness = try LoopHarness(limits: limits) { _, delegate in
            var count = 0
            delegate.onReceive = { _, _ in count += 1 }
            delegate.onSleep = {
                most.put(count)
                count = 0
            }
        }
        let clients = try (0..<8).map { _ in try TestClient(port: harness.port) }
        for round in 0..<50 {
            for client in clients { try client.send([UInt8(round)]) }
        }
        var received = 0
        while received < 8 * 50 {
            if case .received(_, let bytes) = try harness.events.take() { received += bytes.count }
        }
        harness.stop()
        #expect(most.rest.allSatisfy { $0 <= 2 })
    }

    @Test func `connections that always have bytes do not keep others from being read`() throws {
        var limits = LoopLimits()
        limits.readsPerTurnMax = 2
        let turns = Handover<[ConnectionID]>()
        let harness = try harness(limits, telling: turns)
        let clients = try (0..<6).map { _ in try TestClient(port: harness.port) }
        let ids = try clients.map { _ in try harness.nextOpened() }
        let goesOn = try hold(harness)
        // Two clients send more than four reads take, the others one byte each.
        for client in clients[..<2] { try client.send([UInt8](repeating: 1, count: 300_000)) }
        for client in clients[2...] { try client.send([1]) }
        goesOn.put(())
        var (read, count) = (Set<ConnectionID>(), 0)
        while !read.isSuperset(of: ids[2...]) {
            read.formUnion(try turns.take())
            count += 1
        }
        #expect(count <= 6)
        harness.stop()
    }

    @Test func `bytes that the kernel takes end the stalled time`() throws {
        let account = SharedBytes.Account()
        let harness = try LoopHarness(account: account)
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        #expect(try harness.onLoop { $0.stalledMilliseconds(id) } == nil)
        let bytes = [UInt8](repeating: 7, count: 32_000_000)
        _ = try harness.onLoop { $0.write(id, bytes) }
        #expect(account.bytes >= 31_900_000)
        // The kernel's buffers fill up, and then no bytes move.
        var stalled: UInt64 = 0
        while stalled < 500 { stalled = try #require(try harness.onLoop { $0.stalledMilliseconds(id) }) }
        #expect(try client.receive(exactly: 24_000_000).count == 24_000_000)
        // More bytes than the buffers of client and server hold were sent, so the kernel took bytes after a pause.
        #expect(try #require(try harness.onLoop { $0.stalledMilliseconds(id) }) < stalled)
        #expect(try client.receive(exactly: 8_000_000).count == 8_000_000)
        #expect(try harness.events.take() == .drained(id))
        #expect(account.bytes == 0)
        harness.stop()
    }

    @Test func `a close after flush sends the bytes that wait for a turn, and then ends`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        let bytes = [UInt8](repeating: 7, count: 500_000)
        try harness.onLoop { loop in
            _ = loop.write(id, bytes)
            loop.closeAfterFlush(id, within: .seconds(10))
        }
        #expect(try client.receiveAll().count == 500_000)
        client.end()
        #expect(try harness.events.take() == .closed(id, .local))
        harness.stop()
    }

    @Test func `a loop stops while connections wait for their turns`() throws {
        let harness = try LoopHarness()
        let clients = try (0..<3).map { _ in try TestClient(port: harness.port) }
        let ids = try clients.map { _ in try harness.nextOpened() }
        let bytes = [UInt8](repeating: 7, count: 500_000)
        try harness.onLoop { loop in
            for id in ids { _ = loop.write(id, bytes) }
            loop.stop()
        }
        harness.stop()
        #expect(ids.allSatisfy { harness.events.rest.contains(.closed($0, .loopStopped)) })
    }

    @Test func `queues and direct writes do not use up a turn's bytes, so the delegate can still write`() throws {
        var limits = LoopLimits()
        limits.bytesPerTurnMax = 100_000
        let outcomes = Handover<WriteOutcome>()
        let small = Handover<ConnectionID>()
        let harness = try LoopHarness(limits: limits) { loop, delegate in
            delegate.onSleep = {
                // This write comes after the turn's writes from queues and the turn's direct writes.
                if let id = small.rest.first { outcomes.put(loop.write(id, [1])) }
            }
        }
        let clients = try (0..<5).map { _ in try TestClient(port: harness.port) }
        let ids = try clients.map { _ in try harness.nextOpened() }
        let block = SharedBytes([UInt8](repeating: 7, count: 2_000_000))
        small.put(ids[4])
        try harness.onLoop { loop in for id in ids.dropLast() { _ = loop.write(id, block) } }
        for client in clients.dropLast() { #expect(try client.receive(exactly: 2_000_000).count == 2_000_000) }
        harness.stop()
        #expect(outcomes.rest.count > 10)
        #expect(outcomes.rest.allSatisfy { $0 == .sent })
    }
}
