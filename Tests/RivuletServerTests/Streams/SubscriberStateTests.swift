// Checks the states of one subscriber and the transitions between them.

import RivuletEventLoop
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite struct SubscriberStateTests {
    private let group = StreamSlot.group(GroupID(rawValue: 1))
    private let queued = WriteOutcome.queued(unsentBytes: 1)

    @Test func `a subscriber stays live if the kernel takes all its bytes`() {
        var state = SubscriberState.live
        state.didWrite(.sent)
        #expect(state.phase == .live)
        #expect(state.didDrain() == .nothing)
    }

    @Test func `at most one gather-write waits, and later events follow it`() {
        var state = SubscriberState.live
        state.didWrite(queued)
        #expect(state.phase == .blocked)
        #expect(state.isInGroup)
        #expect(state.didDrain() == .writeRest)
        #expect(state.phase == .live)
    }

    @Test func `a slow subscriber leaves its group, requests changes when its socket has room, and rejoins`() {
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

    @Test func `only a blocked subscriber falls behind`() {
        var state = SubscriberState.live
        #expect(state.didFallBehind() == .nothing)
        #expect(state.phase == .live)
    }

    @Test func `a subscriber that got a part requests the next part when the kernel has taken it`() {
        var state = SubscriberState.live
        #expect(state.didJoin(.more, .sent) == .ask)
        #expect(state.didJoin(.more, queued) == .nothing)
        #expect(state.phase == .behind)
        #expect(state.didDrain() == .ask)
        #expect(state.didJoin(group, queued) == .nothing)
        #expect(state.phase == .blocked)
    }

    @Test func `a waiting subscriber rejoins only by a call of its session`() {
        var state = SubscriberState.live
        #expect(state.didJoin(.waiting, queued) == .nothing)
        #expect(state.didDrain() == .nothing)
        #expect(state.phase == .waiting)
        #expect(state.didJoin(group, .sent) == .nothing)
        #expect(state.phase == .live)
    }

    @Test func `a subscriber with new paths requests changes again`() {
        var state = SubscriberState.live
        #expect(state.didChangePaths() == .ask)
        #expect(state.phase == .asking)
        #expect(state.didChangePaths() == .ask)
    }

    @Test
    func `a blocked subscriber with new paths requests changes once, after the kernel has taken its bytes`() {
        var state = SubscriberState.live
        state.didWrite(queued)
        #expect(state.didChangePaths() == .nothing)
        #expect(state.phase == .behind)
        #expect(state.didChangePaths() == .nothing)
        #expect(state.didDrain() == .ask)
        #expect(state.phase == .asking)
    }

    @Test func `nothing is written after a bye`() {
        var state = SubscriberState.live
        state.didEnd()
        state.didWrite(queued)
        #expect(state.didDrain() == .nothing)
        #expect(state.didJoin(group, .sent) == .nothing)
        #expect(state.didChangePaths() == .nothing)
        #expect(state.phase == .closing)
    }
}
