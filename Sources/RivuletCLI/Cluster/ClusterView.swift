import Rivulet
import RivuletCluster
import RivuletNATS
import RivuletServer

/// A cluster as its records and its nodes describe it.
struct ClusterView {
    struct Node {
        let name: String
        let record: NodeRecord
        /// The node's answer; nil if it has none.
        let answer: NodeAnswer?

        var isLive: Bool { record.state == .live || record.state == .draining }
    }

    let facts: ClusterFacts
    let nodes: [Node]
    /// The end of the log; nil if it cannot be read.
    let head: LogPosition?
    /// The reason that the log cannot be read.
    private var fault: String?

    /// The messages that a node may be behind the log.
    private static let lagMax: UInt64 = 1_000

    init(_ client: ClusterClient) throws(ServerError) {
        facts = try client.facts()
        // The end is read first, so that a node that is not behind has applied at least this much.
        do throws(ServerError) { head = try client.ends().last } catch {
            (head, fault) = (nil, error.description)
        }
        var nodes: [Node] = []
        for (name, record) in try client.records() {
            var answer: NodeAnswer?
            if record.state != .gone {
                // A node without an answer is one of the findings.
                do throws(ServerError) { answer = try client.ask(.standing, name, of: facts.id, seconds: 3) } catch {}
            }
            nodes.append(Node(name: name, record: record, answer: answer))
        }
        self.nodes = nodes
    }

    /// The owner, as a node that has the partition says itself.
    var owner: Node? {
        nodes.filter { $0.answer?.role == "owner" }.max { ($0.answer?.term ?? 0) < ($1.answer?.term ?? 0) }
    }

    var lines: [String] {
        var lines = ["cluster \(facts.id), created \(facts.created), \(facts.replicas) replicas in NATS"]
        let term = nodes.compactMap { $0.answer?.term }.max() ?? 0
        lines.append(
            "partition 0: owner \(owner?.name ?? "none"), term \(term), head \(head.map { "\($0.rawValue)" } ?? "none")"
        )
        var table = [["NODE", "STATE", "ROLE", "APPLIED", "LEASE", "BUILD"]]
        for node in nodes {
            table.append([
                node.name, node.record.state.rawValue, node.answer?.role ?? "-",
                node.answer.map { "\($0.applied.rawValue)" } ?? "-", "\(node.record.leaseSeconds) s", node.record.build,
            ])
        }
        let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        for row in table {
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            let line = cells.joined(separator: "  ")
            lines.append(String(line.reversed().drop { $0 == " " }.reversed()))
        }
        for node in nodes {
            if let answer = node.answer, answer.role == "halted" { lines.append("\(node.name): \(answer.reason)") }
        }
        return lines
    }

    /// The findings that an operator has to act on.
    var troubles: [String] {
        var troubles = fault.map { ["the log: \($0)"] } ?? []
        if owner == nil { troubles.append("no node has the partition") }
        for node in nodes where node.record.state != .gone {
            guard let answer = node.answer else {
                troubles.append("\(node.name) does not answer")
                continue
            }
            switch answer.role {
            case "halted": troubles.append("\(node.name) has halted")
            case "joining": troubles.append("\(node.name) has not joined yet")
            case "deposed": troubles.append("\(node.name) begins again")
            default:
                if let head, answer.applied.rawValue + Self.lagMax < head.rawValue {
                    troubles.append("\(node.name) is \(head.rawValue - answer.applied.rawValue) messages behind")
                }
            }
        }
        return troubles
    }
}
