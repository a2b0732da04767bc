import ArgumentParser
import FoundationEssentials
import Logging
import Rivulet
import RivuletCluster
import RivuletNATS
import RivuletServer

/// Creates and operates a cluster.
struct Cluster: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create a cluster in NATS; show it, check it, drain a node, or begin a lost log again.",
        discussion: """
            Every command needs --cluster. Exits with 0 if all is well, with 1 if something is wrong, and with 64 if the arguments are wrong.
            """,
        subcommands: [Init.self, Status.self, Verify.self, Drain.self, Reseed.self]
    )

    /// Runs a body with a connection to the cluster.
    static func withClient(_ arguments: ClusterArguments, _ body: (ClusterClient) throws -> Void) throws {
        guard let options = try arguments.linkOptions() else {
            throw ValidationError("the cluster is not named; add --cluster nats://a:4222,b,c")
        }
        // The command's own lines say what happens to the connection.
        let logger = Logger(label: "rivulet", factory: { _ in SwiftLogNoOpLogHandler() })
        let client = try ClusterClient(options, logger: logger)
        defer { client.close() }
        try body(client)
    }

    /// Creates the streams and the facts of a cluster.
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create the streams, the buckets and the identity of a new cluster in NATS, once.",
            discussion: """
                It needs the secret key of the nodes, in RIVULET_SECRET_KEY or RIVULET_SECRET_KEY_FILE, because it stores the key's \
                fingerprint. A cluster that exists is left as it is.
                """
        )

        @OptionGroup var link: ClusterArguments

        @Option(help: "The number of NATS servers that have each message: 1, 3 or 5.")
        var replicas = 3

        func run() throws {
            guard [1, 3, 5].contains(replicas) else {
                throw ValidationError("--replicas is 1, 3 or 5; found \(replicas)")
            }
            let fingerprint = try ClusterSecret.key().clusterFingerprint
            try Cluster.withClient(link) { client in
                let facts = ClusterFacts(
                    id: String(UInt64.random(in: .min ... .max), radix: 36),
                    created: Date.now.ISO8601Format(),
                    secretFingerprint: fingerprint,
                    replicas: replicas
                )
                try client.create(facts)
                let servers = replicas == 1 ? "1 NATS server has" : "\(replicas) NATS servers have"
                print("created the cluster \(facts.id): \(servers) each message")
                print(
                    "next, on each node: rivulet serve --cluster \(client.address) --node NAME --nats-monitor http://HOST:8222 for each server"
                )
                if replicas == 1 { print("with 1 replica the cluster's data are lost with that NATS server") }
            }
        }
    }

    /// Shows the nodes and the partition.
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the nodes, the owner, and how far each node has applied the log.",
            discussion: "Exits with 1 if there is no owner, or if a node has halted, lags or does not answer."
        )

        @OptionGroup var link: ClusterArguments

        func run() throws {
            try Cluster.withClient(link) { client in
                let view = try ClusterView(client)
                for line in view.lines { print(line) }
                guard view.troubles.isEmpty else { throw ServerError(view.troubles.joined(separator: "; ")) }
            }
        }
    }

    /// Gives the partition of a node up.
    struct Drain: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a node give the partition up, and wait for its next owner; the node takes it no more.",
            discussion:
                "The node serves on as a standby, also after another drain. It takes the partition again after its next start."
        )

        @OptionGroup var link: ClusterArguments

        @Argument(help: "The name of the node.")
        var node: String

        func run() throws {
            try Cluster.withClient(link) { client in
                let facts = try client.facts()
                let answer = try client.ask(.drain, node, of: facts.id, seconds: 150)
                if answer.owner == node || answer.owner.isEmpty {
                    throw ServerError(
                        "\(node) has given the partition up, and no other node has taken it: start another node, or start \(node) again"
                    )
                }
                print("\(node) has drained; the owner is \(answer.owner), term \(answer.term)")
            }
        }
    }
}
