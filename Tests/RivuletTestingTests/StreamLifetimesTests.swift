// Checks streams above the limit, heartbeats, and the end of streams after their lifetime.

import RivuletEngine
import RivuletJSON
import RivuletServer
import RivuletTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct StreamLifetimesTests {
    private let session = "/v1/apps/search/sessions/s"

    private func server(_ limits: ServerLimits) -> TestServer {
        TestServer(SearchApp { _ in [] }, options: ServerOptions(limits: limits))
    }

    @Test func `a stream ends with a bye after its lifetime, and its reader resumes at its cursor`() async throws {
        try await server(ServerLimits(streamLifetime: .milliseconds(20))).run { client in
            let stream = try await client.stream("\(session)/changes?path=/p/text")
            let snapshot = try await stream.next()
            let bye = try await stream.next()
            #expect(bye.name == "bye")
            #expect(try bye.json()["reason"] == "expired")
            #expect(try bye.json()["reconnect"] == true)
            #expect(bye.id == nil)
            let end = await #expect(throws: TestClientError.self) { _ = try await stream.next() }
            #expect(end?.description == "the stream has ended")
            _ = try await client.post("\(session)/events", json: ["type": "a"])
            let cursor = try #require(snapshot.id)
            let again = try await client.stream(
                "\(session)/changes?path=/p/text",
                fields: ["Last-Event-ID": cursor]
            )
            let change = try await again.next()
            #expect(change.name == "change")
            #expect(try change.json()["changes"]?[0]?["value"] == "a")
        }
    }

    @Test func `a stream above the limit has only a bye, which allows a reconnection`() async throws {
        try await server(ServerLimits(streamsMax: 1)).run { client in
            let first = try await client.stream("\(session)/changes?path=/p/text")
            #expect(try await first.next().name == "snapshot")
            let second = try await client.stream("\(session)/changes?path=/p/text")
            #expect(second.head.status == 200)
            let bye = try await second.next()
            #expect(bye.name == "bye")
            #expect(try bye.json()["reason"] == "limit")
            #expect(try bye.json()["reconnect"] == true)
            let end = await #expect(throws: TestClientError.self) { _ = try await second.next() }
            #expect(end?.description == "the stream has ended")
            _ = try await client.post("\(session)/events", json: ["type": "a"])
            #expect(try await first.next().name == "change")
        }
    }
}
