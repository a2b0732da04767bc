// Checks that a large state is written and read on work threads, and the events that may happen meanwhile.

import CounterFixture
import RivuletJSON
import RivuletSessions
import Testing

@Suite struct SessionWorkTests {
    /// A session in which every state is treated as large.
    private func harness(
        _ limits: SessionLimits = SessionLimits(turnJSONBytesMax: 0),
        titleBytes: Int = 6_000
    ) throws -> SessionHarness {
        let harness = try SessionHarness(limits: limits)
        try harness.dispatch(#"{"rename":"\#(String(repeating: "n", count: titleBytes))"}"#)
        return harness
    }

    private func read(_ path: String, _ harness: SessionHarness) throws -> Answers {
        let answers = Answers()
        try harness.session().read(try JSONPointer(parsing: path)) { answers.all.append($0) }
        return answers
    }

    private final class Answers {
        var all: [Result<StateAnswer, SessionError>] = []

        var texts: [String?] {
            all.map { answer in
                if case .success(let answer) = answer { String(decoding: answer.value, as: UTF8.self) } else { nil }
            }
        }
    }

    // MARK: - Reads

    @Test func `simultaneous reads share a job, and a later read sees earlier acknowledged events`() throws {
        let harness = try harness(titleBytes: 70_000)
        harness.work.isHeld = true
        let early = [try read("/p", harness), try read("/p", harness)]
        #expect(harness.work.count == 1)
        try harness.dispatch(#"{"add":1}"#)
        let late = try read("/p", harness)
        #expect(harness.work.count == 1)
        harness.work.runNext()
        #expect(early.flatMap(\.texts).map { $0?.contains(#""count":0,"#) } == [true, true])
        #expect(late.texts.isEmpty)
        harness.work.runNext()
        #expect(late.texts.map { $0?.contains(#""count":1,"#) } == [true])
        #expect(harness.work.count == 0)
    }

    @Test func `the job of a read refuses a path without a value`() throws {
        let harness = try harness()
        let answers = try read("/p/items/none", harness)
        #expect(answers.texts == [nil])
    }

    @Test func `a session stays in memory while a job reads it`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        let answers = try read("", harness)
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        #expect(harness.shard.residentCount == 1)
        harness.work.runNext()
        #expect(answers.all.count == 1)
    }

    @Test func `the refusal of a condition has the state that a job wrote`() throws {
        let harness = try harness(titleBytes: 70_000)
        let cursor = try harness.session().read(.root).get().cursor
        try harness.dispatch(#"{"add":1}"#)
        harness.work.isHeld = true
        let box = harness.send(#"{"add":1}"#, expected: [cursor])
        #expect(box.result == nil)
        harness.work.runNext()
        guard case .failure(.precondition(_, let current))? = box.result else {
            Issue.record("\(String(describing: box.result))")
            return
        }
        #expect(current.cursor.position.version == 2)
        #expect(!current.value.isEmpty)
    }

    // MARK: - Streams

    @Test func `streams that join while a snapshot is written get the snapshot and one change`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "")]))
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "")]))
        try harness.dispatch(#"{"add":1}"#)
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "")]))
        #expect(harness.work.count == 1)
        #expect(harness.sink.joined.isEmpty)
        #expect(try harness.session().info().streams == 3)
        harness.work.runNext()
        #expect(harness.sink.joined.map { $0.first.map(\.name) } == Array(repeating: [.snapshot, .change], count: 3))
        let snapshot = harness.sink.joined[0].first[0]
        #expect(harness.sink.joined.allSatisfy { $0.first[0] === snapshot })
        #expect(harness.sink.prepared.all.map { $0.snapshot === snapshot } == [true])
        #expect(harness.sink.joined[2].first[1].text.contains(#""path":"/p/count","value":1"#))
        try harness.dispatch(#"{"add":1}"#)
        #expect(harness.sink.delivered.count == 1)
    }

    /// An event with more bytes than a quarter of the snapshot, so that the event is not sent as a change after the
    /// snapshot.
    private func rename(_ digit: Int) -> String { #"{"rename":"\#(String(repeating: "\(digit)", count: 6_000))"}"# }

    @Test func `the third attempt at a snapshot pauses events`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "/p")]))
        for round in 0..<2 {
            #expect(harness.work.count == 1)
            #expect(harness.sink.joined.isEmpty)
            try harness.dispatch(rename(round))
            harness.work.runNext()
        }
        let late = harness.send(rename(2))
        harness.executor.runPosted()
        #expect(late.result == nil)
        harness.work.runNext()
        #expect(harness.work.count == 0)
        let first = try #require(harness.sink.joined.first?.first)
        #expect(first.map(\.name) == [.snapshot])
        #expect(first[0].text.contains("1111"))
        _ = try harness.wait(for: late).get()
        #expect(harness.sink.delivered.last?.event.text.contains("2222") == true)
    }

    @Test func `a small path of a large state needs one job, however large a change elsewhere is`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "/p/count")]))
        try harness.dispatch(#"{"add":1}"#)
        harness.work.runNext()
        #expect(harness.work.count == 0)
        #expect(harness.sink.joined.first?.first.map(\.name) == [.snapshot, .change])
    }

    @Test func `a crowd of streams joins in one pause`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        for _ in 0..<600 { harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "/p")])) }
        for round in 0..<2 {
            try harness.dispatch(rename(round))
            harness.work.runNext()
        }
        let late = harness.send(rename(2))
        harness.work.runNext()
        #expect(harness.sink.joined.count == 512)
        harness.executor.runPosted()
        #expect(late.result == nil)
        harness.timers.advance(by: .milliseconds(1))
        #expect(harness.sink.joined.count == 600)
        #expect(harness.sink.joined.allSatisfy { $0.first.map(\.name) == [.snapshot] })
        _ = try harness.wait(for: late).get()
    }

    @Test func `a snapshot is written again if an earlier event becomes visible during its job`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "/p")]))
        try harness.dispatch(rename(0))
        harness.work.runNext()
        try harness.dispatch(rename(1))
        let early = harness.send(rename(2))
        harness.work.runNext()
        // The event was accepted before the session waited.
        _ = try harness.wait(for: early).get()
        harness.work.runNext()
        #expect(harness.sink.joined.isEmpty)
        harness.work.runNext()
        #expect(harness.sink.joined.first?.first.map(\.name) == [.snapshot])
        #expect(harness.sink.joined.first?.first[0].text.contains("2222") == true)
    }

    @Test func `a stream that waits for a snapshot is refused when its session is deleted`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "")]))
        var isDeleted = false
        try harness.session().delete { _ in isDeleted = true }
        _ = try harness.wait { isDeleted ? true : nil }
        harness.work.runNext()
        #expect(harness.sink.joined.isEmpty)
        // The refusal is the one for a deleted session: the client must not reconnect.
        guard case .gone? = harness.sink.refused.first else {
            Issue.record("\(harness.sink.refused)")
            return
        }
    }

    @Test func `plain and compressed streams each get a prepared snapshot`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        let topic = try StreamTopic(paths: [JSONPointer(parsing: "")])
        for isCompressed in [false, true, true, false] { harness.ask(topic, isCompressed: isCompressed) }
        #expect(harness.work.count == 2)
        harness.work.runNext()
        harness.work.runNext()
        #expect(harness.sink.prepared.all.map(\.isCompressed) == [false, true])
        let (plain, compressed) = (harness.sink.prepared.all[0].snapshot, harness.sink.prepared.all[1].snapshot)
        let firsts = harness.sink.joined.map { $0.first[0] }
        #expect(firsts.map { $0 === plain } == [true, true, false, false])
        #expect(firsts.map { $0 === compressed } == [false, false, true, true])
    }

    @Test func `many waiting streams join in several turns`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        let topic = try StreamTopic(paths: [JSONPointer(parsing: "/p")])
        for _ in 0..<1_100 { harness.ask(topic) }
        harness.work.runNext()
        #expect(harness.sink.joined.count == 512)
        try harness.dispatch(#"{"add":1}"#)
        harness.timers.advance(by: .milliseconds(1))
        #expect(harness.sink.joined.count == 1_024)
        // Streams that join later get the changes since the snapshot, once.
        #expect(harness.sink.joined[1_000].first.map(\.name) == [.snapshot, .change])
        harness.timers.advance(by: .milliseconds(1))
        #expect(harness.sink.joined.count == 1_100)
        #expect(harness.sink.delivered.count == 1)
    }

    @Test func `a job writes a merged resume, and later changes follow it`() throws {
        let harness = try harness()
        let joined = try harness.subscribe("/p/count")
        try harness.dispatch(#"{"add":1}"#)
        harness.work.isHeld = true
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "/p/count")]), resume: "\(joined.cursor)")
        try harness.dispatch(#"{"add":2}"#)
        #expect(harness.sink.joined.count == 1)
        harness.work.runNext()
        let resumed = try #require(harness.sink.joined.last)
        #expect(
            resumed.first.map(\.text) == [
                #"{"version":2,"changes":[{"op":"replace","path":"/p/count","value":1}]}"#,
                #"{"version":3,"changes":[{"op":"replace","path":"/p/count","value":3}]}"#,
            ]
        )
        #expect(resumed.cursor.position.version == 3)
    }

    @Test func `an unstored session is evicted once its job is done`() throws {
        let harness = try SessionHarness(limits: SessionLimits(turnJSONBytesMax: 0))
        harness.work.isHeld = true
        var answers = 0
        harness.shard.find(harness.key, of: harness.app) { found in
            if case .success(let session) = found { session.read(.root) { _ in answers += 1 } }
        }
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        #expect(harness.shard.residentCount == 1)
        harness.work.runNext()
        #expect(answers == 1)
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `jobs that read earlier versions wait for each other, and keep their slots`() throws {
        let harness = try harness(SessionLimits(turnJSONBytesMax: 0, resumesMax: 3))
        try harness.dispatch(#"{"add":1}"#)
        harness.work.isHeld = true
        var (answers, refused) = (0, 0)
        for _ in 0..<5 {
            try harness.session().read(.root, at: 1) { answer in
                if case .success = answer { answers += 1 } else { refused += 1 }
            }
        }
        #expect(refused == 2)
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        for done in 1...3 {
            // The slots are in use as long as the jobs wait.
            try harness.session().read(.root, at: 1) { answer in if case .failure = answer { refused += 1 } }
            #expect(refused == 3 || done > 1)
            harness.executor.runPosted()
            #expect(harness.work.count == 1)
            harness.work.runNext()
        }
        #expect(answers >= 3)
    }

    @Test func `a path with a small value is read without a job from then on`() throws {
        let harness = try harness()
        #expect(try read("/p/count", harness).texts == ["0"])
        harness.work.isHeld = true
        #expect(try read("/p/count", harness).texts == ["0"])
        #expect(harness.work.count == 0)
    }

    @Test func `a reset is written by a job`() throws {
        let harness = try harness()
        harness.work.isHeld = true
        harness.ask(try StreamTopic(paths: [JSONPointer(parsing: "")]), resume: "none")
        #expect(harness.sink.joined.isEmpty)
        harness.work.runNext()
        #expect(harness.sink.joined.first?.first.map(\.name) == [.reset])
    }

    // MARK: - Storage

    @Test func `events continue while a job writes the stored snapshot, and a job loads it again`() throws {
        let harness = try harness(SessionLimits(turnJSONBytesMax: 0, snapshotVersionsMax: 4, snapshotBytesMin: 0))
        harness.work.isHeld = true
        for _ in 0..<6 { _ = harness.send(#"{"add":1}"#) }
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        let late = harness.send(#"{"add":10}"#)
        harness.work.isHeld = false
        harness.work.runNext()
        _ = try harness.wait(for: late)
        #expect(try harness.value("/p/count") == "16")
        harness.restart()
        #expect(try harness.value("/p/count") == "16")
        let stored = try harness.ask { harness.storage.load(harness.key, reply: $0) }
        #expect((stored?.snapshot?.version ?? 0) > 0)
    }

    @Test func `requests wait for a session that a job loads`() throws {
        let harness = try harness()
        harness.restart()
        harness.work.isHeld = true
        let boxes = [harness.send(#"{"add":1}"#), harness.send(#"{"add":2}"#)]
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        #expect(boxes.allSatisfy { $0.result == nil })
        harness.work.isHeld = false
        harness.work.runNext()
        for box in boxes { _ = try harness.wait(for: box).get() }
        #expect(try harness.value("/p/count") == "3")
    }

    @Test func `many requests that waited for a session get it in several turns`() throws {
        let harness = try harness()
        harness.restart()
        var count = 0
        for _ in 0..<600 {
            harness.shard.find(harness.key, of: harness.app) { found in if case .success = found { count += 1 } }
        }
        _ = try harness.wait { count > 0 ? true : nil }
        #expect(count == 256)
        harness.timers.advance(by: .milliseconds(1))
        #expect(count == 512)
        harness.timers.advance(by: .milliseconds(1))
        #expect(count == 600)
    }

    @Test func `a job makes and writes an earlier version`() throws {
        let harness = try harness()
        try harness.dispatch(#"{"add":1}"#)
        var answer: Result<StateAnswer, SessionError>?
        harness.work.isHeld = true
        try harness.session().read(try JSONPointer(parsing: "/p/count"), at: 1) { answer = $0 }
        _ = try harness.wait { harness.work.count == 1 ? true : nil }
        #expect(answer == nil)
        harness.work.runNext()
        #expect(try #require(answer).get().value == Array("0".utf8))
    }

    // MARK: - Leaving memory

    @Test func `a watched session is passivated after a job has measured what must be kept`() throws {
        let harness = try harness()
        let joined = try harness.subscribe("/p/count")
        try harness.dispatch(#""forget""#)
        harness.work.isHeld = true
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        #expect(harness.shard.residentCount == 1)
        harness.work.runNext()
        // The next check for idle sessions is due.
        harness.timers.advance(by: .seconds(30))
        harness.shard.evict()
        #expect(harness.shard.residentCount == 0)
        #expect(harness.shard.passivatedCount == 1)
        harness.work.isHeld = false
        try harness.dispatch(#"{"add":1}"#)
        #expect(harness.sink.ended.isEmpty)
        #expect(harness.sink.delivered.last?.group == joined.group)
    }

    @Test func `a session that changed during the job is measured again before it is passivated`() throws {
        let harness = try harness()
        try harness.subscribe("/p/count")
        try harness.dispatch(#""forget""#)
        harness.work.isHeld = true
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        harness.work.runNext()
        try harness.dispatch(#"{"add":1}"#)
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        #expect(harness.shard.residentCount == 1)
        #expect(harness.work.count == 1)
        harness.work.runNext()
        harness.timers.advance(by: .seconds(30))
        harness.shard.evict()
        #expect(harness.shard.passivatedCount == 1)
        harness.work.isHeld = false
        #expect(try harness.value("/p/count") == "1")
        #expect(harness.sink.ended.isEmpty)
    }
}
