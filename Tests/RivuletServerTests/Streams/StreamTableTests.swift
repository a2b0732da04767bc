// Checks the bytes that are written to each stream of a loop, and the times of the writes.

import RivuletEventLoop
import RivuletJSON
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite struct StreamTableTests {
    @Test func `the events of one turn are one write for each stream`() {
        var streams = Streams()
        streams.join(1)
        streams.join(2)
        streams.deliver([1], "c1")
        streams.deliver([2, 3], "c2")
        streams.flush()
        #expect(streams.transport.writes[streams.id(1)] == [[1, 2, 3]])
        #expect(streams.transport.writes[streams.id(2)] == [[1, 2, 3]])
        streams.flush()
        #expect(streams.transport.writes[streams.id(1)]?.count == 1)
    }

    @Test func `a stream that joins within a turn gets no earlier event of the turn`() {
        var streams = Streams()
        streams.join(1)
        streams.deliver([1], "c1")
        streams.join(2, cursor: "c1")
        streams.deliver([2], "c2")
        streams.flush()
        #expect(streams.transport.writes[streams.id(1)] == [[1, 2]])
        #expect(streams.transport.writes[streams.id(2)] == [[2]])
    }

    @Test func `the cursor of a leaving stream is that of the last written event`() {
        var streams = Streams()
        streams.join(1)
        streams.join(2)
        streams.deliver([1], "c1")
        streams.flush()
        streams.deliver([2], "c2")
        let leaver = streams.remove(1)
        #expect(leaver?.group == streams.group)
        #expect(streams.table.count == 1)
        #expect(streams.remove(1) == nil)
    }

    @Test func `an event for a group without streams here is dropped`() {
        var streams = Streams()
        streams.join(1)
        _ = streams.remove(1)
        streams.deliver([1], "c1")
        streams.flush()
        #expect(streams.transport.writes.isEmpty)
        #expect(streams.account.bytes == 0)
    }

    @Test func `an event that was written to all streams is released`() {
        var streams = Streams()
        streams.join(1)
        streams.deliver([1, 2, 3], "c1")
        // Three bytes of content, and "3\r\n" and "\r\n" around them.
        #expect(streams.account.bytes == 8)
        streams.flush()
        #expect(streams.account.bytes == 0)
    }

    @Test func `a turn makes as many writes as its budget allows, and the next turn continues`() {
        var streams = Streams()
        for slot in 1...5 { streams.join(UInt32(slot)) }
        streams.deliver([1], "c1")
        #expect(streams.flush(budget: 3) == 0)
        #expect(streams.table.hasUnwritten)
        #expect((1...5).map { streams.transport.bytes(of: streams.id(UInt32($0))) } == [[1], [1], [1], [], []])
        #expect(streams.flush(budget: 3) == 1)
        #expect(!streams.table.hasUnwritten)
        #expect((1...5).allSatisfy { streams.transport.bytes(of: streams.id(UInt32($0))) == [1] })
    }

    @Test func `a turn that has used up its bytes writes nothing, and the next turn continues`() {
        var streams = Streams()
        for slot in 1...5 { streams.join(UInt32(slot)) }
        streams.deliver([1], "c1")
        streams.transport.hasRoomInTurn = false
        #expect(streams.flush(budget: 100) == 100)
        #expect(streams.table.hasUnwritten)
        streams.transport.hasRoomInTurn = true
        streams.flush(budget: 100)
        #expect(!streams.table.hasUnwritten)
        #expect((1...5).allSatisfy { streams.transport.bytes(of: streams.id(UInt32($0))) == [1] })
    }

    @Test func `streams that were not reached yet get later events in one write, the others in a second write`() {
        var streams = Streams()
        for slot in 1...4 { streams.join(UInt32(slot)) }
        streams.deliver([1], "c1")
        streams.flush(budget: 2)
        streams.deliver([2], "c2")
        streams.flush()
        #expect(streams.transport.writes[streams.id(1)] == [[1], [2]])
        #expect(streams.transport.writes[streams.id(3)] == [[1, 2]])
        #expect(streams.account.bytes == 0)
    }

    @Test func `a large group does not delay a small one`() {
        var streams = Streams()
        for slot in 1...200 { streams.join(UInt32(slot)) }
        let small = GroupID(rawValue: 2)
        streams.join(300, group: small)
        streams.deliver([1], "c1")
        streams.deliver([9], "c1", to: small)
        streams.flush(budget: 100)
        #expect(streams.transport.bytes(of: streams.id(300)) == [9])
    }

    @Test func `a stream that leaves during a pass takes no event from the others`() {
        for leaver in 1...6 as ClosedRange<UInt32> {
            var streams = Streams()
            for slot in 1...6 { streams.join(UInt32(slot)) }
            streams.deliver([1], "c1")
            streams.flush(budget: 3)
            _ = streams.remove(leaver)
            streams.flush()
            for slot in 1...6 as ClosedRange<UInt32> where slot != leaver {
                #expect(streams.transport.writes[streams.id(slot)] == [[1]], "\(slot) after \(leaver) left")
            }
        }
    }

    @Test func `a stream whose socket is full gets the rest as one write when it has room`() {
        var streams = Streams()
        streams.join(1)
        streams.join(2)
        streams.transport.room[streams.id(1)] = 0
        streams.deliver([1], "c1")
        streams.flush()
        streams.deliver([2], "c2")
        streams.flush()
        streams.deliver([3], "c3")
        streams.flush()
        #expect(streams.transport.writes[streams.id(1)] == [[1]])
        #expect(streams.transport.writes[streams.id(2)] == [[1], [2], [3]])
        #expect(streams.drain(1) == .writeRest)
        #expect(streams.transport.writes[streams.id(1)] == [[1], [2, 3]])
        #expect(streams.account.bytes == 0)
    }

    @Test func `a stream with too many waiting bytes leaves its group at the cursor of its last written event`() throws
    {
        var streams = Streams()
        streams.join(1)
        streams.join(2)
        streams.transport.room[streams.id(1)] = 0
        streams.deliver([1], "c1")
        streams.flush()
        streams.deliver([UInt8](repeating: 2, count: 101), "c2")
        streams.flush()
        let outside = try #require(streams.stream(1)?.outside)
        #expect(outside.cursor == "c1")
        #expect(outside.state.phase == .behind)
        streams.deliver([3], "c3")
        streams.flush()
        #expect(streams.account.bytes == 0)
        #expect(streams.drain(1) == .ask)
        streams.join(1, cursor: "c3")
        streams.deliver([4], "c4")
        streams.flush()
        #expect(streams.transport.writes[streams.id(1)] == [[1], [4]])
    }

    @Test func `a blocked stream keeps its waiting events when others fall behind, and no others are kept`()
        throws
    {
        var streams = Streams()
        for slot in 1...4 as ClosedRange<UInt32> { streams.join(slot) }
        for slot in 1...2 as ClosedRange<UInt32> { streams.transport.room[streams.id(slot)] = 0 }
        streams.deliver([UInt8](repeating: 1, count: 40), "c1")
        streams.flush()
        streams.deliver([UInt8](repeating: 2, count: 60), "c2")
        streams.transport.room[streams.id(3)] = 0
        streams.flush()
        streams.deliver([UInt8](repeating: 3, count: 45), "c3")
        streams.flush()
        #expect((1...4).map { streams.phase($0) } == [.behind, .behind, .blocked, .live])
        #expect((1...2).map { streams.stream($0)?.outside?.cursor } == ["c1", "c1"])
        streams.deliver([UInt8](repeating: 4, count: 5), "c4")
        streams.flush()
        streams.deliver([UInt8](repeating: 5, count: 5), "c5")
        streams.flush()
        // The held bytes are exact after the search for slow consumers, which drops the events that all streams have.
        // The content has 45, 5 and 5 bytes, each with its framing.
        #expect(streams.account.bytes == (4 + 45 + 2) + 2 * (3 + 5 + 2))
        #expect(streams.drain(3) == .writeRest)
        #expect(streams.transport.writes[streams.id(3)]?.last?.count == 55)
        #expect(streams.account.bytes == 0)
    }

    @Test func `a stream that got a part requests more from there, and a waiting stream does not`() {
        var streams = Streams()
        streams.join(1, at: .more, cursor: "c7")
        #expect(streams.stream(1)?.outside?.isPaging == true)
        #expect(streams.stream(1)?.outside?.cursor == "c7")
        streams.join(2, at: .waiting)
        #expect(streams.drain(2) == .nothing)
        streams.deliver([1], "c1")
        streams.flush()
        #expect(streams.transport.writes.isEmpty)
    }

    @Test func `in one group HTTP 1_1 streams get chunks, and HTTP 1_0 streams the content from the same memory`() {
        var streams = Streams()
        streams.join(1)
        streams.isChunked = true
        streams.join(2)
        streams.isChunked = false
        streams.join(3)
        streams.deliver(Array("sixteen bytes ok".utf8), "c1")
        #expect(streams.account.bytes == 4 + 16 + 2)
        streams.flush()
        let content = Array("sixteen bytes ok".utf8)
        #expect(streams.transport.writes[streams.id(1)] == [content])
        #expect(streams.transport.writes[streams.id(2)] == [Array("10\r\nsixteen bytes ok\r\n".utf8)])
        #expect(streams.transport.writes[streams.id(3)] == [content])
        let written = streams.table.takeWritten()
        #expect(written.events == 3)
        #expect(written.bytes == 16 + 22 + 16)
        #expect(streams.account.bytes == 0)
    }

    @Test func `the events of one turn are one chunk, and waiting events are a chunk each`() {
        var streams = Streams()
        streams.isChunked = true
        streams.join(1)
        streams.isChunked = false
        streams.join(2)
        for slot in 1...2 as ClosedRange<UInt32> { streams.transport.room[streams.id(slot)] = 0 }
        streams.deliver([65], "c1")
        streams.deliver([66], "c2")
        streams.flush()
        streams.deliver([67], "c3")
        streams.flush()
        streams.deliver([68], "c4")
        streams.flush()
        for slot in 1...2 as ClosedRange<UInt32> { #expect(streams.drain(slot) == .writeRest) }
        let texts = (1...2).map { slot in
            streams.transport.writes[streams.id(slot)]?.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(texts == [["2\r\nAB\r\n", "1\r\nC\r\n1\r\nD\r\n"], ["AB", "CD"]])
        #expect(streams.account.bytes == 0)
    }

    @Test func `a group's members are listed, compressed or not`() {
        var streams = Streams()
        streams.join(1)
        streams.isCompressed = true
        streams.join(2)
        streams.join(3, group: GroupID(rawValue: 2))
        #expect(Set(streams.table.members(of: streams.group)) == [streams.id(1), streams.id(2)])
    }

    @Test func `a stream that takes nothing requests a snapshot once, however often its paths change`() throws {
        var streams = Streams()
        streams.join(1)
        streams.transport.room[streams.id(1)] = 0
        streams.deliver([1], "c1")
        streams.flush()
        let stream = try #require(streams.stream(1))
        let writes = streams.transport.writes[streams.id(1)]
        for path in ["/p/count", "/p/title", "/p/count"] {
            let source = StreamSource.session(
                SessionKey(app: "tally", id: "s"),
                StreamTopic(paths: [try JSONPointer(parsing: path)], isRepathed: true)
            )
            let action = streams.table.retarget(stream, to: source, now: 0).action
            #expect(action == .nothing)
        }
        #expect(streams.transport.writes[streams.id(1)] == writes)
        #expect(streams.phase(1) == .behind)
        #expect(streams.drain(1) == .ask)
        #expect(stream.outside?.isRepathed == true)
    }
}
