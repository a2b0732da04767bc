// Checks the data that a loop keeps about its connections.

import RivuletEventLoop
import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct ClientConnectionTests {
    private func connection(_ slot: UInt32, generation: UInt32) -> ClientConnection {
        ClientConnection(ConnectionID(slot: slot, generation: generation), from: PeerAddress.IP(v4: 1))
    }

    @Test func `a connection in use is not closed at the deadline of its first idle time`() {
        let connection = connection(0, generation: 1)
        connection.arm(now: 0, limits: HTTPLimits())
        #expect(connection.due == 75_000)
        connection.begin(RequestTraits(version: .http11, method: .get, isKeepAlive: true))
        connection.arm(now: 50_000, limits: HTTPLimits())
        #expect(connection.due == 125_000)
    }

    @Test func `an id with an earlier generation of its slot finds no connection`() {
        let table = ConnectionTable()
        let (old, new) = (connection(3, generation: 1), connection(3, generation: 2))
        table.open(old)
        table.close(old)
        table.open(new)
        #expect(table[old.id] == nil)
        table.close(old)
        #expect(table[new.id] === new)
        #expect(table.count == 1)
    }
}
