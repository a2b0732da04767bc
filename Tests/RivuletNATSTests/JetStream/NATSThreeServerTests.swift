import Foundation
import RivuletCluster
import RivuletNATS
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct NATSThreeServerTests {
    /// A reader that follows a log and reads what it has missed, as a standby does.
    private final class Reader: @unchecked Sendable {
        // SAFETY: used on the node's loop only.
        private let node: NATSTestNode
        private var messages: [LoggedMessage] = []
        private var isReading = false
        private let report: AsyncStream<[LoggedMessage]>.Continuation

        init(_ node: NATSTestNode, _ report: AsyncStream<[LoggedMessage]>.Continuation) {
            (self.node, self.report) = (node, report)
        }

        func follow() {
            node.log.follow(.first) { [self] message in
                let last = messages.last?.position ?? 0
                if message.previous == last { take([message]) } else if message.position > last { read() }
            } mayHaveMissed: { [self] in
                read()
            }
        }

        private func read() {
            guard !isReading else { return }
            isReading = true
            node.log.read(.first, after: messages.last?.position ?? 0) { [self] result in
                isReading = false
                if case .success(let found) = result, !found.isEmpty { take(found) }
            }
        }

        private func take(_ found: [LoggedMessage]) {
            for message in found where message.position > messages.last?.position ?? 0 {
                #expect(message.previous == messages.last?.position ?? 0)
                messages.append(message)
            }
            report.yield(messages)
        }
    }

    /// Appends a message as an owner does: an unknown outcome is resolved by the log's content.
    private func appendResolved(_ node: NATSTestNode, _ text: String, after last: UInt64) async throws -> UInt64 {
        while true {
            switch await node.append(text, after: last) {
            case .committed(let position): return position.rawValue
            case .refused(.unavailable), .unknown: await Task.yield()
            case .refused(let error): throw error
            case .moved:
                // Only this writer's own message can be there.
                let found = try await node.read(after: last)
                #expect(found.first?.bytes == Array(text.utf8))
                return try #require(found.first).position.rawValue
            }
        }
    }

    @Test func `the writer's server is killed, and every message is read once by all`() async throws {
        let cluster = try NATSTestServers(count: 3)
        // So long that a busy machine makes no outcome unknown.
        var limits = NATSLogLimits()
        limits.appendTime = .seconds(3)
        let writer = try NATSTestNode(cluster.list, logLimits: limits)
        // The reader begins with another server.
        let reader = try NATSTestNode(Array(cluster.list.reversed()), prefix: writer.prefix)
        defer {
            writer.stop()
            reader.stop()
        }
        let facts = try await writer.create(replicas: 3)
        let checked = try await writer.call { node, reply in node.setup.check(reply) }.get()
        #expect(checked == CheckedCluster(facts: facts, servers: ["n1", "n2", "n3"]))
        let monitored = try await writer.call { node, reply in
            NATSMonitor.check(cluster.monitors, of: checked.servers, on: node.nats, reply: reply)
        }.get()
        #expect(monitored.map(\.name) == ["n1", "n2", "n3"])
        let (reports, put) = AsyncStream.makeStream(of: [LoggedMessage].self)
        await reader.connected()
        await reader.onLoop { Reader($0, put).follow() }
        // Messages that race through the quorum: the losers learn where the log ends.
        let outcomes = await withTaskGroup(of: LogAppendOutcome.self) { group in
            for _ in 0..<16 { group.addTask { await writer.append("1", after: 0) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .committed(1) } == 1)
        #expect(outcomes.count { $0 == .moved(last: 1) } == 15)
        var last: UInt64 = 1
        for number in 2...20 { last = try await appendResolved(writer, "\(number)", after: last) }
        let name = await writer.onLoop { $0.connection.serverName }
        let killed = try #require(cluster.servers.first { "127.0.0.1:\($0.port)" == name })
        cluster.kill(killed)
        for number in 21...40 { last = try await appendResolved(writer, "\(number)", after: last) }
        #expect(await writer.onLoop { $0.connection.serverName } != name)
        for await messages in reports where messages.count == 40 {
            #expect(messages.map { String(decoding: $0.bytes, as: UTF8.self) } == (1...40).map { "\($0)" })
            break
        }
    }

    @Test func `an append to a leader that hangs is unknown, and its outcome is found later`() async throws {
        let cluster = try NATSTestServers(count: 3)
        let first = try NATSTestNode(cluster.list)
        _ = try await first.create(replicas: 3)
        #expect(try await appendResolved(first, "1", after: 0) == 1)
        let info = await first.api("STREAM.INFO.\(first.names.logStream(.first))", "")
        first.stop()
        let leader = try #require(cluster.servers.first { info.contains("\"leader\":\"\($0.name)\"") })
        let others = cluster.servers.filter { $0.name != leader.name }
        var limits = NATSLogLimits()
        limits.appendTime = .milliseconds(300)
        let node = try NATSTestNode(
            others.map { NATSServer(host: "127.0.0.1", port: $0.port) },
            prefix: first.prefix,
            logLimits: limits
        )
        defer { node.stop() }
        await node.connected()
        cluster.signal(leader, SIGSTOP)
        #expect(await node.append("2", after: 1) == .unknown)
        cluster.kill(leader)
        let last = try await appendResolved(node, "2", after: 1)
        #expect(try await node.read(after: 1).map(\.position.rawValue) == [last])
        #expect(try await node.ends().last.rawValue == last)
        // The records' stream may have lost its leader too, and finds another one.
        while (try? await node.record("a"))??.value != Array("1".utf8) { _ = await node.put("1", as: "a", after: 0) }
    }
}

/// Measures appends: `RIVULET_NATS_TIMINGS=1 Tests/run module NATS NATSTimings`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["RIVULET_NATS_TIMINGS"] != nil))
struct NATSTimings {
    @Test(arguments: [1, 3]) func `appends of 400 bytes, one after the other`(servers: Int) async throws {
        let cluster = try NATSTestServers(count: servers)
        let node = try NATSTestNode(cluster.list)
        defer { node.stop() }
        _ = try await node.create(replicas: servers)
        let times = await node.call { (node, reply: @escaping ([Duration]) -> Void) in
            let message = [UInt8](repeating: 7, count: 400)
            var times: [Duration] = []
            func next(_ position: LogPosition) {
                let start = ContinuousClock.now
                node.log.append(message, to: .first, after: position) { outcome in
                    guard case .committed(let position) = outcome, times.count < 1_000 else { return reply(times) }
                    times.append(ContinuousClock.now - start)
                    next(position)
                }
            }
            next(.start)
        }.sorted()
        #expect(times.count == 1_000)
        print("\(servers) servers: p50 \(times[times.count / 2]), p99 \(times[times.count * 99 / 100])")
    }
}
