// Callers, tickets, revocations and limits in a cluster.

import Foundation
import RivuletAuth
import RivuletCluster
import RivuletHTTP
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

@Suite final class ClusterCallersTests {
    private let fixture: ClusterFixture

    init() throws { fixture = try ClusterFixture() }

    private static let everything =
        #"{"actions": ["*", "operate"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"]}"#

    /// Starts nodes that ask for API keys, and returns two keys, the first of which may do everything.
    private func start(
        _ names: [String],
        change: @escaping (inout ServerOptions) -> Void = { _ in }
    ) async throws -> [String] {
        let (path, keys) = try fixture.keys([
            Self.everything, #"{"actions": ["read"], "app": "tally", "sessions": ["key:*", "s"]}"#,
        ])
        try await fixture.start(names) { options in
            options.credentials = CredentialFiles(apiKeys: path)
            change(&options)
        }
        return keys
    }

    private static func bearer(_ key: String) -> String { "Authorization: Bearer \(key)" }

    private static let events = "/v1/apps/tally/sessions/s/events"

    // MARK: - Permissions

    @Test func `the owner decides about permissions again`() async throws {
        let keys = try await start(["a", "b"])
        let node = try fixture["b"]
        let (all, reader) = (Self.bearer(keys[0]), Self.bearer(keys[1]))
        #expect(await node.ask("POST", Self.events, #"{"add":1}"#, all).status == 200)
        #expect(await node.ask("GET", "/v1/apps/tally/sessions/s/state/p/count", "", reader).body == "1")
        #expect(await node.ask("POST", Self.events, #"{"add":1}"#, reader).status == 403)
        #expect(await node.ask("GET", Self.events).status == 401)
        #expect(await node.ask("GET", Self.events, "", Self.bearer("x")).field("WWW-Authenticate") != nil)
        #expect(fixture.cluster.sent.count { $0.kind == .request } == 2)
        // A request that the other node did not check is checked here.
        fixture.cluster.pause()
        async let answer = node.ask("GET", Self.events, "", all)
        await fixture.cluster.wait(for: 3, .request)
        let message = try #require(fixture.cluster.sent.last { $0.kind == .request })
        fixture.cluster.resume()
        #expect(await answer.status == 200)
        let forged = Self.replacing(keys[0], by: "x" + keys[0].dropFirst(), in: message.bytes)
        let count = fixture.cluster.sent.count { $0.kind == .answer }
        fixture.cluster.send(TestCluster.Message(bytes: forged, sender: "b", receiver: "a"))
        await fixture.cluster.wait(for: count + 1, .answer)
        let parts = fixture.cluster.sent.last { $0.kind == .answer }
        let content = try #require(parts.flatMap { PeerMessage($0.bytes) }?.part)
        #expect(try ForwardedAnswer(Array(content)).response.status.code == 401)
    }

    private static func replacing(_ text: String, by other: String, in bytes: [UInt8]) -> [UInt8] {
        guard let range = bytes.firstRange(of: Array(text.utf8)) else { return bytes }
        return bytes[..<range.lowerBound] + Array(other.utf8) + bytes[range.upperBound...]
    }

    @Test func `a caller has one name on all nodes, and only the owner writes the secret of names`() async throws {
        let keys = try await start(["a", "b", "c"])
        var names: Set<String> = []
        for name in ["a", "b", "c"] {
            names.insert(try await fixture[name].ask("GET", "/v1/me", "", Self.bearer(keys[0])).body)
        }
        #expect(names.count == 1)
        #expect(try fixture["a"].replica.commits == 1)
        #expect(try fixture["b"].replica.commits == 0 && fixture["c"].replica.commits == 0)
    }

    // MARK: - Revocations

    @Test func `a revocation is in force on all nodes, and ends their streams`() async throws {
        let keys = try await start(["a", "b", "c"])
        let id = String(keys[1].dropFirst(4).prefix(8))
        let reader = Self.bearer(keys[1])
        let target = "/v1/apps/tally/sessions/s/state"
        for name in ["a", "b", "c"] { #expect(try await fixture[name].ask("GET", target, "", reader).status == 200) }
        let stream = try TestStream(fixture["a"], "/v1/apps/tally/sessions/s/changes", reader)
        #expect(await stream.has("event: snapshot"))
        let made = try await fixture["b"].ask("POST", "/v1/revocations", #"{"key":"\#(id)"}"#, Self.bearer(keys[0]))
        #expect(made.status == 201)
        for name in ["a", "b", "c"] {
            while try await fixture[name].ask("GET", target, "", reader).status != 401 { await Task.yield() }
        }
        #expect(await stream.has(#""reason":"revoked""#))
        let location = try #require(made.field("Location"))
        #expect(try await fixture["c"].ask("DELETE", location, "", Self.bearer(keys[0])).status == 204)
        for name in ["a", "b", "c"] {
            while try await fixture[name].ask("GET", target, "", reader).status != 200 { await Task.yield() }
        }
        // A node that becomes the owner has all of them.
        _ = try await fixture["b"].ask("POST", "/v1/revocations", #"{"key":"\#(id)"}"#, Self.bearer(keys[0]))
        fixture.cluster.setOwner("c")
        #expect(try await fixture["c"].ask("GET", target, "", reader).status == 401)
    }

    // MARK: - Tickets

    /// Makes a ticket at a node.
    private func ticket(at name: String, _ key: String, _ stream: String) async throws -> String {
        let answer = try await fixture[name].ask("POST", "/v1/tickets", #"{"stream":"\#(stream)"}"#, Self.bearer(key))
        let text = answer.body.split(separator: "\"").map(String.init)
        let index = try #require(text.firstIndex(of: "ticket"), "\(answer)")
        return text[index + 2]
    }

    @Test func `a ticket of one node opens a stream on another node, once`() async throws {
        let keys = try await start(["a", "b"])
        let target = "/v1/apps/tally/sessions/s/changes"
        let ticket = try await ticket(at: "b", keys[1], target)
        #expect(ticket.hasPrefix("b."))
        let wrong = try await fixture["a"].ask("GET", "/v1/apps/tally/sessions/other/changes?ticket=\(ticket)")
        #expect(wrong.status == 401)
        let stream = try TestStream(fixture["a"], "\(target)?ticket=\(ticket)")
        #expect(await stream.has("event: snapshot"))
        for name in ["a", "b"] {
            #expect(try await fixture[name].ask("GET", "\(target)?ticket=\(ticket)").status == 401)
        }
        for message in fixture.cluster.sent {
            #expect(message.bytes.firstRange(of: Array(ticket.utf8)) == nil)
            #expect(message.bytes.firstRange(of: Array(keys[1].utf8)) == nil)
        }
    }

    @Test func `a ticket of a node that does not answer is refused`() async throws {
        let keys = try await start(["a", "b"]) { $0.clusterTimes.ticketMax = 50 }
        let target = "/v1/apps/tally/sessions/s/changes"
        let ticket = try await ticket(at: "b", keys[0], target)
        fixture.cluster.lose { $0.receiver == "b" }
        #expect(try await fixture["a"].ask("GET", "\(target)?ticket=\(ticket)").status == 401)
        #expect(try await fixture["a"].ask("GET", "\(target)?ticket=z.\(ticket)").status == 401)
    }

    // MARK: - Limits

    @Test func `limits count at the node that takes a request, and not at the owner`() async throws {
        let path = fixture.write(
            Array(
                #"{"dispatches": {"quota": 3, "window": 3600, "burst": 3}, "sessions-created": {"quota": 2, "window": 3600, "burst": 2}}"#
                    .utf8
            ),
            to: "limits.json"
        )
        try await fixture.start { $0.rateLimits = .file(path) }
        let (owner, standby) = try (fixture["a"], fixture["b"])
        let event = #"{"add":1}"#
        #expect(await standby.ask("POST", Self.events, event).status == 200)
        #expect(await standby.ask("PUT", "/v1/apps/tally/sessions/t").status == 201)
        // An existing session is not created, and no further one may be.
        #expect(await standby.ask("PUT", "/v1/apps/tally/sessions/t").status == 200)
        let refused = await standby.ask("PUT", "/v1/apps/tally/sessions/u")
        #expect(refused.status == 429 && refused.body.contains("sessions-created"))
        #expect(await standby.ask("POST", Self.events, "[\(event),\(event)]").status == 200)
        let limited = await standby.ask("POST", Self.events, event)
        #expect(limited.status == 429 && limited.body.contains("dispatches"))
        // The quota of the owner is untouched.
        #expect(await owner.ask("POST", Self.events, "[\(event),\(event),\(event)]").status == 200)
        #expect(await owner.ask("PUT", "/v1/apps/tally/sessions/u").status == 201)
        #expect(await owner.ask("PUT", "/v1/apps/tally/sessions/v").status == 201)
        #expect(await owner.ask("PUT", "/v1/apps/tally/sessions/w").status == 429)
    }

    @Test func `the client's address at the owner is the one that the other node has found`() async throws {
        try await fixture.start { $0.trustedProxies = ["127.0.0.0/8"] }
        _ = try await fixture["b"].ask(
            "GET",
            Self.events,
            "",
            "X-Forwarded-For: 203.0.113.7",
            "X-Forwarded-Proto: https"
        )
        let message = try #require(fixture.cluster.sent.first { $0.kind == .request }.flatMap { PeerMessage($0.bytes) })
        let forwarded = try ForwardedRequest(Array(message.part))
        #expect("\(forwarded.facts.address)" == "203.0.113.7")
        #expect(!String(decoding: forwarded.bytes, as: UTF8.self).contains("forwarded"))
    }
}

/// A stream that stays open.
final class TestStream: Sendable {
    private struct State {
        var text = ""
        var isClosed = false
        var waiter: (text: String, continuation: CheckedContinuation<Bool, Never>)?
        var connection: MemoryConnection?
    }

    private let state = Mutex(State())

    init(_ node: TestNode, _ target: String, _ fields: String...) {
        let connection = node.server.connect { [weak self] bytes in self?.take(bytes) }
        let lines =
            ["GET \(target) HTTP/1.1", "Host: localhost", "Connection: close", "Accept: text/event-stream"] + fields
        connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        state.withLock { $0.connection = connection }
    }

    deinit { state.withLock { $0.connection?.close() } }

    private func take(_ bytes: [UInt8]?) {
        let done = state.withLock { state -> (CheckedContinuation<Bool, Never>, Bool)? in
            if let bytes { state.text += String(decoding: bytes, as: UTF8.self) } else { state.isClosed = true }
            guard let waiter = state.waiter else { return nil }
            let hasText = state.text.contains(waiter.text)
            guard hasText || state.isClosed else { return nil }
            state.waiter = nil
            return (waiter.continuation, hasText)
        }
        if let (continuation, hasText) = done { continuation.resume(returning: hasText) }
    }

    /// Waits until the stream has this text; false if it ends without it.
    func has(_ text: String) async -> Bool {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Bool? in
                if state.text.contains(text) { return true }
                if state.isClosed { return false }
                state.waiter = (text, continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
