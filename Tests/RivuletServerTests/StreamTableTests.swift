// Part of Rivulet. See README.md for the architecture.
// Checks what each stream of a loop gets written.

import RivuletEventLoop
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite struct StreamTableTests {
    private let group = GroupID(rawValue: 1)

    private func id(_ slot: UInt32) -> ConnectionID { ConnectionID(slot: slot, generation: 1) }

    private func join(_ table: inout StreamTable, _ slot: UInt32, expires: UInt64 = 100) {
        table.join(
            StreamTable.Member(connection: id(slot), expires: expires),
            group: group,
            as: StreamTable.Group(
                source: .session(SessionKey(app: "a", id: "s"), StreamTopic(paths: [])),
                cursor: "c0",
                lastTraffic: 0
            )
        )
    }

    @Test func `the events of one turn are one write for each member`() {
        var table = StreamTable()
        join(&table, 1)
        join(&table, 2)
        table.deliver([1], cursor: "c1", to: group)
        table.deliver([2, 3], cursor: "c2", to: group)
        let writes = table.takeDirty(now: 5)
        #expect(writes.map(\.bytes) == [[1, 2, 3]])
        #expect(writes[0].members.map(\.connection) == [id(1), id(2)])
        #expect(table.takeDirty(now: 6).isEmpty)
    }

    @Test func `a stream that leaves stands where its group was written last`() {
        var table = StreamTable()
        join(&table, 1)
        join(&table, 2)
        table.deliver([1], cursor: "c1", to: group)
        _ = table.takeDirty(now: 5)
        let leaver = table.leave(id(1))
        #expect(leaver?.cursor == "c1")
        #expect(leaver?.group == group)
        #expect(table.count == 1)
        #expect(table.leave(id(1)) == nil)
    }

    @Test func `an event for a group without members here is dropped`() {
        var table = StreamTable()
        join(&table, 1)
        _ = table.leave(id(1))
        table.deliver([1], cursor: "c1", to: group)
        #expect(table.takeDirty(now: 5).isEmpty)
        #expect(table.groups.isEmpty)
    }

    @Test func `only quiet groups get a comment, and not again at once`() {
        var table = StreamTable()
        join(&table, 1)
        #expect(table.takeQuiet(since: 0, now: 20) == [id(1)])
        #expect(table.takeQuiet(since: 10, now: 21).isEmpty)
        #expect(table.takeQuiet(since: 20, now: 40) == [id(1)])
    }

    @Test func `streams expire each in its own time`() {
        var table = StreamTable()
        join(&table, 1, expires: 10)
        join(&table, 2, expires: 20)
        #expect(table.expired(at: 9).isEmpty)
        #expect(table.expired(at: 10) == [id(1)])
        #expect(Set(table.expired(at: 20)) == [id(1), id(2)])
    }
}
