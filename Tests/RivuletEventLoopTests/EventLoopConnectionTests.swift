// Owns the tests of connections over real sockets: reading, writing, backpressure, ends.

import RivuletEventLoop
import Testing

@Suite struct EventLoopConnectionTests {
    @Test func `sent bytes come back, and the peer's end is reported before the close`() throws {
        let harness = try LoopHarness { loop, delegate in
            delegate.onReceive = { id, bytes in #expect(loop.write(id, bytes) == .sent) }
            delegate.onEnd = { loop.close($0, .peerEnded) }
        }
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        try client.send("hello")
        #expect(try client.receive(exactly: 5) == Array("hello".utf8))
        #expect(try harness.events.take() == .received(id, Array("hello".utf8)))
        client.end()
        #expect(try harness.events.take() == .ended(id))
        #expect(try harness.events.take() == .closed(id, .peerEnded))
        #expect(try client.receiveAll().isEmpty)
        harness.stop()
        #expect(harness.events.rest.isEmpty)
    }

    @Test func `a peer that ends its side still gets its answer`() throws {
        let harness = try LoopHarness { loop, delegate in
            delegate.onEnd = { id in
                #expect(loop.write(id, Array("answer".utf8)) == .sent)
                loop.closeAfterFlush(id, within: .seconds(10))
            }
        }
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        client.end()
        #expect(try client.receiveAll() == Array("answer".utf8))
        #expect(try harness.events.take() == .ended(id))
        #expect(try harness.events.take() == .closed(id, .local))
        harness.stop()
    }

    @Test func `bytes that a slow reader does not take are queued in order, and drained is reported once`() throws {
        let part = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        let outcomes = try harness.onLoop { loop in (0..<100).map { _ in loop.write(id, part) } }
        let unsent = try harness.onLoop { $0.unsentBytes(id) }
        #expect(unsent > 0)
        guard case .queued(let queued) = outcomes.last else {
            Issue.record("10 MB fit into the kernel's buffers")
            return
        }
        #expect(queued >= unsent)
        let received = try client.receive(exactly: 10_000_000)
        #expect(received.count == 10_000_000)
        let starts = stride(from: 0, to: received.count, by: part.count)
        #expect(starts.allSatisfy { received[$0..<$0 + part.count] == part[...] })
        #expect(try harness.events.take() == .drained(id))
        #expect(try harness.onLoop { $0.unsentBytes(id) } == 0)
        #expect(try harness.onLoop { $0.write(id, [1]) } == .sent)
        harness.stop()
        #expect(harness.events.rest == [.closed(id, .loopStopped)])
    }

    @Test func `a close after flush sends everything queued before it ends`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        let outcome = try harness.onLoop { loop in
            let outcome = loop.write(id, [UInt8](repeating: 7, count: 8_000_000))
            loop.closeAfterFlush(id, within: .seconds(60))
            return [outcome, loop.write(id, [1])]
        }
        #expect(outcome.last == .closed)
        #expect(try client.receiveAll().count == 8_000_000)
        client.end()
        #expect(try harness.events.take() == .closed(id, .local))
        harness.stop()
    }

    @Test func `an answer is not lost while the peer still sends`() throws {
        let harness = try LoopHarness { loop, delegate in
            delegate.onReceive = { id, _ in
                _ = loop.write(id, Array("refused".utf8))
                loop.closeAfterFlush(id, within: .seconds(60))
            }
        }
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        try client.send([UInt8](repeating: 1, count: 4_000_000))
        #expect(try client.receive(exactly: 7) == Array("refused".utf8))
        client.end()
        #expect(try client.receiveAll().isEmpty)
        guard case .received(id, _) = try harness.events.take() else {
            Issue.record("nothing received")
            return
        }
        #expect(try harness.events.take() == .closed(id, .local))
        harness.stop()
    }

    @Test func `a peer that does not stop sending into a closing connection is cut off`() throws {
        var limits = LoopLimits()
        limits.lingerBytesMax = 100_000
        let harness = try LoopHarness(limits: limits) { loop, delegate in
            delegate.onOpen = { loop.closeAfterFlush($0, within: .seconds(60)) }
        }
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        #expect(throws: TestClient.Failure.self) {
            while true { try client.send([UInt8](repeating: 1, count: 100_000)) }
        }
        #expect(try harness.events.take() == .closed(id, .local))
        harness.stop()
    }

    @Test func `a peer that takes nothing is closed after its time limit`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        _ = try harness.onLoop { loop in
            _ = loop.write(id, [UInt8](repeating: 7, count: 20_000_000))
            loop.closeAfterFlush(id, within: .milliseconds(20))
        }
        #expect(try harness.events.take() == .closed(id, .flushTimedOut))
        harness.stop()
        withExtendedLifetime(client) {}
    }

    @Test func `a peer that does not end after the answer is closed when the linger time has passed`() throws {
        var limits = LoopLimits()
        limits.lingerTime = .milliseconds(20)
        let harness = try LoopHarness(limits: limits) { loop, delegate in
            delegate.onOpen = { loop.closeAfterFlush($0, within: .seconds(60)) }
        }
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        #expect(try client.receiveAll().isEmpty)
        #expect(try harness.events.take() == .closed(id, .local))
        harness.stop()
    }

    @Test func `more unsent bytes than the limit close the connection`() throws {
        var limits = LoopLimits()
        limits.unsentBytesMax = 1_000_000
        let harness = try LoopHarness(limits: limits)
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        let last = try harness.onLoop { loop in
            var outcome = WriteOutcome.sent
            while outcome != .closed { outcome = loop.write(id, [UInt8](repeating: 1, count: 300_000)) }
            return outcome
        }
        #expect(last == .closed)
        #expect(try harness.events.take() == .closed(id, .unsentLimit))
        harness.stop()
        withExtendedLifetime(client) {}
    }

    @Test func `a reset is reported with the system's error code`() throws {
        let harness = try LoopHarness()
        var client: TestClient? = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        try client?.resetOnClose()
        client = nil
        guard case .closed(id, .failed(let error)) = try harness.events.take() else {
            Issue.record("the reset was not reported")
            return
        }
        #expect(error.name == "ECONNRESET")
        #expect("\(error)" == "read: ECONNRESET connection reset by peer")
        harness.stop()
    }

    @Test func `a write to a vanished peer closes the connection and does not stop the program`() throws {
        let harness = try LoopHarness { loop, delegate in
            delegate.onOpen = { loop.pauseReading($0) }
        }
        var client: TestClient? = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        try client?.resetOnClose()
        client = nil
        let last = try harness.onLoop { loop in
            var outcome = WriteOutcome.sent
            while outcome != .closed { outcome = loop.write(id, [1]) }
            return outcome
        }
        #expect(last == .closed)
        guard case .closed(id, .failed) = try harness.events.take() else {
            Issue.record("the failure was not reported")
            return
        }
        harness.stop()
    }

    @Test func `an id that is stale does nothing even when its slot is used again`() throws {
        let harness = try LoopHarness { loop, delegate in
            delegate.onEnd = { loop.close($0, .peerEnded) }
        }
        var first: TestClient? = try TestClient(port: harness.port)
        let stale = try harness.nextOpened()
        first?.end()
        #expect(try harness.events.take() == .ended(stale))
        #expect(try harness.events.take() == .closed(stale, .peerEnded))
        first = nil
        let second = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        #expect(id.slot == stale.slot)
        #expect(id.generation > stale.generation)
        let outcome = try harness.onLoop { loop in
            loop.close(stale)
            loop.closeAfterFlush(stale, within: .seconds(1))
            loop.pauseReading(stale)
            loop.resumeReading(stale)
            loop.setStreaming(stale)
            #expect(loop.unsentBytes(stale) == 0)
            return loop.write(stale, [1, 2, 3])
        }
        #expect(outcome == .closed)
        #expect(try harness.onLoop { $0.write(id, [9]) } == .sent)
        #expect(try second.receive(exactly: 1) == [9])
        harness.stop()
        #expect(harness.events.rest == [.closed(id, .loopStopped)])
    }

    @Test func `a close from within the report of bytes is reported later, and only once`() throws {
        let harness = try LoopHarness { loop, delegate in
            delegate.onReceive = { id, _ in
                loop.close(id)
                loop.close(id, .timedOut)
                #expect(loop.write(id, [1]) == .closed)
                #expect(loop.connectionCount == 1)
            }
        }
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        try client.send("x")
        #expect(try harness.events.take() == .received(id, Array("x".utf8)))
        #expect(try harness.events.take() == .closed(id, .local))
        #expect(try harness.onLoop { $0.connectionCount } == 0)
        harness.stop()
        #expect(harness.events.rest.isEmpty)
    }

    @Test func `a paused connection receives nothing until it is resumed`() throws {
        let harness = try LoopHarness { loop, delegate in
            delegate.onOpen = { loop.pauseReading($0) }
        }
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        try client.send("x")
        _ = try harness.onLoop { loop in loop.pauseReading(id) }
        #expect(harness.events.rest.isEmpty)
        _ = try harness.onLoop { loop in
            loop.resumeReading(id)
            loop.resumeReading(id)
        }
        #expect(try harness.events.take() == .received(id, Array("x".utf8)))
        harness.stop()
    }

    @Test func `the kernel's buffer of a stream holds few unsent bytes`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        let taken = try harness.onLoop { loop in
            loop.setStreaming(id)
            var written = 0
            while loop.unsentBytes(id) == 0 {
                _ = loop.write(id, [UInt8](repeating: 1, count: 1_000))
                written += 1_000
            }
            return written - loop.unsentBytes(id)
        }
        #expect(taken < 500_000)
        harness.stop()
        withExtendedLifetime(client) {}
    }

    @Test func `an empty write changes nothing`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        #expect(try harness.onLoop { $0.write(id, []) } == .sent)
        harness.stop()
        withExtendedLifetime(client) {}
    }
}
