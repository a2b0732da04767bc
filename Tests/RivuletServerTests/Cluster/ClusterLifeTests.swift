// The life of a node: readiness, the description of the cluster, the end of an owner, and malformed peers.

import Foundation
import RivuletCluster
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import SeededRandom
import Synchronization
import Testing

@testable import RivuletServer

@Suite final class ClusterLifeTests {
    private let fixture: ClusterFixture

    init() throws { fixture = try ClusterFixture() }

    private static let events = "/v1/apps/tally/sessions/s/events"

    // MARK: - Descriptions

    @Test func `the cluster is described on each node`() async throws {
        try await fixture.start()
        fixture.cluster.change { standing in
            (standing.head, standing.applied) = (LogPosition(rawValue: 7), LogPosition(rawValue: 6))
            standing.nodes[1].state = .draining
        }
        let answer = try await fixture["b"].ask("GET", "/v1/cluster")
        #expect(
            answer.body
                == #"{"cluster":"test","node":"b","nodes":[{"name":"a","build":"1.0","state":"live","lease_seconds":10},"#
                + #"{"name":"b","build":"1.0","state":"draining","lease_seconds":10}],"#
                + #""partitions":[{"partition":0,"owner":"a","term":1,"head":7,"applied":6,"state":"open"}]}"#
        )
        fixture.cluster.setOwner(nil)
        #expect(try await fixture["a"].ask("GET", "/v1/cluster").body.contains(#""owner":null,"term":2"#))
        try fixture["a"].member.setRole(.halted("the log ends early; run cluster reseed"))
        #expect(try await fixture["a"].ask("GET", "/v1/cluster").body.contains(#""state":"halted""#))
    }

    @Test func `a server that is alone is in no cluster`() async throws {
        let server = StateServer(storage: MemoryStorageEngine())
        let running = try server.start(isListening: false, clock: ContinuousClock())
        defer { running.stop() }
        let text = await running.exchange("GET /v1/cluster HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(text.hasPrefix("HTTP/1.1 404") && text.contains("/problems/not-found"))
    }

    @Test func `a node is ready when it has joined, is connected and has applied the log`() async throws {
        try await fixture.start()
        let node = try fixture["b"]
        func readiness() async -> String {
            let answer = await node.ask("GET", "/readyz")
            return answer.status == 200 ? "ready" : answer.body
        }
        #expect(await readiness() == "ready")
        #expect(try await fixture["a"].ask("GET", "/readyz").status == 200)
        fixture.cluster.change { $0.isConnected = false }
        #expect(await readiness().contains("no connection to the log"))
        fixture.cluster.change { $0.isConnected = true }
        #expect(await readiness() == "ready")
        node.member.setRole(.joining)
        #expect(await readiness().contains("not joined"))
        node.member.setRole(.standby)
        #expect(await readiness() == "ready")
        fixture.cluster.change { $0.nodes[1].state = .draining }
        #expect(await readiness().contains("leaves its cluster"))
        #expect(await node.ask("GET", "/healthz").status == 200)
    }

    @Test func `a node may be behind the log for a second`() {
        var mark = HeadMark()
        var standing = ClusterStanding(role: .standby)
        func at(_ now: UInt64, head: UInt64, applied: UInt64) -> Bool {
            (standing.head, standing.applied) = (LogPosition(rawValue: head), LogPosition(rawValue: applied))
            return mark.look(standing, now: now)
        }
        #expect(at(0, head: 10, applied: 5))
        #expect(at(999, head: 20, applied: 9))
        #expect(!at(1_000, head: 20, applied: 9))
        #expect(!at(5_000, head: 20, applied: 9))
        #expect(at(5_001, head: 20, applied: 10))
        #expect(at(6_000, head: 30, applied: 20))
        #expect(at(9_000, head: 30, applied: 30))
    }

    // MARK: - Ends

    @Test func `a halted node answers about itself only, and names the remedy in its log and its readiness`()
        async throws
    {
        try await fixture.start()
        let node = try fixture["b"]
        node.member.setRole(.halted("the log ends early; run cluster reseed"))
        fixture.cluster.settle()
        #expect(await node.ask("GET", "/healthz").status == 200)
        #expect(await node.ask("GET", "/v1/cluster").status == 200)
        let readiness = await node.ask("GET", "/readyz")
        #expect(readiness.status == 503 && readiness.body.contains("run cluster reseed"))
        for target in ["/v1/apps", "/v1/streams", "/openapi.json", "/problems", "/v1/apps/tally/sessions/s/state"] {
            let answer = await node.ask("GET", target)
            #expect(answer.status == 503 && answer.body.contains("/problems/node-halted"), "\(target)")
            #expect(!answer.body.contains("reseed"))
        }
    }

    @Test func `a deposed node ends, and says that the process begins again`() async throws {
        try await fixture.start()
        let node = try fixture["a"]
        #expect(await node.ask("POST", Self.events, #"{"add":1}"#).status == 200)
        node.member.setRole(.deposed)
        #expect(throws: DeposedError.self) { try node.server.join() }
        fixture.forget("a")
    }

    @Test func `an owner that stops gives the partition up first, and passes requests on meanwhile`() async throws {
        try await fixture.start()
        let (owner, standby) = try (fixture["a"], fixture["b"])
        #expect(await owner.ask("POST", Self.events, #"{"add":1}"#).status == 200)
        let leaving = Task.detached { owner.server.leaveAndStop() }
        while owner.member.drains == 0 { await Task.yield() }
        #expect(await owner.ask("GET", "/readyz").body.contains("leaves its cluster"))
        fixture.cluster.setOwner("b")
        fixture.cluster.settle()
        #expect(await owner.ask("POST", Self.events, #"{"add":1}"#).status == 200)
        #expect(await standby.ask("GET", "/v1/apps/tally/sessions/s/state/p/count").body == "2")
        owner.member.endDrain()
        await leaving.value
        fixture.forget("a")
    }

    // MARK: - Peers

    @Test func `messages of a malformed peer never end a node`() async throws {
        try await fixture.start(["a", "b", "c"], messageBytesMax: 200)
        let node = try fixture["b"]
        let body = #"{"rename":"\#(String(repeating: "t", count: 500))"}"#
        #expect(await node.ask("POST", Self.events, body).status == 200)
        #expect(await node.ask("GET", "/v1/apps/tally/sessions/s/state").status == 200)
        let messages = fixture.cluster.sent
        var random = SeededGenerator(seed: 7)
        for _ in 0..<3_000 {
            guard let message = messages.randomElement(using: &random) else { break }
            var bytes = message.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
                case 1 where !bytes.isEmpty:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                case 2 where !bytes.isEmpty: bytes[0] = .random(in: 30...45, using: &random)
                default: bytes.append(.random(in: 0...255, using: &random))
                }
            }
            let receiver = ["a", "b"].randomElement(using: &random) ?? "a"
            fixture.cluster.send(TestCluster.Message(bytes: bytes, sender: "c", receiver: receiver))
        }
        fixture.cluster.settle()
        #expect(await node.ask("POST", Self.events, #"{"add":1}"#).status == 200)
    }

    @Test func `an answer of another node than the asked one is ignored`() async throws {
        try await fixture.start(["a", "b", "c"])
        let node = try fixture["b"]
        fixture.cluster.pause()
        async let answer = node.ask("GET", "/v1/apps/tally/sessions/s/state/p/count")
        await fixture.cluster.wait(for: 1, .request)
        let request = try #require(fixture.cluster.sent.first { $0.kind == .request })
        let number = try #require(PeerMessage(request.bytes)?.number)
        let content = ForwardedAnswer(.json(Array("99".utf8)), []).content
        for bytes in PeerMessage.parts(.answer, number, content, bytesMax: 1_000) {
            fixture.cluster.send(TestCluster.Message(bytes: bytes, sender: "c", receiver: "b"))
        }
        fixture.cluster.resume()
        #expect(await answer.body == "0")
    }
}

@Suite struct PeerMessageTests {
    private static let peer = ClusterPeer(node: "a", incarnation: 1)

    @Test func `a content comes back from its parts, of any size`() throws {
        for bytes in [0, 1, 82, 83, 84, 1_000] {
            let content = (0..<bytes).map { UInt8(truncatingIfNeeded: $0) }
            let parts = PeerMessage.parts(.answer, 7, content, bytesMax: 100)
            #expect(parts.allSatisfy { $0.count <= 100 })
            var assembly = MessageAssembly(bytesMax: 10_000)
            var whole: [UInt8]?
            for part in parts {
                let message = try #require(PeerMessage(part))
                #expect(message.kind == .answer && message.number == 7)
                if case .complete(let content) = assembly.add(message, from: Self.peer, now: 0) { whole = content }
            }
            #expect(whole == content && assembly.bytes == 0)
        }
    }

    @Test func `a lost part loses its content, and late parts are dropped`() throws {
        let parts = PeerMessage.parts(.request, 1, Array(repeating: 1, count: 300), bytesMax: 117)
            .compactMap { PeerMessage($0) }
        var assembly = MessageAssembly(bytesMax: 1_000)
        _ = assembly.add(parts[0], from: Self.peer, now: 0)
        guard case .lost = assembly.add(parts[2], from: Self.peer, now: 0) else { throw MalformedMessageError() }
        #expect(assembly.bytes == 0)
        _ = assembly.add(parts[0], from: Self.peer, now: 0)
        assembly.dropLate(MessageAssembly.timeMax - 1)
        #expect(assembly.bytes == 100)
        assembly.dropLate(MessageAssembly.timeMax)
        #expect(assembly.bytes == 0)
    }

    @Test func `contents without room are refused`() throws {
        let parts = PeerMessage.parts(.request, 1, Array(repeating: 1, count: 300), bytesMax: 117)
            .compactMap { PeerMessage($0) }
        var assembly = MessageAssembly(bytesMax: 150)
        _ = assembly.add(parts[0], from: Self.peer, now: 0)
        guard case .full = assembly.add(parts[1], from: Self.peer, now: 0) else { throw MalformedMessageError() }
        #expect(assembly.bytes == 0)
    }

    @Test func `an answer with a field that would split it is malformed`() throws {
        var response = Response(.ok, fields: [HTTPField("X-A", "b")], body: Array("body".utf8))
        response.isCoded = true
        let content = ForwardedAnswer(response, [.problem, .created]).content
        let read = try ForwardedAnswer(content)
        #expect(read.response.fields == response.fields && read.response.body.bytes == Array("body".utf8))
        #expect(read.response.isCoded && read.flags == [.problem, .created])
        for count in 0..<17 {
            #expect(throws: MalformedMessageError.self) { try ForwardedAnswer(Array(content.prefix(count))) }
        }
        let index = try #require(content.firstIndex(of: UInt8(ascii: "b")))
        var split = content
        split[index] = UInt8(ascii: "\n")
        #expect(throws: MalformedMessageError.self) { try ForwardedAnswer(split) }
        let framed = ForwardedAnswer(Response(.ok, fields: [HTTPField("Content-Length", "9")]), []).content
        #expect(throws: MalformedMessageError.self) { try ForwardedAnswer(framed) }
    }
}
