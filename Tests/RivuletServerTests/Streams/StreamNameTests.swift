// Checks the names of streams, of a single server and of nodes in a cluster.

import RivuletEventLoop
import Testing

@testable import RivuletServer

@Suite struct StreamNameTests {
    private let connection = ConnectionID(slot: 35, generation: 36)

    @Test func `a single server names no node`() {
        let name = StreamName(loop: 1, connection: connection, token: 71)
        #expect(name.description == "1-z-10-1z")
        #expect(StreamName("1-z-10-1z") == name)
    }

    @Test(arguments: ["a", "rivulet-0", "n_1.b", "A-"])
    func `the name of a node is the last part, and may have the separator`(node: String) {
        let name = StreamName(loop: 1, connection: connection, token: 71, node: node)
        #expect(name.description == "1-z-10-1z-\(node)")
        #expect(StreamName(name.description) == name)
    }

    @Test(arguments: ["1-z-10", "1-z-10-1z-", "1-z-10-1z-a/b", "1-z-10-1z-ä", "01-z-10-1z-a", "1-z-10-1Z-a"])
    func `other texts are no names`(text: String) { #expect(StreamName(text) == nil) }

    @Test func `the name of a node has at most 64 bytes`() {
        let node = String(repeating: "n", count: 64)
        #expect(StreamName("1-z-10-1z-\(node)")?.node == node)
        #expect(StreamName("1-z-10-1z-\(node)n") == nil)
    }
}
