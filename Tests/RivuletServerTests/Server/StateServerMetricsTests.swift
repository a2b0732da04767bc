// Checks the destination of a server's metrics: its own registry, a registry of the program, or another backend.

import CoreMetrics
import CounterFixture
import RivuletMetrics
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

@Suite struct StateServerMetricsTests {
    private func start(_ metrics: any MetricsFactory = PrometheusRegistry()) throws -> RunningServer {
        let server = StateServer(storage: MemoryStorageEngine(), metrics: metrics)
        try server.host(TallyApp())
        return try server.start(isListening: false, clock: ContinuousClock())
    }

    /// The complete answer of the server to one request.
    private func get(_ target: String, from server: RunningServer) async -> String {
        await server.exchange("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    }

    @Test func `two servers of one process have separate metrics`() async throws {
        let (first, second) = (try start(), try start())
        defer {
            first.stop()
            second.stop()
        }
        for _ in 0..<3 { _ = await get("/healthz", from: first) }
        let line = #"rivulet_requests_total{method="get",status="2xx"} "#
        #expect(await get("/metrics", from: first).contains(line + "3\n"))
        #expect(await get("/metrics", from: second).contains(line + "0\n"))
    }

    @Test func `a program's own metrics in the server's registry are in the same answer`() async throws {
        let registry = PrometheusRegistry()
        let server = try start(registry)
        defer { server.stop() }
        Counter(label: "orders_total", dimensions: [("kind", "book")], factory: registry).increment(by: 4)
        let answer = await get("/metrics", from: server)
        #expect(answer.contains("orders_total{kind=\"book\"} 4\n"))
        #expect(answer.contains("rivulet_connections_accepted_total 1\n"))
    }

    @Test func `with another metrics backend the server has no metrics resource`() async throws {
        let server = try start(NOOPMetricsHandler.instance)
        defer { server.stop() }
        #expect(await get("/metrics", from: server).hasPrefix("HTTP/1.1 404 "))
        #expect(await get("/healthz", from: server).hasPrefix("HTTP/1.1 200 "))
    }
}
