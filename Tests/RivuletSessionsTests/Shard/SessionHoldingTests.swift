// Checks that no session is handed out while another server may have it.

import CounterFixture
import RivuletEngine
import Testing

@testable import RivuletSessions

@Suite struct SessionHoldingTests {
    @Test func `a request waits until sessions may be handed out`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        harness.gate.isOpen = false
        var isUsed = false
        #expect(!harness.shard.use(harness.key) { _ in isUsed = true })
        let box = harness.send(#"{"add":1}"#)
        harness.timers.advance(by: .milliseconds(1_999))
        #expect(box.result == nil && !isUsed && !harness.shard.isQuiet)
        harness.gate.isOpen = true
        harness.timers.advance(by: HeldRequests.interval)
        #expect(try harness.wait(for: box).get().cursor.position.version == 2)
    }

    @Test func `a request that has waited for its time is refused, and nothing is loaded`() throws {
        let harness = try SessionHarness()
        harness.gate.isOpen = false
        let box = harness.send(#"{"add":1}"#)
        harness.timers.advance(by: HeldRequests.timeMax + HeldRequests.interval)
        guard case .failure(.notServing) = box.result else {
            Issue.record("\(String(describing: box.result))")
            return
        }
        #expect(harness.shard.residentCount == 0 && harness.timers.count == 0)
    }

    @Test func `a session that was loaded meanwhile is not handed out`() throws {
        let harness = try SessionHarness()
        let box = harness.send(#"{"add":1}"#)
        harness.gate.isOpen = false
        #expect(harness.executor.run { !harness.shard.held.requests.isEmpty })
        #expect(box.result == nil)
        harness.gate.isOpen = true
        harness.timers.advance(by: HeldRequests.interval)
        #expect(try harness.wait(for: box).get().cursor.position.version == 1)
    }

    @Test func `too many requests that wait are refused, and a drain ends the others`() throws {
        let harness = try SessionHarness()
        harness.gate.isOpen = false
        let boxes = (0..<HeldRequests.countMax).map { _ in harness.send(#"{"add":1}"#) }
        guard case .failure(.overloaded) = harness.send(#"{"add":1}"#).result else {
            Issue.record("the request waits")
            return
        }
        harness.shard.drain()
        harness.timers.advance(by: HeldRequests.interval)
        let ended = boxes.allSatisfy { box in
            guard case .failure(.draining) = box.result else { return false }
            return true
        }
        #expect(ended)
    }
}
