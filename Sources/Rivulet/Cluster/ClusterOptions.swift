package import RivuletNATS
package import RivuletServer

/// The cluster of a node, and the node's place in it.
package struct ClusterOptions: Sendable {
    /// The possible lengths of a lease, in seconds.
    package static let leaseSecondsRange = 3...60
    /// The most bytes of a node's name.
    package static let nodeBytesMax = 64

    package var link: ClusterLinkOptions
    /// The name of the node: letters, digits, `.`, `_` and `-`.
    package var node: String
    package var leaseSeconds: Int
    /// The monitors of the NATS servers, which say if a server writes through.
    package var monitors: [NATSMonitorURL]
    /// True if the operator says that every NATS server writes through.
    package var isSyncVerified: Bool
    /// The secret key, which is the same on all nodes.
    package var secret: SecretKey
    package var build: String

    package init(
        link: ClusterLinkOptions,
        node: String,
        leaseSeconds: Int = 10,
        monitors: [NATSMonitorURL] = [],
        isSyncVerified: Bool = false,
        secret: SecretKey,
        build: String = ServerOptions.libraryVersion
    ) {
        (self.link, self.node, self.leaseSeconds, self.monitors) = (link, node, leaseSeconds, monitors)
        (self.isSyncVerified, self.secret, self.build) = (isSyncVerified, secret, build)
    }

    /// True if a text can be the name of a node.
    package static func isNode(_ name: String) -> Bool {
        (1...nodeBytesMax).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}

/// The NATS servers of a cluster, and the credentials for them.
package struct ClusterLinkOptions: Sendable {
    package var servers: [NATSServer]
    package var credentials: NATSCredentials

    package init(servers: [NATSServer], credentials: NATSCredentials = .none) {
        (self.servers, self.credentials) = (servers, credentials)
    }

    /// The servers' addresses without their logins.
    package var address: String { "nats://" + servers.map(\.description).joined(separator: ",") }

    func natsOptions(name: String) -> NATSOptions {
        NATSOptions(servers: servers, credentials: credentials, name: name)
    }
}
