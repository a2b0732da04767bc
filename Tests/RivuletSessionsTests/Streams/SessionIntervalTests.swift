// Checks that a stream with an interval gets at most one event in each interval, and every change in the end.

import RivuletJSON
import RivuletSessions
import SeededRandom
import Testing

@Suite struct SessionIntervalTests {
    private static let interval = Duration.milliseconds(100)

    private static func topic(_ paths: String..., view: String? = nil) throws -> StreamTopic {
        try topic(paths, view: view)
    }

    private static func topic(_ paths: [String], view: String? = nil) throws -> StreamTopic {
        StreamTopic(
            view: view,
            paths: try paths.map { try JSONPointer(parsing: $0) },
            interval: interval
        )
    }

    private func count(_ version: Int, _ count: Int) -> String {
        #"{"version":\#(version),"changes":[{"op":"replace","path":"/p/count","value":\#(count)}]}"#
    }

    @Test func `the first change is sent at once, and later changes of the interval as one event`()
        throws
    {
        let harness = try SessionHarness()
        let paced = try harness.subscribe(Self.topic("/p/count"))
        let live = try harness.subscribe("/p/count")
        #expect(paced.group != live.group)
        for _ in 1...3 { try harness.dispatch(#"{"add":1}"#) }
        let told = { harness.sink.delivered.filter { $0.group == paced.group }.map(\.event.text) }
        #expect(told() == [count(1, 1)])
        harness.timers.advance(by: .milliseconds(99))
        #expect(told() == [count(1, 1)])
        harness.timers.advance(by: .milliseconds(1))
        #expect(told() == [count(1, 1), count(3, 3)])
        harness.timers.advance(by: .seconds(1))
        #expect(told().count == 2)
        try harness.dispatch(#"{"add":1}"#)
        #expect(told() == [count(1, 1), count(3, 3), count(4, 4)])
        #expect(harness.timers.count == 0)
        #expect(harness.sink.delivered.filter { $0.group == live.group }.count == 4)
    }

    @Test func `a change at other paths sends a stream no event`() throws {
        let harness = try SessionHarness()
        try harness.subscribe(Self.topic("/p/count"))
        try harness.dispatch(#"{"add":1}"#)
        try harness.dispatch(#"{"rename":"b"}"#)
        harness.timers.advance(by: .seconds(1))
        #expect(harness.sink.delivered.count == 1)
        #expect(harness.timers.count == 0)
    }

    @Test func `a stream that joins while others wait gets its snapshot at once and changes with them`()
        throws
    {
        let harness = try SessionHarness()
        let first = try harness.subscribe(Self.topic("/p/count"))
        for _ in 1...2 { try harness.dispatch(#"{"add":1}"#) }
        let second = try harness.subscribe(Self.topic("/p/count"))
        #expect(second.slot == .waiting)
        #expect(second.first.map(\.text) == [#"{"version":2,"values":{"/p/count":2}}"#])
        #expect(try harness.session().info().streams == 2)
        harness.timers.advance(by: .milliseconds(100))
        let joined = try #require(harness.sink.joined.last)
        #expect(joined.stream == second.stream)
        #expect(joined.slot == .group(first.group))
        // The stream has the changes that the others get.
        #expect(joined.first.isEmpty)
        #expect(harness.sink.delivered.map(\.event.text) == [count(1, 1), count(2, 2)])
        harness.shard.leave(harness.key, group: first.group, loop: second.stream.loop)
        harness.shard.leave(harness.key, group: first.group, loop: first.stream.loop)
        #expect(try harness.session().info().streams == 0)
    }

    @Test
    func `a waiting stream gets the changes after its snapshot, even if the others have left`()
        throws
    {
        let harness = try SessionHarness()
        let first = try harness.subscribe(Self.topic("/p/count"))
        for _ in 1...2 { try harness.dispatch(#"{"add":1}"#) }
        try harness.subscribe(Self.topic("/p/count"))
        harness.shard.leave(harness.key, group: first.group, loop: first.stream.loop)
        try harness.dispatch(#"{"add":1}"#)
        harness.timers.advance(by: .milliseconds(100))
        let joined = try #require(harness.sink.joined.last)
        #expect(joined.first.map(\.text) == [count(3, 3)])
        #expect(joined.slot == .group(first.group))
        #expect(harness.sink.delivered.count == 1)
    }

    @Test func `a stream that has caught up gets no other change in the same interval`() throws {
        let harness = try SessionHarness()
        let first = try harness.subscribe(Self.topic("/p/count"))
        for _ in 1...2 { try harness.dispatch(#"{"add":1}"#) }
        harness.timers.advance(by: .milliseconds(60))
        let late = try harness.subscribe(Self.topic("/p/count"), resume: "\(first.cursor)")
        #expect(late.first.map(\.text) == [count(2, 2)])
        #expect(late.slot == .waiting)
        try harness.dispatch(#"{"add":1}"#)
        harness.timers.advance(by: .milliseconds(40))
        #expect(harness.sink.joined.count == 2)
        harness.timers.advance(by: .milliseconds(100))
        let joined = try #require(harness.sink.joined.last)
        #expect(joined.stream == late.stream)
        #expect(joined.first.map(\.text) == [count(3, 3)])
    }

    @Test func `waiting streams are part of the limit, and end with the others`() throws {
        let harness = try SessionHarness(limits: SessionLimits(streamsPerSessionMax: 2))
        try harness.subscribe(Self.topic("/p/count"))
        for _ in 1...2 { try harness.dispatch(#"{"add":1}"#) }
        let waiting = try harness.subscribe(Self.topic("/p/count"))
        harness.ask(try Self.topic("/p/count"))
        #expect(harness.sink.refused.count == 1)
        harness.shard.drain()
        #expect(harness.sink.joined.last?.stream == waiting.stream)
        // The streams are now members of a group, so that their loops end them like the others.
        #expect(harness.sink.joined.last?.slot != .waiting)
        #expect(!harness.shard.isQuiet)
        for joined in harness.sink.joined where joined.slot != .waiting {
            harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        }
        #expect(harness.shard.isQuiet)
        harness.timers.advance(by: .seconds(1))
        #expect(harness.sink.delivered.count == 1)
    }

    @Test
    func `a session is passivated after its pending changes are sent, and keeps the interval of its streams`()
        throws
    {
        let harness = try SessionHarness()
        try harness.subscribe(Self.topic("/p/count"))
        for _ in 1...2 { try harness.dispatch(#"{"add":1}"#) }
        try harness.dispatch(#""forget""#)
        harness.shard.evict(idleFor: .zero)
        #expect(harness.shard.passivatedCount == 0)
        harness.timers.advance(by: .milliseconds(100))
        harness.shard.evict(idleFor: .zero)
        #expect(harness.shard.passivatedCount == 1)
        try harness.dispatch(#"{"add":1}"#)
        #expect(harness.sink.delivered.map(\.event.text) == [count(1, 1), count(2, 2)])
        harness.timers.advance(by: .milliseconds(100))
        #expect(harness.sink.delivered.last?.event.text == count(3, 3))
    }

    /// A stream of the oracle test, with the times of its changes.
    private struct PacedReader {
        var reader: StreamReader
        var stream: StreamID
        var slot: StreamSlot
        var changed: [Duration] = []
    }

    @Test(arguments: 0..<10)
    func `a stream gets at most one change in an interval, and ends at the session's state`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let harness = try SessionHarness()
        var readers: [PacedReader] = []
        var taken = (joined: 0, delivered: 0)
        /// Passes new events to the readers: first those of groups, then the first events of streams that joined.
        func take() throws {
            let now = harness.uptime.time
            for (group, event) in harness.sink.delivered[taken.delivered...] {
                for index in readers.indices where readers[index].slot == .group(group) {
                    try readers[index].reader.take(event)
                    readers[index].reader.cursor = "\(try #require(event.cursor))"
                    readers[index].changed.append(now)
                }
            }
            for joined in harness.sink.joined[taken.joined...] {
                for index in readers.indices where readers[index].stream == joined.stream {
                    try readers[index].reader.take(joined)
                    readers[index].slot = joined.slot
                    if joined.first.contains(where: { $0.name == .change }) {
                        readers[index].changed.append(now)
                    }
                }
            }
            taken = (harness.sink.joined.count, harness.sink.delivered.count)
        }
        for _ in 0..<150 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                let paths = TallyProgram.watches.randomElement(using: &generator) ?? [""]
                let cursor = readers.filter { $0.reader.paths == paths }.randomElement(using: &generator)?
                    .reader.cursor
                var reader = StreamReader(paths: paths)
                if let cursor,
                    let old = readers.first(where: { $0.reader.paths == paths && $0.reader.cursor == cursor })
                {
                    reader = old.reader
                }
                let joined = try harness.subscribe(Self.topic(paths), resume: cursor)
                readers.append(PacedReader(reader: reader, stream: joined.stream, slot: .waiting))
            case 1...3: try harness.dispatch(TallyProgram.event(&generator))
            default:
                for _ in 0..<Int.random(in: 1...150, using: &generator) {
                    harness.timers.advance(by: .milliseconds(1))
                    try take()
                }
            }
            try take()
        }
        for _ in 0..<300 {
            harness.timers.advance(by: .milliseconds(1))
            try take()
        }
        #expect(harness.timers.count == 0)
        let state = try JSONValue(parsing: Array(try harness.value("").utf8))
        for reader in readers {
            let paths = reader.reader.paths
            #expect(
                try reader.reader.texts == StreamReader.texts(of: state, at: paths),
                "seed \(seed): \(paths)"
            )
            #expect(
                zip(reader.changed, reader.changed.dropFirst()).allSatisfy { $1 - $0 >= Self.interval }
            )
        }
        #expect(readers.contains { $0.changed.count > 2 }, "seed \(seed)")
    }
}
