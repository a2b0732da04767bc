// Checks what limits count: events, open things, and the keys of addresses.

import RivuletEventLoop
import Testing

@testable import RivuletServer

@Suite struct EventCountTests {
    @Test(arguments: [
        ("\"increment\"", 1), ("{\"add\":[1,2,3]}", 1), ("[]", 1), ("[1]", 1), ("[1,2,3]", 3), (" \n\t[ 1 , 2 ] ", 2),
        (#"[{"a":[1,2,{"b":3}],"c":4},"x,y","\",[","\\",["a","b"]]"#, 5), ("", 1), ("[", 1), ("[\"", 1), ("[,,,", 4),
        ("[1,2]]],3", 2), ("]]", 1), ("3,4", 1), ("[\"\\", 1),
    ])
    func `the elements of an array are counted, and any other text is one event`(_ text: String, _ count: Int) {
        #expect(EventCount.count(in: Array(text.utf8)[...]) == count)
        #expect(EventCount.count(in: [Array(text.utf8)[...], Array("[1,2]".utf8)[...]]) == count + 2)
    }
}

@Suite struct OpenCountsTests {
    private static let keys = (0..<3).map { LimitKey(hash: $0, isSubject: $0 == 0) }

    @Test func `a key that has no place left takes no place of another key`() {
        let counts = OpenCounts()
        var seats = (0..<2).map { _ in StreamSeat(in: counts, [Self.keys[0], Self.keys[1]], max: 2) }
        #expect(seats.allSatisfy { $0 != nil })
        #expect(StreamSeat(in: counts, [Self.keys[2], Self.keys[1]], max: 2) == nil)
        #expect(counts.keyCount == 2)
        seats.removeLast()
        #expect(StreamSeat(in: counts, [Self.keys[2], Self.keys[1]], max: 2) != nil)
        seats.removeAll()
        #expect(counts.keyCount == 0)
    }

    @Test func `a count without a maximum is counted, for a maximum that comes later`() {
        let counts = OpenCounts()
        for _ in 0..<5 { #expect(counts.enter(Self.keys[0], max: nil)) }
        #expect(!counts.enter(Self.keys[0], max: 5))
        counts.leave(Self.keys[0])
        #expect(counts.enter(Self.keys[0], max: 5))
        counts.leave(Self.keys[1])
        #expect(counts.keyCount == 1)
    }
}

@Suite struct LimitKeyTests {
    private func network(_ text: String) throws -> String {
        try #require(PeerAddress.IP(text)).limitKey.description
    }

    @Test func `an address is an IPv4 address, or a network of 64 bits`() throws {
        #expect(try network("192.0.2.7") == "192.0.2.7" && network("::ffff:192.0.2.7") == "192.0.2.7")
        #expect(try network("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::")
        #expect(try network("::1") == "::")
        let keys = LimitKeyMaker()
        let (first, second) = (try #require(PeerAddress.IP("2001:db8::1")), try #require(PeerAddress.IP("2001:db8::2")))
        #expect(keys.key(of: first) == keys.key(of: second))
        #expect(keys.key(of: first) != LimitKeyMaker().key(of: first))
    }
}
