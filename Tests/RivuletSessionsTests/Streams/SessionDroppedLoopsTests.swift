// Checks sessions that drop the streams on some loops at once, because the loops' node is gone.

import CounterFixture
import RivuletSessions
import Testing

@Suite struct SessionDroppedLoopsTests {
    @Test func `streams of dropped loops leave their groups`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let kept = try harness.subscribe("/p/count")
        let dropped = [try harness.subscribe("/p/count"), try harness.subscribe("/p/title")]
        harness.shard.dropLoops { $0 != kept.stream.loop }
        try harness.dispatch(#"[{"add":1},{"rename":"b"}]"#)
        #expect(harness.sink.delivered.map(\.group) == [kept.group])
        // A late leave of a dropped stream is no leave of another one.
        for stream in dropped { harness.shard.leave(harness.key, group: stream.group, loop: stream.stream.loop) }
        try harness.dispatch(#"{"add":1}"#)
        #expect(harness.sink.delivered.map(\.group) == [kept.group, kept.group])
        harness.shard.dropLoops { _ in true }
        #expect(harness.shard.isQuiet)
    }

    @Test func `a passivated session is kept for its other streams only`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let kept = try harness.subscribe("/p/count")
        _ = try harness.subscribe("/p/count")
        try harness.dispatch(#""forget""#)
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        #expect(harness.shard.passivatedCount == 1)
        harness.sink.delivered = []
        harness.shard.dropLoops { $0 != kept.stream.loop }
        try harness.dispatch(#"{"add":1}"#)
        #expect(harness.sink.delivered.map(\.group) == [kept.group])
        harness.shard.leave(harness.key, group: kept.group, loop: kept.stream.loop)
        #expect(harness.shard.isQuiet)
    }
}
