import ArgumentParser
import Rivulet
import RivuletCluster
import RivuletNATS
import RivuletServer

extension Cluster {
    /// Checks the streams, the log and the copies of all nodes.
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Walk the whole log with its chain, compare the nodes' copies, and verify the streams' settings.",
            discussion: """
                It writes nothing but the messages of the self-test of NATS. The copies are compared at one position of the log, for which \
                the nodes must have a moment without writes. Exits with 1 if something is wrong.
                """
        )

        /// The number of comparisons before a cluster counts as too busy for one.
        private static let comparisonsMax = 10

        @OptionGroup var link: ClusterArguments

        func run() throws {
            try Cluster.withClient(link) { client in
                var faults: [String] = []
                let facts = try client.facts()
                do throws(ServerError) {
                    let checked = try client.checkSetup()
                    let servers = checked.servers.sorted().joined(separator: ", ")
                    print("streams: as they must be, on \(servers.isEmpty ? "one server" : servers)")
                } catch {
                    faults.append("streams: \(error.description)")
                }
                do throws(ServerError) { faults += try walk(client, facts) } catch {
                    faults.append("log: \(error.description)")
                }
                do throws(ServerError) { faults += try compare(client, facts) } catch {
                    faults.append("copies: \(error.description)")
                }
                if faults.count > 1 { for fault in faults { print(fault) } }
                guard faults.isEmpty else {
                    throw ServerError(faults.count == 1 ? faults[0] : "\(faults.count) faults; see the lines above")
                }
            }
        }

        private func walk(_ client: ClusterClient, _ facts: ClusterFacts) throws(ServerError) -> [String] {
            let base = try client.base()
            var place: ReplicaPosition?
            if let base {
                do { place = try ReplicaExport(base, of: .first).position } catch {
                    return ["base: the base at \(base.position.rawValue) cannot be read: \(error)"]
                }
            }
            let end = try client.ends().last
            var walk = ChainWalk(cluster: facts.id, base: place?.position)
            while walk.position < end {
                let messages = try client.messages(after: walk.position)
                guard !messages.isEmpty else { break }
                for message in messages {
                    if let fault = walk.take(message) {
                        return ["log: \(fault); run rivulet cluster reseed --from NODE"]
                    }
                }
            }
            if let fault = walk.fault(of: place) { return ["log: \(fault); run rivulet cluster reseed --from NODE"] }
            print(
                "log: \(walk.frameCount) frames, \(walk.byteCount) bytes, from \(walk.firstPosition.rawValue) to "
                    + "\(walk.position.rawValue): one chain"
            )
            if let place { print("base: at \(place.position.rawValue), frame \(place.link.number)") }
            return []
        }

        private func compare(_ client: ClusterClient, _ facts: ClusterFacts) throws(ServerError) -> [String] {
            let view = try ClusterView(client)
            let live = view.nodes.filter { $0.answer != nil }.map(\.name)
            var faults = view.troubles.filter { $0.hasSuffix("does not answer") }.map { "copies: \($0)" }
            guard !live.isEmpty else { return faults + ["copies: no node answers"] }
            var earlier: [LogPosition] = []
            for _ in 0..<Self.comparisonsMax {
                var answers: [(name: String, answer: NodeAnswer)] = []
                for name in live {
                    answers.append((name, try client.ask(.contentHash, name, of: facts.id, seconds: 600)))
                }
                let places = answers.map(\.answer.applied)
                guard Set(places).count == 1 else {
                    guard places != earlier else {
                        let list = answers.map { "\($0.name) at \($0.answer.applied.rawValue)" }.joined(separator: ", ")
                        return faults + ["copies: the nodes stand still at different positions: \(list)"]
                    }
                    earlier = places
                    continue
                }
                let groups = Dictionary(grouping: answers, by: \.answer.hash)
                let position = answers[0].answer.applied.rawValue
                guard groups.count > 1 else {
                    print(
                        "copies: \(live.joined(separator: ", ")) are equal at \(position) (hash \(answers[0].answer.hash))"
                    )
                    return faults
                }
                let list = groups.map { hash, nodes in "\(nodes.map(\.name).joined(separator: ", ")) have \(hash)" }
                faults.append(
                    "copies: they differ at \(position): \(list.sorted().joined(separator: "; ")); stop the nodes of the smaller group, "
                        + "delete their folders, start them again"
                )
                return faults
            }
            faults.append("copies: the nodes are never at one position, because they write; run the check again")
            return faults
        }
    }

    /// Begins a lost log again with the content of one node.
    struct Reseed: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin a lost or shortened log again, with the copy of a halted node that is running.",
            discussion: """
                The node stores a new base of its copy, and begins the log again behind it. Writes that only other nodes have are lost, so \
                name the node that has applied most; the output of the status command shows it. What is left of the old log is removed, \
                for which the command wants --yes. Start all nodes again afterwards.
                """
        )

        @OptionGroup var link: ClusterArguments

        @Option(name: .customLong("from"), help: "The halted node whose copy becomes the cluster's content.")
        var source: String

        @Flag(help: "Remove the messages that are left in the log.")
        var yes = false

        func run() throws {
            try Cluster.withClient(link) { client in
                let facts = try client.facts()
                var answers: [String: NodeAnswer] = [:]
                var silent: [String] = []
                for (name, _) in try client.records() {
                    do throws(ServerError) {
                        answers[name] = try client.ask(.standing, name, of: facts.id, seconds: 3)
                    } catch {
                        silent.append(name)
                    }
                }
                guard let chosen = answers[source] else {
                    throw ServerError("\(source) does not answer; start it, and run the reseed while it is halted")
                }
                if let working = answers.first(where: { $0.value.role == "owner" }) {
                    throw ServerError(
                        "\(working.key) has the partition and serves, so the log is not lost; stop \(working.key) first if it must be reseeded"
                    )
                }
                if let further = answers.filter({ $0.value.applied > chosen.applied }).max(by: {
                    $0.value.applied < $1.value.applied
                }),
                    !yes
                {
                    throw ServerError(
                        "\(further.key) has applied more (\(further.value.applied.rawValue)) than \(source) (\(chosen.applied.rawValue)); take "
                            + "--from \(further.key), or add --yes to lose the difference"
                    )
                }
                try refuseLog(client)
                let beyond = answers.values.map(\.applied).max() ?? .start
                let done = try client.ask(.reseed(beyond: beyond), source, of: facts.id, seconds: 600)
                print(
                    "the log begins again at \(done.head.rawValue), with the copy that \(source) had at \(done.applied.rawValue)"
                )
                for line in Self.next(source, done, answers, silent) { print(line) }
            }
        }

        /// Refuses to remove messages without the confirmation.
        private func refuseLog(_ client: ClusterClient) throws(ServerError) {
            let ends: LogEnds
            do throws(ServerError) { ends = try client.ends() } catch {
                // A stream that is gone has no messages.
                guard error.description.contains("no streams") else { throw error }
                return
            }
            guard ends.last > .start, !yes else { return }
            throw ServerError(
                "the log has the messages \(ends.first.rawValue) to \(ends.last.rawValue), which a reseed removes; add --yes to remove them"
            )
        }

        private static func next(
            _ source: String,
            _ done: NodeAnswer,
            _ answers: [String: NodeAnswer],
            _ silent: [String]
        ) -> [String] {
            var lines: [String] = []
            let ahead = answers.filter { $0.value.applied > done.applied }.keys.sorted()
            if !ahead.isEmpty {
                lines.append(
                    "start on an empty folder: \(ahead.joined(separator: ", ")), which had applied messages that are lost"
                )
            }
            let kept = answers.keys.filter { !ahead.contains($0) }.sorted()
            lines.append("start again on the folder that they have: \(kept.joined(separator: ", "))")
            if !silent.isEmpty {
                lines.append(
                    "not asked, because they do not run: \(silent.sorted().joined(separator: ", ")); a node that halts again needs an "
                        + "empty folder"
                )
            }
            return lines
        }
    }
}
