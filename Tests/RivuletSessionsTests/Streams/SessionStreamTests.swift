// Checks the events of subscribers: snapshots, changes, resumption, ends.

import CounterFixture
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionStreamTests {
    @Test func `a fresh stream begins with a snapshot of its paths`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":3}"#)
        let joined = try harness.subscribe("/p/count", "/p/limits")
        #expect(joined.first.map(\.name) == [.snapshot])
        #expect(joined.first[0].text == #"{"version":1,"values":{"/p/count":3,"/p/limits":{"low":0,"high":80}}}"#)
    }

    @Test func `a dispatch sends each group one event, or none if nothing changed at its paths`() throws {
        let harness = try SessionHarness()
        let count = try harness.subscribe("/p/count")
        let title = try harness.subscribe("/p/title")
        let all = try harness.subscribe()
        try harness.dispatch(#"[{"add":3},{"add":4}]"#)
        #expect(harness.sink.delivered.count == 2)
        #expect(harness.sink.delivered.filter { $0.group == title.group }.isEmpty)
        let seen = try #require(harness.sink.delivered.first { $0.group == count.group })
        #expect(seen.event.text == #"{"version":1,"changes":[{"op":"replace","path":"/p/count","value":7}]}"#)
        #expect(harness.sink.delivered.contains { $0.group == all.group })
    }

    @Test func `subscribers of the same paths share a group`() throws {
        let harness = try SessionHarness()
        let first = try harness.subscribe("/p/count", "/p/title")
        let second = try harness.subscribe("/p/title", "/p/count")
        #expect(first.group == second.group)
        try harness.dispatch(#"{"add":3}"#)
        #expect(harness.sink.delivered.count == 1)
    }

    @Test func `a watcher within a replaced value gets only the difference at its path`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"mark":1}"#)
        let first = try harness.subscribe("/p/marks/0")
        let second = try harness.subscribe("/p/marks/1")
        try harness.dispatch(#"{"mark":2}"#)
        #expect(harness.sink.delivered.filter { $0.group == first.group }.isEmpty)
        let seen = try #require(harness.sink.delivered.first { $0.group == second.group })
        #expect(seen.event.text == #"{"version":2,"changes":[{"op":"add","path":"/p/marks/1","value":2}]}"#)
    }

    @Test func `a resumed stream gets the missed changes as one event`() throws {
        let harness = try SessionHarness()
        let joined = try harness.subscribe("/p/count")
        for _ in 1...3 { try harness.dispatch(#"{"add":1}"#) }
        let resumed = try harness.subscribe("/p/count", resume: "\(joined.cursor)")
        #expect(
            resumed.first.map(\.text) == [#"{"version":3,"changes":[{"op":"replace","path":"/p/count","value":3}]}"#]
        )
    }

    @Test(arguments: ["/p/items/a", "/p/items/a/title", "/p/items/*", "/p/items/*/title"])
    func `a value that did not exist before is sent as an addition, live and resumed`(path: String) throws {
        let harness = try SessionHarness()
        let live = try harness.subscribe(path)
        try harness.dispatch(#"{"insert":{"id":"a","at":0}}"#)
        let told = try #require(harness.sink.delivered.first { $0.group == live.group }).event
        let resumed = try harness.subscribe(path, resume: "\(live.cursor)")
        #expect(told.text.contains(#""op":"add""#))
        #expect(resumed.first.map(\.text) == [told.text])
    }

    @Test func `a stream that missed nothing resumes without an event`() throws {
        let harness = try SessionHarness()
        let answer = try harness.dispatch(#"{"add":1}"#)
        #expect(try harness.subscribe("/p/count", resume: "\(answer.cursor)").first.isEmpty)
        let title = try harness.dispatch(#"{"rename":"b"}"#)
        #expect(title.version == 2)
        #expect(try harness.subscribe("/p/count", resume: "\(answer.cursor)").first.isEmpty)
    }

    @Test func `a stream resumes from the log after a restart, and gets transient fields again`() throws {
        let harness = try SessionHarness()
        let first = try harness.dispatch(#"{"add":1}"#)
        try harness.dispatch(#"{"add":1}"#)
        harness.restart()
        let count = try harness.subscribe("/p/count", resume: "\(first.cursor)")
        #expect(count.first.map(\.text) == [#"{"version":2,"changes":[{"op":"replace","path":"/p/count","value":2}]}"#])
        let last = try harness.subscribe("/t/lastEvent", resume: "\(first.cursor)")
        #expect(
            last.first.map(\.text) == [
                #"{"version":2,"changes":[{"op":"replace","path":"/t/lastEvent","value":null}]}"#
            ]
        )
    }

    @Test func `a resumed reader gets the old values of transient changes that a restart lost`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let quiet = try harness.dispatch(#"{"quietAdd":5}"#)
        harness.restart()
        let resumed = try harness.subscribe("/p/count", resume: "\(quiet.cursor)")
        #expect(
            resumed.first.map(\.text) == [#"{"version":1,"changes":[{"op":"replace","path":"/p/count","value":1}]}"#]
        )
    }

    @Test func `a reader of an earlier incarnation gets the transient changes of the current one`() throws {
        let harness = try SessionHarness()
        let first = try harness.dispatch(#"{"add":1}"#)
        harness.restart()
        try harness.dispatch(#"{"quietAdd":5}"#)
        let resumed = try harness.subscribe("/p/count", resume: "\(first.cursor)")
        #expect(
            resumed.first.map(\.text) == [#"{"version":1,"changes":[{"op":"replace","path":"/p/count","value":6}]}"#]
        )
        #expect(try harness.subscribe("/p/title", resume: "\(first.cursor)").first.isEmpty)
    }

    @Test func `transient changes after missed versions are sent with them`() throws {
        let harness = try SessionHarness()
        let first = try harness.dispatch(#"{"add":1}"#)
        harness.restart()
        try harness.dispatch(#"{"mark":7}"#)
        try harness.dispatch(#"{"quietAdd":5}"#)
        let resumed = try harness.subscribe("/p/count", "/p/marks", "/p/title", resume: "\(first.cursor)")
        let marks = #"{"op":"replace","path":"/p/marks","value":[7]}"#
        let count = #"{"op":"replace","path":"/p/count","value":6}"#
        #expect(resumed.first.map(\.text) == [#"{"version":2,"changes":[\#(count),\#(marks)]}"#])
    }

    @Test func `a reader that is far behind gets missed changes from memory`() throws {
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: 1, resumesMax: 0))
        let first = try harness.dispatch(#"{"add":1}"#)
        try harness.dispatch(#"{"quietAdd":1}"#)
        try harness.dispatch(#"{"mark":7}"#)
        try harness.dispatch(#"{"quietAdd":3}"#)
        let resumed = try harness.subscribe("/p/count", resume: "\(first.cursor)")
        #expect(
            resumed.first.map(\.text) == [#"{"version":2,"changes":[{"op":"replace","path":"/p/count","value":5}]}"#]
        )
        #expect(try harness.subscribe("/p/title", resume: "\(first.cursor)").first.isEmpty)
    }

    @Test func `transient changes that became durable while the log was read are sent once`() throws {
        let harness = try SessionHarness()
        let first = try harness.dispatch(#"{"add":1}"#)
        harness.restart()
        try harness.dispatch(#"{"mark":7}"#)
        try harness.dispatch(#"{"quietAdd":5}"#)
        let request = StreamRequest(
            stream: StreamID(loop: 1, connection: 1),
            topic: StreamTopic(paths: [JSONPointer(tokens: ["p", "count"])]),
            resume: "\(first.cursor)"
        )
        try harness.session().subscribe(request)
        let durable = harness.send(#"{"add":2}"#)
        let joined = try harness.wait { harness.sink.joined.last }
        _ = try harness.wait(for: durable).get()
        let told = joined.first.map(\.text) + harness.sink.delivered.map(\.event.text)
        #expect(told.last == #"{"version":3,"changes":[{"op":"replace","path":"/p/count","value":8}]}"#)
        #expect(told.count == (joined.cursor.position.version == 3 ? 1 : 2))
    }

    @Test func `a reader of an earlier incarnation gets the log only up to the start of the current one`() throws {
        let harness = try SessionHarness(limits: SessionLimits(resumeVersionsMax: 1))
        let first = try harness.dispatch(#"{"add":1}"#)
        try harness.dispatch(#"{"rename":"b"}"#)
        harness.restart()
        try harness.dispatch(#"{"rename":"c"}"#)
        let resumed = try harness.subscribe("/p/title", resume: "\(first.cursor)")
        #expect(
            resumed.first.map(\.text) == [#"{"version":3,"changes":[{"op":"replace","path":"/p/title","value":"c"}]}"#]
        )
    }

    @Test(arguments: ["garbage", "aaaaaaaa.0.bbbb-0", ""])
    func `an invalid cursor, or one of another history, is a reset`(_ cursor: String) throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let resumed = try harness.subscribe("/p/count", resume: cursor)
        #expect(resumed.first.map(\.name) == [.reset])
        #expect(resumed.first[0].text.contains(#""values":{"/p/count":1}"#))
    }

    @Test func `a cursor ahead of the session is a reset`() throws {
        let harness = try SessionHarness()
        let answer = try harness.dispatch(#"{"add":1}"#)
        let ahead = "\(answer.cursor.epoch).99.\(answer.cursor.incarnation ?? "")-0"
        #expect(try harness.subscribe("/p/count", resume: ahead).first[0].text.contains("unknown-cursor"))
    }

    @Test func `deleting a session ends its streams for good`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let joined = try harness.subscribe("/p/count")
        var deleted: Result<Void, SessionError>?
        try harness.session().delete { deleted = $0 }
        try harness.wait { deleted }.get()
        #expect(harness.sink.ended == [.deleted])
        #expect(harness.shard.isDeleted("\(joined.cursor)"))
        #expect(try harness.value("/p/count") == "0")
    }

    @Test func `reads of unstored sessions leave nothing in memory`() throws {
        let harness = try SessionHarness()
        #expect(try harness.value("/p/count") == "0")
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `an unstored session stays in memory until its last stream leaves`() throws {
        let harness = try SessionHarness()
        let joined = try harness.subscribe("/p/count")
        #expect(harness.shard.residentCount == 1)
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `a stream beyond the limit of a session is refused`() throws {
        let harness = try SessionHarness(limits: SessionLimits(streamsPerSessionMax: 1))
        try harness.subscribe("/p/count")
        let request = StreamRequest(
            stream: StreamID(loop: 0, connection: 9),
            topic: StreamTopic(paths: []),
            resume: nil
        )
        try harness.session().subscribe(request)
        guard case .full = harness.sink.refused.first else {
            Issue.record("expected a refusal, got \(harness.sink.refused)")
            return
        }
    }

    @Test func `a log that storage returns in parts is read to its end`() throws {
        let harness = try SessionHarness()
        harness.storage.limitHistory(to: 2)
        let first = try harness.dispatch(#"{"mark":0}"#)
        for title in ["b", "c", "d", "e"] { try harness.dispatch(#"{"rename":"\#(title)"}"#) }
        try harness.dispatch(#"{"add":7}"#)
        try harness.dispatch(#"{"mark":1}"#)
        harness.restart()
        let resumed = try harness.subscribe("/p/count", resume: "\(first.cursor)")
        #expect(
            resumed.first.map(\.text) == [#"{"version":7,"changes":[{"op":"replace","path":"/p/count","value":7}]}"#]
        )
    }

    @Test func `a limited number of streams read the log at once`() throws {
        let harness = try SessionHarness(limits: SessionLimits(resumesMax: 1))
        let cursor = try harness.dispatch(#"{"add":1}"#).cursor
        try harness.dispatch(#"{"add":1}"#)
        harness.restart()
        let session = try harness.session()
        let paths = [try JSONPointer(parsing: "/p/count")]
        for loop in 1...2 {
            let stream = StreamID(loop: loop, connection: 1)
            session.subscribe(StreamRequest(stream: stream, topic: StreamTopic(paths: paths), resume: "\(cursor)"))
        }
        guard case .full? = harness.sink.refused.first else {
            Issue.record("expected full, got \(harness.sink.refused)")
            return
        }
        _ = try harness.wait { harness.sink.joined.first }
        #expect(try harness.subscribe("/p/count", resume: "\(cursor)").first.map(\.name) == [.change])
    }

    @Test func `an unchanged transient field is not sent to a stream that resumes in the same incarnation`()
        throws
    {
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: 1))
        let first = try harness.dispatch(#"{"add":1}"#)
        for _ in 1...3 { try harness.dispatch(#"{"add":1}"#) }
        #expect(try harness.subscribe("/t/lastEvent", resume: "\(first.cursor)").first.count <= 1)
        #expect(try harness.subscribe("/p/title", resume: "\(first.cursor)").first.isEmpty)
    }

    @Test func `no stream begins once the session's streams were ended`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let session = try harness.session()
        harness.shard.drain()
        session.subscribe(
            StreamRequest(stream: StreamID(loop: 0, connection: 1), topic: StreamTopic(paths: []), resume: nil)
        )
        guard case .failed(.draining) = harness.sink.refused.first else {
            Issue.record("expected a refusal, got \(harness.sink.refused)")
            return
        }
    }

    @Test func `a subscriber that joins from within an answer gets the answer's change in the snapshot only`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#""nothing""#)
        try harness.subscribe("/p/count")
        let session = try harness.session()
        let late = StreamRequest(
            stream: StreamID(loop: 9, connection: 9),
            topic: StreamTopic(paths: [JSONPointer(tokens: ["p", "count"])]),
            resume: nil
        )
        session.dispatch(DispatchRequest(body: Array(#"{"add":3}"#.utf8))) { _ in session.subscribe(late) }
        let joined = try harness.wait { harness.sink.joined.count == 2 ? harness.sink.joined.last : nil }
        #expect(joined.first.map(\.text) == [#"{"version":1,"values":{"/p/count":3}}"#])
        #expect(harness.sink.delivered.count == 1)
        #expect(harness.sink.order == ["join", "deliver", "join"])
    }

    @Test func `transient changes during a resume in parts are not lost`() throws {
        let harness = try SessionHarness()
        harness.storage.limitHistory(to: 1)
        let first = try harness.dispatch(#"{"mark":0}"#)
        for title in ["b", "c", "d"] { try harness.dispatch(#"{"rename":"\#(title)"}"#) }
        harness.restart()
        let session = try harness.session()
        let request = StreamRequest(
            stream: StreamID(loop: 1, connection: 1),
            topic: StreamTopic(paths: [JSONPointer(tokens: ["p", "count"])]),
            resume: "\(first.cursor)"
        )
        session.subscribe(request)
        try harness.dispatch(#"{"quietAdd":5}"#)
        let joined = try harness.wait { harness.sink.joined.last }
        #expect(
            joined.first.map(\.text) == [#"{"version":4,"changes":[{"op":"replace","path":"/p/count","value":5}]}"#]
        )
    }
}
