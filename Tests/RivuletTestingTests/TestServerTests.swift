// Checks that a test server without sockets behaves like one with live sockets.

import RivuletEngine
import RivuletJSON
import RivuletServer
import RivuletTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct TestServerTests {
    private let session = "/v1/apps/search/sessions/s"

    @Test(arguments: TestServer.Transport.allCases)
    func `a client sends events and reads the state`(_ transport: TestServer.Transport) async throws {
        try await TestServer(SearchApp { _ in [] }).run(transport) { client in
            let answer = try await client.post("\(session)/events", json: ["type": "a"])
            #expect(answer.status == 200)
            #expect(answer[field: "Content-Type"] == "application/json")
            let state = try await client.get("\(session)/state/p/text")
            #expect(try state.json() == "a")
            #expect(try await client.post("\(session)/events", json: ["type": ""]).status == 422)
            #expect(try await client.get("/nowhere").status == 404)
            #expect(try await client.send("HEAD", "\(session)/state").body.isEmpty)
        }
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `a stream delivers changes as they happen`(_ transport: TestServer.Transport) async throws {
        try await TestServer(SearchApp { _ in [] }).run(transport) { client in
            _ = try await client.post("\(session)/events", json: ["type": "a"])
            let stream = try await client.stream("\(session)/changes?path=/p/text")
            #expect(try await stream.next().name == "snapshot")
            for text in ["b", "c"] {
                _ = try await client.post("\(session)/events", json: ["type": .string(text)])
                let change = try await stream.next()
                #expect(change.name == "change")
                #expect(change.id != nil)
                #expect(try change.json()["changes"]?[0]?["value"] == .string(text))
            }
            stream.close()
            let end = await #expect(throws: TestClientError.self) { _ = try await stream.next() }
            #expect(end?.description == "the stream was cut off")
        }
    }

    @Test func `bodies larger than a packet are transferred in both directions`() async throws {
        let text = String(repeating: "é", count: 100_000)
        for transport in TestServer.Transport.allCases {
            try await TestServer(SearchApp { _ in [] }).run(transport) { client in
                let answer = try await client.post("\(session)/events", json: ["type": .string(text)])
                #expect(answer.status == 200)
                #expect(try await client.get("\(session)/state/p/text").json() == .string(text))
            }
        }
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `a server ends although a test left a stream open`(_ transport: TestServer.Transport) async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await TestServer(SearchApp { _ in [] }).run(transport) { client in
                _ = try await client.post("\(session)/events", json: ["type": "a"])
                _ = try await client.stream("\(session)/changes")
                throw Stop()
            }
        }
    }

    @Test func `effects use the clock that the test moves`() async throws {
        let clock = ManualClock()
        let server = TestServer(SearchApp { ["\($0)!"] }, clock: clock)
        try await server.run { client in
            _ = try await client.post("\(session)/events", json: ["type": "a"])
            let stream = try await client.stream("\(session)/changes?path=/p/hits")
            _ = try await stream.next()
            // A task on another thread sets the alarm of the debounce.
            while clock.deadlines.isEmpty { await Task.yield() }
            clock.advance(by: .milliseconds(300))
            #expect(try await stream.next().json()["changes"]?[0]?["value"] == ["a!"])
        }
    }

    @Test func `a stream of an unknown app and a second app with the same name are errors`() async throws {
        try await TestServer(SearchApp { _ in [] }).run { client in
            await #expect(throws: TestClientError.self) {
                _ = try await client.stream("/v1/apps/none/sessions/s/changes")
            }
        }
        await #expect(throws: ServerError.self) {
            try await TestServer(SearchApp { _ in [] }, SearchApp { _ in [] }).run { _ in }
        }
    }
}
