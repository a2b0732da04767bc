// Checks that many streams that join a large state share one snapshot.

import CounterFixture
import RivuletJSON
import RivuletSessions
import SeededRandom
import Testing

@Suite struct SessionCrowdTests {
    private static let title = String(repeating: "x", count: 5_000)

    private static func harness() throws -> SessionHarness {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"rename":"\#(title)"}"#)
        return harness
    }

    @Test func `streams that join within a second begin with one snapshot`() throws {
        let harness = try Self.harness()
        let first = try harness.subscribe()
        harness.timers.advance(by: .milliseconds(999))
        let second = try harness.subscribe()
        #expect(first.first.count == 1)
        #expect(second.first.count == 1)
        #expect(first.first[0] === second.first[0])
        #expect(try harness.subscribe("/p/title").first[0] !== first.first[0])
    }

    @Test func `a stream that joins after a change gets the earlier snapshot and the change`() throws {
        let harness = try Self.harness()
        let first = try harness.subscribe("/p")
        try harness.dispatch(#"{"add":1}"#)
        try harness.dispatch(#"{"add":2}"#)
        let second = try harness.subscribe("/p")
        let third = try harness.subscribe("/p")
        #expect(second.first.map(\.name) == [.snapshot, .change])
        #expect(second.first[0] === first.first[0])
        #expect(
            second.first[1].text == #"{"version":3,"changes":[{"op":"replace","path":"/p/count","value":3}]}"#
        )
        #expect(third.first.map { ObjectIdentifier($0) } == second.first.map { ObjectIdentifier($0) })
        #expect(second.cursor == second.first[1].cursor)
        #expect(second.group == first.group)
    }

    @Test func `a change at another path sends a joining stream no event`() throws {
        let harness = try Self.harness()
        let first = try harness.subscribe("/p/title")
        try harness.dispatch(#"{"add":1}"#)
        let second = try harness.subscribe("/p/title")
        #expect(second.first.map { ObjectIdentifier($0) } == first.first.map { ObjectIdentifier($0) })
        #expect(second.cursor.position.version == 2)
    }

    @Test func `a snapshot is shared for a second, by any number of streams`() throws {
        let harness = try Self.harness()
        let first = try harness.subscribe()
        harness.timers.advance(by: .milliseconds(500))
        let other = try harness.subscribe("/p/title")
        harness.timers.advance(by: .milliseconds(500))
        let second = try harness.subscribe()
        #expect(second.first[0] !== first.first[0])
        #expect(try harness.subscribe("/p/title").first[0] === other.first[0])
        harness.timers.advance(by: .seconds(1))
        #expect(harness.timers.count == 0)
    }

    @Test func `a shared snapshot is part of the memory until it is released`() throws {
        let harness = try Self.harness()
        let before = harness.shard.residentBytes
        try harness.subscribe()
        let held = harness.shard.residentBytes
        #expect(held - before >= 5_000)
        harness.timers.advance(by: .seconds(1))
        #expect(held - harness.shard.residentBytes >= 5_000)
    }

    @Test func `if a change is as large as the snapshot, a new snapshot is written`() throws {
        let harness = try Self.harness()
        let first = try harness.subscribe()
        try harness.dispatch(#"{"rename":"\#(Self.title)y"}"#)
        let second = try harness.subscribe()
        #expect(second.first.map(\.name) == [.snapshot])
        #expect(second.first[0] !== first.first[0])
        #expect(try harness.subscribe().first[0] === second.first[0])
        for number in 0..<5 {
            try harness.dispatch(#"{"rename":"\#(Self.title)\#(number)"}"#)
            try harness.subscribe()
        }
        #expect(harness.timers.count == 1)
    }

    @Test func `a change after a shared snapshot delays no stream with an interval`() throws {
        let harness = try Self.harness()
        let paced = StreamTopic(paths: [try JSONPointer(parsing: "/p")], interval: .milliseconds(100))
        let member = try harness.subscribe(paced)
        try harness.dispatch(#"{"add":1}"#)
        harness.timers.advance(by: .milliseconds(200))
        #expect(try harness.subscribe(paced).first.map(\.name) == [.snapshot, .change])
        let told = harness.sink.delivered.count
        try harness.dispatch(#"{"add":1}"#)
        #expect(harness.sink.delivered.dropFirst(told).map(\.group) == [member.group])
    }

    @Test func `a patch stream gets the earlier snapshot and a patch to the present`() throws {
        let harness = try Self.harness()
        let topic = StreamTopic(paths: [try JSONPointer(parsing: "/p")], format: .jsonPatch)
        try harness.subscribe(topic)
        try harness.dispatch(#"{"add":1}"#)
        let second = try harness.subscribe(topic)
        #expect(second.first.last?.text == #"[{"op":"replace","path":"/count","value":1}]"#)
    }

    @Test func `a transient change leads from the snapshot to the present, too`() throws {
        let harness = try Self.harness()
        try harness.subscribe("/p")
        try harness.dispatch(#"{"quietAdd":1}"#)
        let second = try harness.subscribe("/p")
        #expect(second.first.map(\.name) == [.snapshot, .change])
        #expect(second.cursor == second.first[1].cursor)
        // A reader that resumes between the two events gets the change again.
        let resumed = try harness.subscribe("/p", resume: "\(try #require(second.first[0].cursor))")
        #expect(resumed.first.map(\.text) == [second.first[1].text])
    }

    @Test func `a small snapshot is written for each stream without a timer`() throws {
        let harness = try SessionHarness()
        #expect(try harness.subscribe().first[0] !== harness.subscribe().first[0])
        #expect(harness.timers.count == 0)
    }

    @Test func `streams with the same reset share its bytes`() throws {
        let harness = try Self.harness()
        let first = try harness.subscribe(resume: "what")
        let second = try harness.subscribe(resume: "ever")
        #expect(first.first.map(\.name) == [.reset])
        #expect(first.first[0] === second.first[0])
        #expect(try harness.subscribe().first[0] !== first.first[0])
    }

    @Test func `at most sixteen snapshots are kept`() throws {
        let harness = try Self.harness()
        let paths = try (0...16).map { try [JSONPointer(parsing: "/p/title"), JSONPointer(parsing: "/p/marks/\($0)")] }
        let first = try paths.map { try harness.subscribe($0).first[0] }
        let second = try paths.map { try harness.subscribe($0).first[0] }
        #expect(zip(first, second).map { $0 === $1 } == Array(repeating: true, count: 16) + [false])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `each stream that joins has the session's values`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let harness = try Self.harness()
        var readers: [StreamReader] = []
        var delivered = 0
        var shared = 0
        for _ in 0..<200 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                let paths = [[""], ["/p", "/t"], ["/p/items", "/p/title"], ["/p/items/a", "/p/title"]]
                var reader = StreamReader(paths: paths.randomElement(using: &generator) ?? [""])
                let joined = try harness.subscribe(try reader.paths.map { try JSONPointer(parsing: $0) })
                if joined.first.count > 1 { shared += 1 }
                try reader.take(joined)
                readers.append(reader)
            case 1: harness.timers.advance(by: .milliseconds(Int.random(in: 0...700, using: &generator)))
            default: try harness.dispatch(TallyProgram.event(&generator))
            }
            for (group, event) in harness.sink.delivered[delivered...] {
                for index in readers.indices where readers[index].group == group { try readers[index].take(event) }
            }
            delivered = harness.sink.delivered.count
            let state = try JSONValue(parsing: Array(try harness.value("").utf8))
            for reader in readers {
                #expect(try reader.texts == StreamReader.texts(of: state, at: reader.paths), "seed \(seed)")
            }
        }
        #expect(shared > 5, "seed \(seed)")
    }
}
