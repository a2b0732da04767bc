import RivuletCluster
import RivuletNATS
import Testing

@Suite(.timeLimit(.minutes(1))) struct NATSMonitorTests {
    private func check(
        _ urls: [NATSMonitorURL],
        of servers: Set<String> = []
    ) async throws -> Result<[NATSMonitoredServer], LogError> {
        let node = try NATSTestNode(NATSTestServers.shared.get().list)
        defer { node.stop() }
        return await node.call { node, reply in
            NATSMonitor.check(urls, of: servers, on: node.nats, reply: reply)
        }
    }

    @Test func `a server that writes through passes`() async throws {
        let found = try await check(NATSTestServers.shared.get().monitors, of: ["n1"]).get()
        #expect(found.map(\.name) == ["n1"])
        #expect(found.map(\.version) == ["2.15.1"])
    }

    @Test func `a server that acknowledges before the disk is refused with the setting`() async throws {
        let servers = try NATSTestServers(count: 1, syncInterval: "\"2m\"")
        let url = try #require(servers.monitors.first)
        #expect(
            try await check([url])
                == .failure(
                    .incompatible(
                        detail: """
                            The NATS server n1 at \(url) acknowledges messages before they are on disk. Set \
                            `sync_interval: always` in its `jetstream` block, and restart it.
                            """
                    )
                )
        )
    }

    @Test func `a server without a monitor is named`() async throws {
        #expect(
            try await check(NATSTestServers.shared.get().monitors, of: ["n1", "n2", "n3"])
                == .failure(
                    .incompatible(
                        detail: "No --nats-monitor is for the NATS server n2, n3. Name the monitor of each server."
                    )
                )
        )
    }

    @Test func `a monitor that does not answer is unavailable`() async throws {
        let url = try #require(NATSMonitorURL("http://127.0.0.1:1"))
        #expect(
            try await check([url])
                == .failure(
                    .unavailable(
                        detail: """
                            The NATS monitor http://127.0.0.1:1 cannot be read: connect 127.0.0.1:1: ECONNREFUSED \
                            connection refused.
                            """
                    )
                )
        )
    }

    @Test func `a port that is no monitor is refused`() async throws {
        let servers = try NATSTestServers.shared.get().servers
        let port = try #require(servers.first).port
        let url = try #require(NATSMonitorURL("http://127.0.0.1:\(port)"))
        // The server's end or its reset comes first.
        guard case .failure(.unavailable(let text)) = try await check([url]) else {
            Issue.record("a port of NATS clients passed as a monitor")
            return
        }
        #expect(text.hasPrefix("The NATS monitor \(url) cannot be read: "))
    }

    @Test func `a URL has a host, a port and a path`() {
        #expect(NATSMonitorURL("http://a")?.description == "http://a:8222")
        #expect(NATSMonitorURL("http://a:1/nats/")?.description == "http://a:1/nats")
        #expect(NATSMonitorURL("http://[::1]:4222")?.description == "http://[::1]:4222")
        #expect(NATSMonitorURL("http://a:4222")?.description == "http://a:4222")
        for text in ["", "a", "https://a", "http://", "http://u@a", "http://a,b", "http://a/?x", "http://a b"] {
            #expect(NATSMonitorURL(text) == nil, "\(text)")
        }
    }
}
