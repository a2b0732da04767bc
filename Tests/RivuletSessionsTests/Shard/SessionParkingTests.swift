// Checks that watched sessions are passivated, and that their streams continue without a change.

import CounterFixture
import RivuletSessions
import Testing

@Suite struct SessionParkingTests {
    /// A session with a stream at `/p/count`, after an event that makes it possible to passivate the session.
    private func watched(_ body: String = #"{"add":1}"#) throws -> (SessionHarness, RecordingSink.Joined) {
        let harness = try SessionHarness()
        try harness.dispatch(body)
        let joined = try harness.subscribe("/p/count")
        try harness.dispatch(#""forget""#)
        return (harness, joined)
    }

    private func park(_ harness: SessionHarness) {
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
    }

    @Test func `a watched session is passivated, and its stream continues`() throws {
        let (harness, joined) = try watched()
        let before = try harness.session().read(.root).get().cursor
        park(harness)
        #expect(harness.shard.residentCount == 0)
        #expect(harness.shard.passivatedCount == 1)
        let answer = try harness.dispatch(#"{"add":1}"#)
        #expect(harness.shard.passivatedCount == 0)
        #expect(harness.sink.ended.isEmpty)
        let events = harness.sink.delivered.filter { $0.group == joined.group }
        #expect(
            events.map(\.event.text) == [#"{"version":2,"changes":[{"op":"replace","path":"/p/count","value":2}]}"#]
        )
        #expect(answer.cursor.incarnation == before.incarnation)
        #expect(answer.cursor.position > before.position)
        #expect(try harness.session().info().streams == 1)
    }

    @Test func `a cursor stays valid over a passivation, for streams and for If-Match`() throws {
        let (harness, _) = try watched()
        let cursor = try harness.session().read(.root).get().cursor
        park(harness)
        #expect(try harness.subscribe("/p/count", resume: "\(cursor)").first.isEmpty)
        park(harness)
        try harness.dispatch(#"{"add":1}"#, expected: [cursor])
        let resumed = try harness.subscribe("/p/count", "/t", resume: "\(cursor)")
        #expect(
            resumed.first.map(\.text) == [
                #"{"version":2,"changes":[{"op":"replace","path":"/p/count","value":2},"#
                    + #"{"op":"replace","path":"/t/lastEvent","value":"add"}]}"#
            ]
        )
    }

    @Test func `a stream joins the group that existed before the passivation`() throws {
        let (harness, joined) = try watched()
        park(harness)
        #expect(try harness.subscribe("/p/count").group == joined.group)
        #expect(try harness.session().info().streams == 2)
    }

    @Test(arguments: [#"{"quietAdd":1}"#, #"{"note":"kept in memory only"}"#])
    func `a state that could not be restored completely stays in memory while it has streams`(event: String) throws {
        let (harness, _) = try watched()
        try harness.dispatch(event)
        park(harness)
        #expect(harness.shard.residentCount == 1)
        try harness.dispatch(#""forget""#)
        try harness.dispatch(#"{"mark":1}"#)
        park(harness)
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `a watched session returns with the transient state that it had`() throws {
        let (harness, joined) = try watched()
        try harness.dispatch(#"{"insert":{"id":"a","at":0}}"#)
        try harness.dispatch(#"{"insert":{"id":"b","at":1}}"#)
        try harness.dispatch(#"{"open":"b"}"#)
        try harness.dispatch(#"{"write":"a draft"}"#)
        try harness.dispatch(#"{"select":3}"#)
        let before = try harness.session().read(.root).get()
        park(harness)
        #expect(harness.shard.residentCount == 0)
        let after = try harness.session().read(.root).get()
        #expect(String(decoding: after.value, as: UTF8.self) == String(decoding: before.value, as: UTF8.self))
        #expect(after.cursor == before.cursor)
        #expect(try harness.value("/p/items/b/isOpen") == "true")
        harness.sink.delivered = []
        try harness.dispatch(#"{"add":1}"#)
        #expect(
            harness.sink.delivered.filter { $0.group == joined.group }.map(\.event.text) == [
                #"{"version":6,"changes":[{"op":"replace","path":"/p/count","value":2}]}"#
            ]
        )
    }

    @Test func `transient state of an unstored session returns, too`() throws {
        let harness = try SessionHarness()
        try harness.subscribe("/t")
        try harness.dispatch(#""peek""#)
        park(harness)
        #expect(harness.shard.residentCount == 0)
        #expect(try harness.value("/t/lastEvent") == #""peek""#)
    }

    @Test func `transient state outlives the last stream by the idle time of a session`() throws {
        let (harness, joined) = try watched()
        try harness.dispatch(#"{"add":1}"#)
        park(harness)
        #expect(harness.shard.residentCount == 0)
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        harness.uptime.advance(by: .seconds(299))
        harness.shard.evict()
        #expect(try harness.value("/t/lastEvent") == #""add""#)
        park(harness)
        #expect(try harness.value("/t/lastEvent") == "null")
    }

    @Test func `transient state without streams is deleted when its idle time is over`() throws {
        let (harness, joined) = try watched()
        try harness.dispatch(#"{"add":1}"#)
        park(harness)
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        #expect(harness.shard.passivatedCount == 1)
        park(harness)
        #expect(harness.shard.passivatedCount == 0)
        #expect(try harness.value("/t/lastEvent") == "null")
    }

    @Test func `the data of a passivated session is part of the shard's memory`() throws {
        let (harness, joined) = try watched()
        let loaded = harness.shard.residentBytes
        #expect(loaded > 4_000)
        try harness.dispatch(#"{"add":1}"#)
        park(harness)
        #expect(harness.shard.residentBytes > 0)
        #expect(harness.shard.residentBytes < loaded)
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        park(harness)
        #expect(harness.shard.residentBytes == 0)
    }

    @Test func `an unstored session with streams is passivated, too`() throws {
        let harness = try SessionHarness()
        let joined = try harness.subscribe("/p/count")
        park(harness)
        #expect(harness.shard.residentCount == 0)
        try harness.dispatch(#"{"add":1}"#)
        #expect(harness.sink.delivered.map(\.group) == [joined.group])
        let resumed = try harness.subscribe("/p/count", resume: "\(joined.cursor)")
        #expect(resumed.first.map(\.name) == [.change])
    }

    @Test func `the deletion of a passivated session ends its streams for good`() throws {
        let (harness, joined) = try watched()
        park(harness)
        var deleted: Result<Void, SessionError>?
        harness.shard.find(harness.key, of: harness.app) { found in
            if case .success(let session) = found { session.delete { deleted = $0 } }
        }
        try harness.wait { deleted }.get()
        #expect(harness.sink.ended == [.deleted])
        #expect(harness.shard.isDeleted("\(joined.cursor)"))
    }

    @Test func `streams of a session that became unreadable end with its deletion`() throws {
        let (harness, joined) = try watched()
        park(harness)
        var deleted: Result<Void, SessionError>?
        harness.shard.deleteUnreadable(harness.key) { deleted = $0 }
        try harness.wait { deleted }.get()
        #expect(harness.sink.ended == [.deleted])
        #expect(harness.shard.isDeleted("\(joined.cursor)"))
        #expect(harness.shard.passivatedCount == 0)
    }

    @Test func `a passivated session is released with its last stream`() throws {
        let (harness, joined) = try watched()
        try harness.subscribe("/p/count")
        park(harness)
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        #expect(harness.shard.passivatedCount == 1)
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop + 1)
        #expect(harness.shard.passivatedCount == 0)
        #expect(try harness.dispatch(#"{"add":1}"#).version == 2)
        #expect(harness.sink.delivered.isEmpty)
    }

    @Test func `a stream may leave while its session is being loaded`() throws {
        let (harness, joined) = try watched()
        park(harness)
        let box = harness.send(#"{"add":1}"#)
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        _ = try harness.wait(for: box).get()
        #expect(harness.sink.delivered.isEmpty)
        #expect(try harness.session().info().streams == 0)
    }

    @Test func `streams that have seen another state than the stored one end with a bye, and may reconnect`() throws {
        let (harness, joined) = try watched()
        park(harness)
        let stored = try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) })
        let entry = LogEntry(
            version: stored.head.version + 1,
            time: 0,
            commandID: nil,
            event: [],
            changes: Array("[]".utf8)
        )
        _ = try harness.ask { harness.storage.append(harness.key, at: .after(stored.head), [entry], reply: $0) }
        let cursor = try harness.session().read(.root).get().cursor
        #expect(harness.sink.ended == [.draining])
        #expect(cursor.incarnation != joined.cursor.incarnation)
    }

    @Test func `streams of passivated sessions stay until their loops end them at the stop of the server`() throws {
        let (harness, joined) = try watched()
        park(harness)
        harness.shard.drain()
        #expect(harness.sink.ended.isEmpty)
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        #expect(harness.shard.isQuiet)
        #expect(harness.shard.passivatedCount == 0)
    }

    @Test func `a full memory passivates watched sessions, too`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentBytesMax: 4_500))
        try harness.subscribe("/p/count")
        var found: Result<Session, SessionError>?
        harness.shard.find(SessionKey(app: "tally", id: "s2"), of: harness.app) { found = $0 }
        #expect(try harness.wait { found }.get().key.id == "s2")
        #expect(harness.shard.passivatedCount == 1)
    }
}
