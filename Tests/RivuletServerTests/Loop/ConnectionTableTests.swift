// Checks what a loop keeps of its connections.

import RivuletEventLoop
import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct ConnectionTableTests {
    @Test func `a connection that is used does not run into the deadline of its first idle time`() {
        var entry = ConnectionTable.Entry(generation: 1, address: PeerAddress.IP(v4: 1))
        entry.arm(now: 0, limits: HTTPLimits())
        #expect(entry.due == 75_000)
        entry.begin(ConnectionTable.RequestTraits(version: .http11, method: .get, isKeepAlive: true))
        entry.arm(now: 50_000, limits: HTTPLimits())
        #expect(entry.due == 125_000)
    }

    @Test func `an id of an earlier use of a slot finds nothing`() {
        var table = ConnectionTable()
        let old = ConnectionID(slot: 3, generation: 1)
        let new = ConnectionID(slot: 3, generation: 2)
        table.open(old, from: PeerAddress.IP(v4: 1))
        table.close(old)
        table.open(new, from: PeerAddress.IP(v4: 1))
        #expect(!table.isOpen(old))
        #expect(table.update(old) { $0.generation } == nil)
        table.close(old)
        #expect(table.isOpen(new))
        #expect(table.count == 1)
    }
}
