// Checks the memory that remains after answers were written.

import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct AnswerWriterTests {
    @Test func `a large answer leaves no large buffer behind`() throws {
        var writer = AnswerWriter(try Doors(ServerOptions(), machineName: "builder"))
        let request = RequestTraits(version: .http11, method: .get, isKeepAlive: true)
        func capacity(_ count: Int) -> Int {
            let body = [UInt8](repeating: UInt8(ascii: "1"), count: count)
            return writer.bytes(of: .json(body), to: request, isKeepAlive: true).capacity
        }
        #expect(capacity(1_000_000) > 1_000_000)
        #expect(capacity(10) < 65_536)
    }
}
