// Servers of one cluster in one process, and their answers.

import CounterFixture
import Foundation
import Logging
import RivuletAuth
import RivuletEngine
import RivuletJSON
import RivuletMetrics
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

/// A running node.
struct TestNode: Sendable {
    let member: TestMember
    let replica: TestReplica
    let server: RunningServer
    let registry: PrometheusRegistry

    /// Sends one request, and returns the answer of the server.
    func ask(
        _ method: String,
        _ target: String,
        _ body: String = "",
        _ fields: String...,
        version: String = "1.1"
    ) async -> TestAnswer {
        let lines = ["\(method) \(target) HTTP/\(version)", "Host: localhost", "Connection: close"] + fields
        let hasType = fields.contains { $0.lowercased().hasPrefix("content-type") }
        let type = body.isEmpty || hasType ? [] : ["Content-Type: application/json"]
        let content = body.isEmpty ? [] : type + ["Content-Length: \(body.utf8.count)"]
        return TestAnswer(await server.exchange((lines + content).joined(separator: "\r\n") + "\r\n\r\n\(body)"))
    }

    /// The value of a metric, by the text before it.
    func metric(_ line: String) async -> String? {
        let text = await ask("GET", "/metrics").text
        return text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(line + " ") }
            .map { String($0.dropFirst(line.count + 1)) }
    }
}

/// The text of one answer.
struct TestAnswer: Sendable, CustomStringConvertible {
    let text: String

    init(_ text: String) { self.text = text }

    var description: String { text }
    var status: Int { Int(text.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0 }
    var body: String { text.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n") }
    /// The lines of the head, after the status line.
    var fields: [String] {
        Array(text.components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n").dropFirst())
    }

    func field(_ name: String) -> String? {
        fields.first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }.map {
            String($0.dropFirst(name.count + 2))
        }
    }

    /// The text without what is random, or differs from one time to the next.
    var comparable: String {
        text.replacing(/Date: [^\r]*/, with: "Date")
            .replacing(/[a-z0-9]{8}\.\d+\.[0-9a-z]+(\.[0-9a-z]+)*/, with: "CURSOR")
            .replacing(/[a-z0-9]{8}\.\d+/, with: "CURSOR")
            .replacing(/\d{4}-\d\d-\d\dT[0-9:.]+Z/, with: "TIME")
            .replacing(/"epoch":"[a-z0-9]{8}"/, with: "EPOCH")
            .replacing(/traceparent: [0-9a-f-]*/, with: "TRACE")
            .replacing(/"trace_id":"[0-9a-f]{32}"/, with: "TRACE")
            .replacing(/rivulet-session=[^;]*/, with: "COOKIE")
            .replacing(/"(id|session)":"[A-Za-z0-9_-]{20,}"/, with: "ID")
            .replacing(/sessions\/[A-Za-z0-9_-]{20,}/, with: "ID")
    }
}

/// The nodes of a cluster, which end with the fixture.
final class ClusterFixture {
    let cluster: TestCluster
    private(set) var nodes: [String: TestNode] = [:]
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cluster-\(UUID())")

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        cluster = try TestCluster()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        for node in nodes.values { node.server.stop() }
        cluster.settle()
        cluster.engine.lifecycle.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts the nodes of these names, and makes one the owner, which serves when this returns.
    func start(
        _ names: [String] = ["a", "b"],
        owner: String? = "a",
        messageBytesMax: Int = 65_536,
        change: (inout ServerOptions) -> Void = { _ in }
    ) async throws {
        for name in names {
            let member = cluster.member(name, messageBytesMax: messageBytesMax)
            let replica = TestReplica(name, of: cluster)
            var options = ServerOptions(workers: 1, secretKey: try SecretKey(String(repeating: "07", count: 32)))
            options.rateLimits = .off
            options.cluster = member
            // Tests of a time set it.
            options.clusterTimes.waitMax = 60_000
            options.clusterTimes.answerMax = 60_000
            options.clusterTimes.silenceMax = 60_000
            options.clusterTimes.ticketMax = 60_000
            change(&options)
            let registry = PrometheusRegistry()
            let server = StateServer(options: options, storage: replica, logger: Self.logger, metrics: registry)
            try server.host(TallyApp())
            try server.host(OpenAPIDocumentTests.PlotApp())
            let running = try server.start(isListening: false, clock: ContinuousClock())
            nodes[name] = TestNode(member: member, replica: replica, server: running, registry: registry)
        }
        cluster.setOwner(owner)
        cluster.settle()
        guard let owner else { return }
        let gateway = try #require(try self[owner].member.gateway)
        while gateway.phase != .owner { await Task.yield() }
    }

    subscript(name: String) -> TestNode {
        get throws { try node(name) }
    }

    private func node(_ name: String) throws -> TestNode {
        guard let node = nodes[name] else { throw ServerError("there is no node \(name)") }
        return node
    }

    /// Forgets a node that has ended by itself.
    func forget(_ name: String) { nodes[name] = nil }

    /// Writes a file of API keys, and returns its path and the texts of the keys.
    func keys(_ grants: [String]) throws -> (path: String, keys: [String]) {
        var file = APIKeyFile()
        var random = SystemRandomNumberGenerator()
        let keys = try grants.map { grant in
            let grant = try JSONValue(parsing: Array(grant.utf8))
            return try file.add(name: "a", grants: [grant], expires: nil, using: &random).text
        }
        return (write(file.bytes, to: "keys.json"), keys)
    }

    /// Writes a file that only its owner reads, and returns its path.
    func write(_ bytes: [UInt8], to name: String) -> String {
        let path = folder.appendingPathComponent(name).path
        _ = FileManager.default.createFile(
            atPath: path,
            contents: Data(bytes),
            attributes: [.posixPermissions: 0o600]
        )
        return path
    }
}
