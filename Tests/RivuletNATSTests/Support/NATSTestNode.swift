// Owns a connection to NATS on a loop of its own, as a node has it.

import Foundation
import Logging
import RivuletCluster
import RivuletEventLoop
import RivuletNATS
import Synchronization

/// A node's connection with its log, records, bus and setup.
final class NATSTestNode: @unchecked Sendable {
    // SAFETY: the contracts' objects are used on the loop only, within `call` and `onLoop`.
    let nats: NATSLoop
    let prefix: String
    let connection: NATSConnection
    let names: NATSNames
    let log: NATSPartitionLog
    let records: NATSRecords
    let bus: NATSBus
    let setup: NATSSetup
    private let thread: LoopThread

    private static let prefixes = Atomic<Int>(0)

    /// A prefix that no other test uses.
    static func nextPrefix() -> String { "t\(prefixes.add(1, ordering: .relaxed).newValue)" }

    init(
        _ servers: [NATSServer],
        prefix: String = nextPrefix(),
        credentials: NATSCredentials = .none,
        logger: Logger = Logger(label: "nats", factory: { _ in SwiftLogNoOpLogHandler() }),
        limits: NATSLimits = NATSLimits(),
        logLimits: NATSLogLimits = NATSLogLimits()
    ) throws {
        nats = try NATSLoop(index: 0)
        self.prefix = prefix
        names = NATSNames(prefix: prefix)
        var options = NATSOptions(servers: servers, credentials: credentials, name: "test \(prefix)")
        (options.limits, options.isShuffled) = (limits, false)
        connection = NATSConnection(on: nats, options: options, logger: logger)
        log = NATSPartitionLog(connection: connection, names: names, survivesPowerLoss: true, limits: logLimits)
        records = NATSRecords(connection: connection, names: names)
        bus = NATSBus(connection: connection, names: names, cluster: "c1")
        setup = NATSSetup(connection: connection, names: names)
        thread = try nats.start()
        nats.loop.post { [connection] in connection.start() }
    }

    func stop() {
        nats.loop.post { [nats, connection] in
            connection.stop()
            nats.loop.stop()
        }
        thread.join()
    }

    /// Calls a function of the contracts on the loop, and waits for its reply.
    func call<Value: Sendable>(
        _ body: @escaping @Sendable (NATSTestNode, @escaping (Value) -> Void) -> Void
    ) async -> Value {
        await withCheckedContinuation { continuation in
            nats.loop.post { body(self) { continuation.resume(returning: $0) } }
        }
    }

    /// Calls a closure on the loop.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (NATSTestNode) -> Value) async -> Value {
        await call { node, reply in reply(body(node)) }
    }

    /// Waits until there is a connection.
    func connected() async {
        _ = await call { (node, reply: @escaping (Bool) -> Void) in
            if node.connection.isConnected { return reply(true) }
            let isWaiting = Once()
            node.connection.observe { isConnected in
                if isConnected, isWaiting.take() { reply(true) }
            }
        }
    }

    /// Creates the cluster of the prefix, again until the servers have elected a leader.
    func create(replicas: Int = 1) async throws -> ClusterFacts {
        await connected()
        let facts = ClusterFacts(id: "c1", created: "2026-01-01T00:00:00Z", secretFingerprint: "f", replicas: replicas)
        while true {
            switch await call({ node, reply in node.setup.create(facts, reply: reply) }) {
            case .success: return facts
            case .failure(.unavailable): continue
            case .failure(let error): throw error
            }
        }
    }

    // MARK: Calls

    func append(_ text: String, after position: UInt64) async -> LogAppendOutcome {
        await append(Array(text.utf8), after: position)
    }

    func append(_ bytes: [UInt8], after position: UInt64) async -> LogAppendOutcome {
        await call { node, reply in
            node.log.append(bytes, to: .first, after: LogPosition(rawValue: position), reply: reply)
        }
    }

    func read(after position: UInt64) async throws -> [LoggedMessage] {
        try await call { node, reply in
            node.log.read(.first, after: LogPosition(rawValue: position), reply: reply)
        }.get()
    }

    func ends() async throws -> LogEnds {
        try await call { node, reply in node.log.ends(of: .first, reply: reply) }.get()
    }

    func cut(before position: UInt64) async throws {
        try await call { node, reply in
            node.log.cut(.first, before: LogPosition(rawValue: position), reply: reply)
        }.get()
    }

    func put(_ text: String, as name: String, after revision: UInt64) async -> RecordOutcome {
        await call { node, reply in node.records.put(Array(text.utf8), as: name, after: revision, reply: reply) }
    }

    func record(_ name: String) async throws -> ClusterRecord? {
        try await call { node, reply in node.records.record(name, reply: reply) }.get()
    }

    /// Changes the JSON configuration of a stream behind the node's back, or calls another function of the API.
    func api(_ name: String, _ json: String) async -> String {
        await call { node, reply in
            node.connection.request("$JS.API.\(name)", payload: Array(json.utf8), within: .seconds(5)) { outcome in
                if case .answer(let message) = outcome {
                    reply(String(decoding: message.payload, as: UTF8.self))
                } else {
                    reply("\(outcome)")
                }
                return true
            }
        }
    }
}

/// True once.
final class Once {
    private var isTaken = false

    func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }
}

extension LogPosition: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: UInt64) { self.init(rawValue: value) }
}
