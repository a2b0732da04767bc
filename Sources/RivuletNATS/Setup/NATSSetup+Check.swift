package import RivuletCluster
internal import RivuletEventLoop
internal import RivuletJSON

/// The outcome of a node's checks at its start.
package struct CheckedCluster: Hashable, Sendable {
    package let facts: ClusterFacts
    /// The names of the servers that have the streams, for `NATSMonitor`.
    package let servers: Set<String>

    package init(facts: ClusterFacts, servers: Set<String>) { (self.facts, self.servers) = (facts, servers) }
}

extension NATSSetup {
    /// The publishes of the self-test.
    static let racersMax = 16
    /// The scratch subjects of the self-test; nodes that start together mostly use different ones.
    static let scratchMax = 64

    /// Checks the streams' settings, and that NATS accepts one of many messages with the same expectation.
    ///
    /// The version of each server is checked when the connection is made.
    ///
    /// - Parameter reply: Gets `incompatible` with the remedy, or `unavailable`, after which the call may be made
    ///   again.
    package func check(_ reply: @escaping (Result<CheckedCluster, LogError>) -> Void) {
        if let problem = connection.problem, !connection.isConnected {
            return connection.nats.afterCall { reply(.failure(problem)) }
        }
        records.record(ClusterFacts.recordName) { [self] result in
            do throws(LogError) {
                guard let record = try result.get() else { throw Self.missing("the record `cluster`") }
                let facts = try ClusterFacts(record.value)
                guard facts.partitions == 1 else {
                    throw .incompatible(detail: "The cluster has \(facts.partitions) partitions. Upgrade this node.")
                }
                checkStreams(settings(replicas: facts.replicas)[...], []) { [self] result in
                    switch result {
                    case .failure(let error): reply(.failure(error))
                    case .success(let servers):
                        testExpectations(triesLeft: Self.triesMax) { error in
                            if let error { return reply(.failure(error)) }
                            reply(.success(CheckedCluster(facts: facts, servers: servers)))
                        }
                    }
                }
            } catch {
                reply(.failure(error))
            }
        }
    }

    private static func missing(_ name: String) -> LogError {
        .incompatible(
            detail: """
                NATS does not have \(name). For a new cluster run `rivulet cluster init`. An existing cluster has lost \
                it: restore a backup of NATS, or run `rivulet cluster reseed --from NODE`.
                """
        )
    }

    private func checkStreams(
        _ streams: ArraySlice<StreamSettings>,
        _ servers: Set<String>,
        _ reply: @escaping (Result<Set<String>, LogError>) -> Void
    ) {
        guard let stream = streams.first else { return reply(.success(servers)) }
        jetStream.call("STREAM.INFO.\(stream.name)") { [self] result in
            switch result {
            case .failure(.error(let error)) where error.code == JetStreamError.noStream:
                reply(.failure(Self.missing("the stream \(stream.name)")))
            case .failure(let failure): reply(.failure(failure.logError))
            case .success(let info):
                if let problem = stream.problem(in: info["config"] ?? .null) {
                    return reply(.failure(.incompatible(detail: problem)))
                }
                let cluster = info["cluster"]
                let others = cluster?["replicas"]?.elements ?? []
                let found = [cluster?["leader"]?.stringValue] + others.map { $0["name"]?.stringValue }
                checkStreams(streams.dropFirst(), servers.union(found.compactMap { $0 }), reply)
            }
        }
    }

    /// Publishes messages that all expect the same end of a scratch subject; NATS must accept exactly one.
    private func testExpectations(triesLeft: Int, _ reply: @escaping (LogError?) -> Void) {
        let subject = names.scratch(Int.random(in: 0..<Self.scratchMax))
        let query = JSONValue.members(["last_by_subj": .string(subject)])
        jetStream.message(names.recordStream, query) { [self] result in
            let last: UInt64
            switch result {
            case .failure(let failure): return reply(failure.logError)
            case .success(let message): last = message?.sequence ?? 0
            }
            var outcomes: [RecordOutcome] = []
            for number in 0..<Self.racersMax {
                let bytes = Array("\(number)".utf8)
                jetStream.publish(subject, after: last, bytes, within: JetStream.apiTime) { [self] result in
                    outcomes.append(RecordOutcome(result, of: names.recordStream))
                    guard outcomes.count == Self.racersMax else { return }
                    judge(outcomes, triesLeft: triesLeft, reply)
                }
            }
        }
    }

    private func judge(_ outcomes: [RecordOutcome], triesLeft: Int, _ reply: @escaping (LogError?) -> Void) {
        let winners = outcomes.count { if case .stored = $0 { true } else { false } }
        let isComplete = outcomes.allSatisfy { $0 != .unknown }
        guard winners <= 1 else {
            return reply(
                .incompatible(
                    detail: """
                        NATS accepted \(winners) of \(outcomes.count) messages that expect the same last message, so \
                        it would accept two owners. Upgrade all NATS servers to \(NATSVersion.least) or later.
                        """
                )
            )
        }
        if winners == 1, isComplete { return reply(nil) }
        // Another node has used the same subject, or the stream has no leader now.
        guard triesLeft > 1 else {
            return reply(.unavailable(detail: "NATS has not answered the self-test of \(outcomes.count) messages."))
        }
        connection.nats.loop.schedule(after: Self.pause) { [self] in
            testExpectations(triesLeft: triesLeft - 1, reply)
        }
    }
}
