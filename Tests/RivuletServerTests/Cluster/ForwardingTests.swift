// Sends requests to a node that is not the owner.

import Foundation
import RivuletCluster
import RivuletHTTP
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

@Suite final class ForwardingTests {
    private let fixture: ClusterFixture

    init() throws { fixture = try ClusterFixture() }

    private static let session = "/v1/apps/tally/sessions/s"

    // MARK: - Equality

    /// The requests of each resource: a method, a target, a body and a field.
    private static let requests: [(String, String, String, String)] = {
        var requests: [(String, String, String, String)] = []
        for resource in Resource.allCases where !resource.isStream && resource != .metrics && resource != .cluster {
            for method in resource.methods.list {
                requests.append((method.name, resource.examplePath, "", "Accept: */*"))
            }
        }
        let events = "\(session)/events"
        return requests + [
            ("POST", events, #"{"add":3}"#, "Prefer: return=minimal"), ("POST", events, #"{"add":3}"#, "X-A: b"),
            ("POST", events, #"[{"add":1},{"rename":""}]"#, "X-A: b"), ("POST", events, "{", "X-A: b"),
            ("POST", events, "{\"add\":1}\n\"x\"\n", "Content-Type: application/x-ndjson"),
            ("POST", events, #"{"add":1}"#, #"If-Match: "k3v9x0qa.1.0""#),
            ("POST", events, #"{"add":1}"#, #"Idempotency-Key: "k1""#),
            ("POST", events, #"{"add":1}"#, #"Idempotency-Key: "k1""#),
            ("POST", events, #"{"add":2}"#, #"Idempotency-Key: "k1""#),
            ("POST", "\(events)?strict=1", #"{"add":1000}"#, "X-A: b"),
            ("PUT", "\(session)/state/p/count", "5", "X-A: b"), ("PUT", "\(session)/state/p/ratio", "5", "X-A: b"),
            ("GET", "\(session)/state/p/count", "", "X-A: b"), ("GET", "\(session)/state?version=1", "", "X-A: b"),
            ("GET", "\(session)/state/p/none", "", "X-A: b"), ("HEAD", "\(session)/state", "", "X-A: b"),
            ("GET", "\(session)/state", "", "Accept-Encoding: gzip"), ("GET", events, "", "X-A: b"),
            ("GET", "\(events)?limit=1", "", "Accept: application/x-ndjson"), ("OPTIONS", events, "", "X-A: b"),
            ("GET", "/v1/apps/tally/sessions", "", "X-A: b"), ("GET", "/v1/apps/none/sessions", "", "X-A: b"),
            ("POST", "\(session)/fork", #"{"id":"f"}"#, "X-A: b"), ("GET", "/v1/apps/tally/sessions/f", "", "X-A: b"),
            ("POST", "\(session)/restore?version=1", "", "X-A: b"), ("DELETE", session, "", "X-A: b"),
            ("GET", "/v1/apps/tally/sessions/me/state", "", "X-A: b"),
            ("POST", "/v1/apps/tally/sessions/me/events", #"{"add":1}"#, "X-A: b"),
            ("PUT", "/v1/apps/plot-1/values/flag", "true", "X-A: b"),
            ("POST", "/v1/apps/plot-1/values/flag/toggle", "", "X-A: b"),
            ("POST", "/v1/apps/plot-1/stores/plots", #"{"a":"1"}"#, "X-A: b"),
            ("GET", "/v1/apps/plot-1/stores/plots?limit=1", "", "X-A: b"),
            ("DELETE", "/v1/apps/plot-1/stores/plots", "", "X-A: b"),
            ("PUT", "/v1/apps/plot-1/secrets/token", #""x""#, "X-A: b"),
            ("POST", events, #"{"add":1}"#, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            ("POST", events, "{", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ]
    }()

    @Test(arguments: ["1.1", "1.0"])
    func `every request to a standby gets the answer of the owner`(_ version: String) async throws {
        try await fixture.start(messageBytesMax: 300)
        let other = try ClusterFixture()
        try await other.start()
        for (method, target, body, field) in Self.requests {
            let atOwner = try await other["a"].ask(method, target, body, field, version: version)
            let atStandby = try await fixture["b"].ask(method, target, body, field, version: version)
            #expect(atStandby.comparable == atOwner.comparable, "\(method) \(target) \(body)")
        }
        #expect(try fixture["b"].replica.commits == 0)
        #expect(fixture.cluster.sent.contains { $0.kind == .request })
    }

    @Test func `requests ahead of their answers are answered in order on one connection`() async throws {
        try await fixture.start()
        let host = "HTTP/1.1\r\nHost: localhost\r\n"
        let body = #"{"add":1}"#
        let post =
            "POST \(Self.session)/events \(host)Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let get = "GET \(Self.session)/state/p/count \(host)"
        let text = try await fixture["b"].server.exchange(
            post + get + "\r\n" + post + get + "Connection: close\r\n\r\n"
        )
        let bodies = text.components(separatedBy: "HTTP/1.1 200 OK").dropFirst().map { $0.suffix(1) }
        #expect(bodies.count == 4 && bodies[1] == "1" && bodies[3] == "2")
    }

    @Test func `a chunked body arrives whole at the owner, in many messages`() async throws {
        try await fixture.start(messageBytesMax: 64)
        let title = String(repeating: "t", count: 3_000)
        let body = #"{"rename":"\#(title)"}"#
        let text =
            "POST \(Self.session)/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
        #expect(try await fixture["b"].server.exchange(text).hasPrefix("HTTP/1.1 200"))
        #expect(try await fixture["a"].ask("GET", "\(Self.session)/state/p/title").body == "\"\(title)\"")
    }

    @Test func `a browser keeps its session on all nodes, and its cookie is set once`() async throws {
        try await fixture.start(["a", "b", "c"])
        let target = "/v1/apps/tally/sessions/me/events"
        let first = try await fixture["b"].ask("POST", target, #"{"add":1}"#)
        let cookie = try #require(first.field("Set-Cookie")?.split(separator: ";").first)
        #expect(first.status == 200 && first.field("Vary")?.contains("Cookie") == true)
        for (node, count) in [("c", 2), ("a", 3), ("b", 4)] {
            let next = try await fixture[node].ask("POST", target, #"{"add":1}"#, "Cookie: \(cookie)")
            #expect(next.status == 200 && next.field("Set-Cookie") == nil)
            let state = try await fixture["b"].ask(
                "GET",
                "/v1/apps/tally/sessions/me/state/p/count",
                "",
                "Cookie: \(cookie)"
            )
            #expect(state.body == "\(count)")
        }
    }

    // MARK: - Owners

    @Test func `a retry with its key at another node gets the first answer`() async throws {
        try await fixture.start(["a", "b", "c"])
        let key = #"Idempotency-Key: "k1""#
        let first = try await fixture["b"].ask("POST", "\(Self.session)/events", #"{"add":1}"#, key)
        fixture.cluster.setOwner("c")
        fixture.cluster.settle()
        let second = try await fixture["a"].ask("POST", "\(Self.session)/events", #"{"add":1}"#, key)
        #expect(first.status == 200 && second.status == 200 && first.body == second.body)
        #expect(second.field("Idempotency-Replayed") == "true")
    }

    @Test func `without an owner a request waits, and then nothing has changed`() async throws {
        try await fixture.start(owner: nil) { $0.clusterTimes.waitMax = 50 }
        let node = try fixture["b"]
        let answer = await node.ask("POST", "\(Self.session)/events", #"{"add":1}"#)
        #expect(answer.status == 503 && answer.body.contains("/problems/owner-unavailable"))
        #expect(answer.field("Retry-After") == "1")
        #expect(await node.metric(#"rivulet_cluster_forwarded_total{outcome="unavailable"}"#) == "1")
        #expect(await node.metric("rivulet_cluster_waiting") == "0")
        #expect(await node.ask("GET", "/v1/apps").status == 200)
    }

    @Test func `a request that waits is performed by the next owner, here or elsewhere`() async throws {
        try await fixture.start(["a", "b", "c"], owner: nil)
        let nodes = try [fixture["b"], fixture["c"]]
        async let first = nodes[0].ask("POST", "\(Self.session)/events", #"{"add":1}"#)
        async let second = nodes[1].ask("POST", "\(Self.session)/events", #"{"add":1}"#)
        while await nodes[0].metric("rivulet_cluster_waiting") != "1" { await Task.yield() }
        while await nodes[1].metric("rivulet_cluster_waiting") != "1" { await Task.yield() }
        fixture.cluster.setOwner("c")
        #expect(await first.status == 200)
        #expect(await second.status == 200)
        #expect(await nodes[0].ask("GET", "\(Self.session)/state/p/count").body == "2")
    }

    @Test func `an owner without a lease hands out nothing, and continues with it`() async throws {
        try await fixture.start { $0.clusterTimes.waitMax = 50 }
        let (owner, standby) = try (fixture["a"], fixture["b"])
        #expect(await owner.ask("POST", "\(Self.session)/events", #"{"add":1}"#).status == 200)
        owner.member.setLease(false)
        for node in [owner, standby] {
            for target in ["\(Self.session)/state", "/v1/apps/plot-1/values/flag", "/v1/apps/tally/sessions"] {
                let answer = await node.ask("GET", target)
                #expect(answer.status == 503 && answer.body.contains("owner-unavailable"), "\(target)")
            }
        }
        owner.member.setLease(true)
        #expect(await standby.ask("GET", "\(Self.session)/state/p/count").body == "1")
    }

    @Test func `a node that is not the owner any more does not take a request, and the next owner does`() async throws {
        try await fixture.start(["a", "b", "c"])
        let node = try fixture["b"]
        fixture.cluster.pause()
        async let answer = node.ask("POST", "\(Self.session)/events", #"{"add":1}"#)
        await fixture.cluster.wait(for: 1, .request)
        // The edge is told of the new owner last.
        try fixture["a"].member.setRole(.standby)
        fixture.cluster.settle()
        fixture.cluster.resume()
        await fixture.cluster.wait(for: 1, .moved)
        fixture.cluster.setOwner("c")
        let first = await answer
        #expect(first.status == 200, "\(first)")
        #expect(await node.ask("GET", "\(Self.session)/state/p/count").body == "1")
        #expect(try await fixture["a"].metric("rivulet_cluster_moved_total") != "0")
    }

    @Test func `a dispatch without an answer is not sent again, and its outcome is not known`() async throws {
        try await fixture.start(["a", "b", "c"]) { $0.clusterTimes.answerMax = 50 }
        fixture.cluster.lose { $0.kind == .answer }
        let node = try fixture["b"]
        let key = #"Idempotency-Key: "k1""#
        let answer = await node.ask("POST", "\(Self.session)/events", #"{"add":1}"#, key)
        #expect(answer.status == 503 && answer.body.contains("/problems/outcome-unknown"))
        #expect(answer.field("Retry-After") == "1")
        #expect(fixture.cluster.sent.count { $0.kind == .request } == 1)
        fixture.cluster.lose { _ in false }
        fixture.cluster.setOwner("c")
        fixture.cluster.settle()
        // The node that has the partition answers itself, also after the 50 ms.
        let owner = try fixture["c"]
        let retry = await owner.ask("POST", "\(Self.session)/events", #"{"add":1}"#, key)
        #expect(retry.status == 200 && retry.field("Idempotency-Replayed") == "true")
        #expect(await owner.ask("GET", "\(Self.session)/state/p/count").body == "1")
    }

    @Test func `a read without an answer is sent again once`() async throws {
        try await fixture.start { $0.clusterTimes.silenceMax = 50 }
        let lost = Mutex(0)
        fixture.cluster.lose { message in
            message.kind == .answer
                && lost.withLock { count in
                    count += 1
                    return count == 1
                }
        }
        #expect(try await fixture["b"].ask("GET", "\(Self.session)/state/p/count").body == "0")
        #expect(fixture.cluster.sent.count { $0.kind == .request } == 2)
    }

    @Test func `a read goes to the new owner at once, and a dispatch does not`() async throws {
        try await fixture.start(["a", "b", "c"]) { $0.clusterTimes.graceMax = 50 }
        fixture.cluster.lose { $0.receiver == "a" }
        let node = try fixture["b"]
        async let read = node.ask("GET", "\(Self.session)/state/p/count")
        async let write = node.ask("POST", "\(Self.session)/events", #"{"add":1}"#)
        await fixture.cluster.wait(for: 2, .request)
        fixture.cluster.setOwner("c")
        #expect(await read.body == "0")
        #expect(await write.body.contains("outcome-unknown"))
    }

    @Test func `an interrupted bus shortens the wait`() async throws {
        try await fixture.start { $0.clusterTimes.graceMax = 50 }
        fixture.cluster.lose { $0.kind == .answer }
        let node = try fixture["b"]
        async let write = node.ask("POST", "\(Self.session)/events", #"{"add":1}"#)
        await fixture.cluster.wait(for: 1, .answer)
        node.member.loseBus()
        #expect(await write.body.contains("outcome-unknown"))
        #expect(await node.metric("rivulet_cluster_bus_lost_total") == "1")
    }

    @Test func `owners that change at random never double a dispatch with a key`() async throws {
        try await fixture.start(["a", "b", "c"]) { options in
            options.clusterTimes.answerMax = 100
            options.clusterTimes.waitMax = 100
        }
        let count = Mutex<UInt64>(0)
        fixture.cluster.lose { _ in
            count.withLock { count in
                count += 1
                return count * 2_654_435_761 % 11 == 0
            }
        }
        let names = ["a", "b", "c"]
        for index in 0..<30 {
            fixture.cluster.setOwner(names[index / 3 % 3])
            var status = 0
            for attempt in 0..<40 where status != 200 {
                let node = try fixture[names[(index + attempt) % 3]]
                let answer = await node.ask(
                    "POST",
                    "/v1/apps/tally/sessions/r\(index)/events",
                    #"{"add":1}"#,
                    #"Idempotency-Key: "k""#
                )
                status = answer.status
                #expect([200, 409, 503].contains(status), "\(answer)")
            }
            #expect(status == 200)
        }
        fixture.cluster.lose { _ in false }
        for index in 0..<30 {
            #expect(try await fixture["b"].ask("GET", "/v1/apps/tally/sessions/r\(index)/state/p/count").body == "1")
        }
    }
}
