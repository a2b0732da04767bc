import RivuletCluster
import RivuletNATS
import Testing

@Suite(.timeLimit(.minutes(1))) struct NATSSetupTests {
    private func node() throws -> NATSTestNode { try NATSTestNode(NATSTestServers.shared.get().list) }

    private func check(_ node: NATSTestNode) async -> Result<CheckedCluster, LogError> {
        await node.call { node, reply in node.setup.check(reply) }
    }

    private func create(_ node: NATSTestNode, _ facts: ClusterFacts) async -> Result<Void, LogError> {
        await node.call { node, reply in node.setup.create(facts, reply: reply) }
    }

    @Test func `a created cluster passes the checks with its facts`() async throws {
        let node = try node()
        defer { node.stop() }
        let facts = try await node.create()
        #expect(try await check(node).get() == CheckedCluster(facts: facts, servers: ["n1"]))
        #expect(try await check(node).get().facts == facts)
        #expect(await node.append("1", after: 0) == .committed(1))
    }

    @Test func `a cluster that exists is not created again`() async throws {
        let node = try node()
        defer { node.stop() }
        let facts = try await node.create()
        guard case .failure(let error) = await create(node, facts) else {
            Issue.record("a second cluster was created")
            return
        }
        #expect(
            error
                == .incompatible(
                    detail: """
                        The NATS servers already have the cluster c1. Use it, or use another account of NATS for a new \
                        cluster.
                        """
                )
        )
    }

    @Test func `a log without facts is not taken over`() async throws {
        let node = try node()
        defer { node.stop() }
        let facts = try await node.create()
        #expect(await node.append("1", after: 0) == .committed(1))
        #expect(await node.api("STREAM.DELETE.\(node.names.recordStream)", "").contains("true"))
        guard case .failure(.incompatible(let text)) = await create(node, facts) else {
            Issue.record("a cluster was created over messages")
            return
        }
        #expect(text.hasPrefix("The NATS stream \(node.names.logStream(.first)) has messages of a cluster whose facts"))
    }

    @Test func `an interrupted creation is finished`() async throws {
        let node = try node()
        defer { node.stop() }
        let facts = try await node.create()
        for name in [node.names.recordStream, node.names.baseStream] {
            #expect(await node.api("STREAM.DELETE.\(name)", "").contains("true"))
        }
        try await create(node, facts).get()
        #expect(try await check(node).get().facts == facts)
    }

    @Test func `more replicas than servers are refused`() async throws {
        let node = try node()
        defer { node.stop() }
        await node.connected()
        let facts = ClusterFacts(id: "c", created: "", secretFingerprint: "", replicas: 3)
        guard case .failure(.incompatible(let text)) = await create(node, facts) else {
            Issue.record("three replicas were created on one server")
            return
        }
        #expect(text.hasPrefix("NATS has too few JetStream servers for 3 replicas"))
    }

    @Test func `missing streams and facts are refused with the command that makes them`() async throws {
        let node = try node()
        defer { node.stop() }
        await node.connected()
        let nothing = await check(node)
        #expect(
            nothing
                == .failure(
                    .incompatible(
                        detail:
                            "NATS has no streams of this cluster. Create them with `rivulet cluster init`, or, for a cluster "
                            + "that has lost them, run `rivulet cluster reseed --from NODE`."
                    )
                )
        )
        _ = try await node.create()
        _ = await node.api("STREAM.DELETE.\(node.names.logStream(.first))", "")
        guard case .failure(.incompatible(let text)) = await check(node) else {
            Issue.record("a missing log was not seen")
            return
        }
        #expect(
            text == """
                NATS does not have the stream \(node.names.logStream(.first)). For a new cluster run `rivulet cluster \
                init`. An existing cluster has lost it: restore a backup of NATS, or run `rivulet cluster reseed \
                --from NODE`.
                """
        )
    }

    @Test(
        arguments: [
            ("max_age", "3600000000000", "0"), ("max_msgs", "1000", "-1"), ("discard", "\"old\"", "\"new\""),
            ("deny_delete", "false", "true"), ("allow_direct", "false", "true"), ("max_msg_size", "100", "-1"),
        ]
    )
    func `a setting that loses messages is refused`(_ setting: String, _ value: String, _ wanted: String) async throws {
        let node = try node()
        defer { node.stop() }
        let name = node.names.logStream(.first)
        await node.connected()
        let settings = [
            "name": "\"\(name)\"", "subjects": "[\"\(node.names.log(.first))\"]", "retention": "\"limits\"",
            "storage": "\"file\"", "discard": "\"new\"", "max_age": "0", "max_msgs": "-1", "max_msg_size": "-1",
            "deny_delete": "true", "allow_direct": "true", "num_replicas": "1",
            "republish": "{\"src\":\"\(node.names.allLogs)\",\"dest\":\"\(node.names.allRepublished)\"}",
        ]
        let changed = settings.merging([setting: value]) { $1 }
        _ = try await node.create()
        _ = await node.api("STREAM.DELETE.\(name)", "")
        let json = "{\(changed.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
        let answer = await node.api("STREAM.CREATE.\(name)", json)
        #expect(answer.contains("did_create"), "\(answer)")
        #expect(
            await check(node)
                == .failure(
                    .incompatible(
                        detail: """
                            The NATS stream \(name) has the setting \(setting) \(value), and may lose or hide messages \
                            with it. Set it to \(wanted) with `nats stream edit \(name)`.
                            """
                    )
                )
        )
    }

    @Test func `nodes that check at the same time all pass`() async throws {
        let node = try node()
        defer { node.stop() }
        _ = try await node.create()
        let results = await withTaskGroup(of: Result<CheckedCluster, LogError>.self) { group in
            for _ in 0..<8 { group.addTask { await check(node) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for result in results { #expect(throws: Never.self) { try result.get() } }
    }
}
