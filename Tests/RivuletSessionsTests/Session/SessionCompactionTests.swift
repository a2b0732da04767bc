// Checks the part of its log that a session keeps, and that loading a session stays fast.

import CounterFixture
import RivuletSessions
import Testing

@Suite struct SessionCompactionTests {
    /// A little more than a week.
    private static let longTime = Duration.seconds(8 * 86_400)

    private func stored(_ harness: SessionHarness) throws -> StoredSession {
        _ = harness.executor.run { (try? harness.session().isIdle) == true }
        return try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) })
    }

    private func past(_ version: UInt64, _ harness: SessionHarness) throws -> StoredPast? {
        let epoch = try stored(harness).head.epoch
        return try harness.ask { harness.storage.past(harness.key, epoch: epoch, at: version, reply: $0) }
    }

    /// Makes the session idle for long enough, and evicts it as the shard does then.
    private func evict(_ harness: SessionHarness) {
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        _ = harness.executor.run { harness.shard.resident(harness.key)?.isIdle != false }
    }

    @Test func `the state is readable at every retained version, and at no other`() throws {
        let harness = try SessionHarness(limits: SessionLimits(logVersionsMax: 10, snapshotVersionsMax: 4))
        for mark in 1...40 {
            try harness.dispatch(#"{"mark":\#(mark)}"#)
            let retained = try stored(harness).retained
            for version in (retained.from - 1)...UInt64(mark) {
                #expect(try past(version, harness) != nil)
            }
            if retained.from > 1 { #expect(try past(retained.from - 2, harness) == nil) }
            #expect(try harness.session().info().retainedFrom == retained.from)
        }
        // The last ten versions begin with 31. The snapshot before them is of version 28.
        #expect(try stored(harness).retained.from == 29)
    }

    @Test func `the oldest versions are deleted when the log exceeds its limit of bytes, also after a load`() throws {
        let limits = SessionLimits(logBytesMax: 20_000, snapshotVersionsMax: 1_000_000, snapshotBytesMin: 2_000)
        let harness = try SessionHarness(limits: limits)
        let text = String(repeating: "a", count: 500)
        for index in 0..<200 {
            try harness.dispatch(#"{"rename":"\#(index)\#(text)"}"#)
            if index % 30 == 29 { evict(harness) }
            let stored = try stored(harness)
            // The log may exceed its limit by the entries between two snapshots, and by one entry at each end.
            let bytes = Int(stored.head.version - stored.retained.from + 1) * 1_100
            #expect(bytes <= 20_000 + 2 * 4_000 + 2_200)
        }
        #expect(try stored(harness).retained.from > 150)
        #expect(try harness.session().info().retainedFrom == stored(harness).retained.from)
    }

    @Test func `a load replays at most the versions between two snapshots`() throws {
        let harness = try SessionHarness(limits: SessionLimits(logVersionsMax: 100))
        for index in 0..<2_000 {
            try harness.dispatch(#"{"set":\#(index % 2)}"#)
            guard index % 97 == 0 else { continue }
            #expect(try stored(harness).tail.count <= 256)
        }
        let end = try stored(harness)
        #expect(end.head.version == 2_000)
        #expect(end.snapshot?.version == 1_792)
        // At that snapshot, the last hundred versions began with 1,693. The snapshot before them was of 1,536.
        #expect(end.retained.from == 1_537)
    }

    @Test func `a large state gets its snapshot only when the log is large enough`() throws {
        let harness = try SessionHarness(limits: SessionLimits(snapshotVersionsMax: 4, snapshotBytesMin: 10_000_000))
        try harness.dispatch(#"{"rename":"\#(String(repeating: "a", count: 100_000))"}"#)
        for mark in 0..<8 { try harness.dispatch(#"{"mark":\#(mark)}"#) }
        let first = try #require(try stored(harness).snapshot)
        for mark in 0..<20 { try harness.dispatch(#"{"set":\#(mark % 2)}"#) }
        #expect(try stored(harness).snapshot == first)
    }

    @Test func `an eviction stores a snapshot if the log is large enough`() throws {
        let harness = try SessionHarness()
        for mark in 0..<16 { try harness.dispatch(#"{"mark":\#(mark)}"#) }
        evict(harness)
        #expect(harness.shard.resident(harness.key) != nil)
        evict(harness)
        #expect(harness.shard.resident(harness.key) == nil)
        let end = try stored(harness)
        #expect(end.snapshot?.version == 16)
        #expect(end.tail.isEmpty)
        #expect(end.retained.from == 1)
        try harness.dispatch(#"{"mark":16}"#)
        evict(harness)
        #expect(harness.shard.resident(harness.key) == nil)
        #expect(try stored(harness).snapshot?.version == 16)
    }

    @Test func `an eviction deletes entries that are too old`() throws {
        let harness = try SessionHarness()
        for mark in 0..<3 { try harness.dispatch(#"{"mark":\#(mark)}"#) }
        harness.wallClock.advance(by: Self.longTime)
        evict(harness)
        evict(harness)
        #expect(harness.shard.resident(harness.key) == nil)
        let end = try stored(harness)
        #expect(end.retained == RetainedLog(from: 4, since: nil))
        #expect(try harness.value("/p/marks") == "[0,1,2]")
        #expect(try past(3, harness) != nil)
    }

    @Test func `a session in use deletes old entries, and does not check for them at each event`() throws {
        let harness = try SessionHarness()
        let day: Int64 = 86_400_000
        var snapshots: Set<UInt64> = []
        for quarter in 0..<80 {
            try harness.dispatch(#"{"set":\#(quarter % 2 + 1)}"#)
            harness.wallClock.advance(by: .seconds(21_600))
            let end = try stored(harness)
            if let version = end.snapshot?.version { snapshots.insert(version) }
            let age = harness.wallClock.milliseconds - (end.retained.since ?? .max)
            #expect(age <= 9 * day)
        }
        #expect(try stored(harness).retained.from > 40)
        #expect(snapshots.count < 20)
    }
}
