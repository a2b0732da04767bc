// Checks the states of one subscriber and the transitions between them.

import RivuletEventLoop
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite struct SubscriberStateTests {
    private let group = StreamSlot.group(GroupID(rawValue: 1))
    private let queued = WriteOutcome.queued(unsentBytes: 1)

    @Test func `one that the kernel takes everything of stays live`() {
        var state = SubscriberState.live
        state.didWrite(.sent)
        #expect(state.phase == .live)
        #expect(state.didDrain() == .nothing)
    }

    @Test func `one gather-write waits at most, and the rest follows it`() {
        var state = SubscriberState.live
        state.didWrite(queued)
        #expect(state.phase == .blocked)
        #expect(state.isInGroup)
        #expect(state.didDrain() == .writeRest)
        #expect(state.phase == .live)
    }

    @Test func `one that is too slow leaves its group, asks when it has room, and comes back`() {
        var state = SubscriberState.live
        state.didWrite(queued)
        #expect(state.didFallBehind() == .leaveGroup)
        #expect(!state.isInGroup)
        #expect(state.didFallBehind() == .nothing)
        #expect(state.didDrain() == .ask)
        #expect(state.didDrain() == .nothing)
        #expect(state.didJoin(group, .sent) == .nothing)
        #expect(state.phase == .live)
    }

    @Test func `only a blocked one falls behind`() {
        var state = SubscriberState.live
        #expect(state.didFallBehind() == .nothing)
        #expect(state.phase == .live)
    }

    @Test func `one that got a part asks for the next when that is with the kernel`() {
        var state = SubscriberState.live
        #expect(state.didJoin(.more, .sent) == .ask)
        #expect(state.didJoin(.more, queued) == .nothing)
        #expect(state.phase == .behind)
        #expect(state.didDrain() == .ask)
        #expect(state.didJoin(group, queued) == .nothing)
        #expect(state.phase == .blocked)
    }

    @Test func `one that waits is joined by its session alone`() {
        var state = SubscriberState.live
        #expect(state.didJoin(.waiting, queued) == .nothing)
        #expect(state.didDrain() == .nothing)
        #expect(state.phase == .waiting)
        #expect(state.didJoin(group, .sent) == .nothing)
        #expect(state.phase == .live)
    }

    @Test func `one whose paths change asks anew`() {
        var state = SubscriberState.live
        #expect(state.didChangePaths() == .ask)
        #expect(state.phase == .asking)
        #expect(state.didChangePaths() == .ask)
    }

    @Test
    func `one whose paths change while a write waits asks once, when the kernel has it, however often they change`() {
        var state = SubscriberState.live
        state.didWrite(queued)
        #expect(state.didChangePaths() == .nothing)
        #expect(state.phase == .behind)
        #expect(state.didChangePaths() == .nothing)
        #expect(state.didDrain() == .ask)
        #expect(state.phase == .asking)
    }

    @Test func `nothing follows the last word`() {
        var state = SubscriberState.live
        state.didEnd()
        state.didWrite(queued)
        #expect(state.didDrain() == .nothing)
        #expect(state.didJoin(group, .sent) == .nothing)
        #expect(state.didChangePaths() == .nothing)
        #expect(state.phase == .closing)
    }
}
