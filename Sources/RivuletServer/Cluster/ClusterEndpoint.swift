import RivuletCluster
import RivuletHTTP
import RivuletJSON

/// The nodes and partitions of the server's cluster, as this node sees them.
struct ClusterEndpoint {
    let server: ServerLoop

    /// GET of `/v1/cluster`.
    func cluster(_ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        _ = try Query(request, known: [])
        guard let cluster = server.context.cluster else {
            throw Problem(.notFound, "this server is not in a cluster")
        }
        server.send(.json(Self.document(of: cluster)), to: exchange)
    }

    private static func document(of cluster: ClusterGateway) -> [UInt8] {
        let standing = cluster.member.standing
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        text("cluster", cluster.member.cluster, into: &writer)
        text("node", cluster.member.node, into: &writer)
        writer.key("nodes")
        writer.beginArray()
        for node in standing.nodes.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            writer.beginObject()
            text("name", node.name, into: &writer)
            text("build", node.build, into: &writer)
            text("state", node.state.rawValue, into: &writer)
            writer.key("lease_seconds")
            writer.integer(node.leaseSeconds)
            writer.endObject()
        }
        writer.endArray()
        writer.key("partitions")
        writer.beginArray()
        writer.beginObject()
        writer.key("partition")
        writer.integer(Partition.first.rawValue)
        text("owner", standing.owner?.node, into: &writer)
        for (name, number) in [
            ("term", standing.term), ("head", standing.head.rawValue), ("applied", standing.applied.rawValue),
        ] {
            writer.key(name)
            writer.integer(number)
        }
        text("state", state(of: standing), into: &writer)
        writer.endObject()
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    private static func text(_ name: String, _ value: String?, into writer: inout JSONWriter) {
        writer.key(name)
        if let value { writer.string(value) } else { writer.null() }
    }

    private static func state(of standing: ClusterStanding) -> String {
        if case .halted = standing.role { return "halted" }
        return standing.owner == nil ? "claiming" : "open"
    }
}

extension ClusterGateway {
    /// The reason that this node takes no requests now; nil if it is ready.
    ///
    /// `now` is in milliseconds of a monotonic clock.
    func unreadiness(now: UInt64) -> String? {
        let standing = member.standing
        let hasCaughtUp = hasCaughtUp(standing, now: now)
        switch standing.role {
        case .joining: return "the node has not joined its cluster yet"
        case .deposed: return "another node has taken the partition, and this process begins again"
        case .halted(let reason): return "the node has halted: \(reason)"
        case .owner where phase != .owner: return "the node opens the partition"
        case .owner where !member.mayServe: return "the node's lease has ended"
        case .owner, .standby: break
        }
        guard !isDraining, standing.nodes.first(where: { $0.name == member.node })?.state != .draining else {
            return "the node leaves its cluster"
        }
        guard standing.isConnected else { return "the node has no connection to the log of its cluster" }
        guard hasCaughtUp else { return "the node is behind the log of its cluster" }
        return nil
    }
}
