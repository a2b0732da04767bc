/// The options of a connection to NATS.
package struct NATSOptions: Sendable {
    /// The servers of one NATS cluster, at least one.
    package var servers: [NATSServer]
    /// The credentials for servers without any in their URL.
    package var credentials: NATSCredentials
    /// The name of the client in the servers' monitoring.
    package var name: String
    package var limits = NATSLimits()
    /// True if the servers are tried in a random order, so that the nodes of a cluster use different ones.
    package var isShuffled = true

    package init(servers: [NATSServer], credentials: NATSCredentials = .none, name: String) {
        precondition(!servers.isEmpty, "a NATS connection has no servers")
        (self.servers, self.credentials, self.name) = (servers, credentials, name)
    }
}

/// The limits of a connection to NATS.
package struct NATSLimits: Hashable, Sendable {
    /// The most bytes that wait to be sent; further publishes are refused.
    package var outboundBytesMax = 16_777_216
    /// The most requests without an answer; further ones are refused.
    package var requestsMax = 4_096
    /// The time to connect, and then to be accepted by the server.
    package var connectTime = Duration.seconds(2)
    /// The time between two checks of the connection.
    package var pingInterval = Duration.seconds(2)
    /// The time after which a server that sends nothing, not even the answer to a check, is given up.
    package var silenceMax = Duration.seconds(5)
    /// The first pause after all servers have failed; each further pause is twice as long.
    package var pauseMin = Duration.milliseconds(100)
    package var pauseMax = Duration.seconds(2)
    /// The time for outstanding requests before a connection to a server that is about to stop is ended.
    package var drainTime = Duration.seconds(2)

    package init() {}
}

/// The order in which a connection tries its servers.
///
/// A round over all servers has no pauses; between rounds there are pauses that grow, with a jitter, so that the nodes
/// of a cluster do not come at the same time.
package struct NATSServerList {
    private let servers: [NATSServer]
    private let limits: NATSLimits
    private var next = 0
    /// The number of attempts since the last connection that lasted.
    private var failures = 0

    package init(_ servers: [NATSServer], limits: NATSLimits) { (self.servers, self.limits) = (servers, limits) }

    package var count: Int { servers.count }

    /// The next server and the pause before the attempt.
    package mutating func nextAttempt(
        using random: inout some RandomNumberGenerator
    ) -> (server: NATSServer, pause: Duration) {
        let server = servers[next % servers.count]
        let rounds = failures / servers.count
        let isFirstOfRound = failures % servers.count == 0
        next += 1
        failures += 1
        guard rounds > 0, isFirstOfRound else { return (server, .zero) }
        let most = min(limits.pauseMin * (1 << min(rounds - 1, 10)), limits.pauseMax)
        return (server, most * Double.random(in: 0.5...1, using: &random))
    }

    /// Forgets the failures, after a connection that lasted.
    package mutating func didLast() { failures = 0 }
}
