// The options of `rivulet serve` for a node of a cluster.

import ArgumentParser
package import Rivulet
import RivuletNATS
package import RivuletServer

/// The cluster of a node, and the node's place in it.
package struct NodeArguments: ParsableArguments {
    @OptionGroup var link: ClusterArguments

    @Option(help: "The name of this node in the cluster: letters, digits, '.', '_' and '-'; another for each node.")
    var node: String?

    @Option(
        parsing: .unconditional,
        help: "The time without the owner after which another node takes over, 3s to 60s. (default: 10s)"
    )
    var lease: String?

    @Option(help: "The monitor of a NATS server, http://a:8222, to see that it writes through; once for each server.")
    var natsMonitor: [String] = []

    @Flag(help: "State that every NATS server has sync_interval: always, instead of --nats-monitor.")
    var natsSyncVerified = false

    package init() {}

    /// Returns the node of a cluster; nil without `--cluster`.
    ///
    /// - Throws: a `ValidationError` or `ServerError` with the remedy. Nothing is created or reached.
    package func options(_ secret: () throws -> SecretKey = ClusterSecret.key) throws -> ClusterOptions? {
        let isVerified = try natsSyncVerified || Environment.value("NATS_SYNC_VERIFIED", Environment.flag) ?? false
        let name = node ?? Environment.text("NODE")
        let monitors = natsMonitor.isEmpty ? DoorOptions.list(Environment.text("NATS_MONITOR")) : natsMonitor
        guard let link = try link.linkOptions() else {
            let names =
                [
                    name.map { _ in "--node" }, (lease ?? Environment.text("LEASE")).map { _ in "--lease" },
                    monitors.isEmpty ? nil : "--nats-monitor", isVerified ? "--nats-sync-verified" : nil,
                ].compactMap(\.self) + link.namesWithoutCluster
            guard names.isEmpty else {
                throw ValidationError(
                    "\(names.joined(separator: ", ")) without --cluster would be ignored; add --cluster nats://…, or leave it out"
                )
            }
            return nil
        }
        guard let name else { throw ValidationError("--cluster needs the name of this node; add --node NAME") }
        guard ClusterOptions.isNode(name) else {
            throw ValidationError(
                "--node is 1 to \(ClusterOptions.nodeBytesMax) letters, digits, '.', '_' or '-'; found \"\(name)\""
            )
        }
        let seconds = try leaseSeconds()
        let urls = try monitors.map(Self.monitor)
        guard isVerified || !urls.isEmpty else {
            throw ValidationError(
                "nothing says that NATS has an event on disk before it is acknowledged; add --nats-monitor http://HOST:8222 for each "
                    + "NATS server, or --nats-sync-verified if you have checked that each has sync_interval: always"
            )
        }
        return ClusterOptions(
            link: link,
            node: name,
            leaseSeconds: seconds,
            monitors: urls,
            // Monitors know more than the operator.
            isSyncVerified: isVerified && urls.isEmpty,
            secret: try secret()
        )
    }

    private func leaseSeconds() throws -> Int {
        guard let text = lease ?? Environment.text("LEASE") else { return 10 }
        let range = ClusterOptions.leaseSecondsRange
        let digits = text.hasSuffix("s") ? text.dropLast() : text[...]
        guard let seconds = Int(digits), range.contains(seconds) else {
            throw ValidationError(
                "--lease is \(range.lowerBound)s to \(range.upperBound)s; found \"\(text)\""
            )
        }
        return seconds
    }

    private static func monitor(_ text: String) throws -> NATSMonitorURL {
        guard let url = NATSMonitorURL(text) else {
            throw ValidationError("--nats-monitor is a URL such as http://10.0.0.1:8222; found \"\(text)\"")
        }
        return url
    }
}
