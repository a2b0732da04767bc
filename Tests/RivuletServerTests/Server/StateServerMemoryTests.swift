// Checks that a server does not start if its memory limit has no room for an app's events.

import CounterFixture
import RivuletServer
import RivuletSessions
import Testing

@Suite struct StateServerMemoryTests {
    private func server(residentBytesMax: Int) throws -> StateServer {
        let options = ServerOptions(sessionLimits: SessionLimits(residentBytesMax: residentBytesMax))
        let server = StateServer(options: options, storage: MemoryStorageEngine())
        try server.host(TallyApp())
        return server
    }

    @Test func `a memory limit without room for an event is refused, with its name and the least value`() throws {
        let error = #expect(throws: ServerError.self) {
            try server(residentBytesMax: 4_500).start(isListening: false, clock: ContinuousClock()).stop()
        }
        let text = try #require(error?.description)
        #expect(text.contains("residentBytesMax is 4500"))
        let least = try #require(text.split(separator: " ").compactMap { Int($0) }.last)
        #expect(least > 8_192)
        try server(residentBytesMax: least).start(isListening: false, clock: ContinuousClock()).stop()
        #expect(throws: ServerError.self) {
            try server(residentBytesMax: least - 1).start(isListening: false, clock: ContinuousClock()).stop()
        }
    }
}
