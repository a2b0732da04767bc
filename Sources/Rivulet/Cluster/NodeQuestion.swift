package import RivuletCluster
import RivuletJSON

/// A question of a command to one node, over NATS.
///
/// The account of NATS that the cluster uses may ask, and that account may also write the log itself.
package enum NodeQuestion: Hashable, Sendable {
    /// The node's standing.
    case standing
    /// A hash over the content of the node's copy.
    case contentHash
    /// Gives the partition up, and takes it no more.
    case drain
    /// Writes a base of the node's copy, and begins the log again behind this place.
    case reseed(beyond: LogPosition)
}

extension NodeQuestion {
    /// The question as JSON.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("ask")
        switch self {
        case .standing: writer.string("standing")
        case .contentHash: writer.string("content_hash")
        case .drain: writer.string("drain")
        case .reseed(let beyond):
            writer.string("reseed")
            writer.key("beyond")
            writer.integer(beyond.rawValue)
        }
        writer.endObject()
        return writer.bytes
    }

    /// Reads a question; nil if it is not one that this build knows.
    package init?(_ bytes: [UInt8]) {
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch { return nil }
        switch value["ask"]?.stringValue {
        case "standing": self = .standing
        case "content_hash": self = .contentHash
        case "drain": self = .drain
        case "reseed":
            guard let beyond = value["beyond"]?.integerValue.flatMap(UInt64.init(exactly:)) else { return nil }
            self = .reseed(beyond: LogPosition(rawValue: beyond))
        default: return nil
        }
    }
}

/// The answer of a node to a question.
package struct NodeAnswer: Hashable, Sendable {
    /// The reason that the question has no answer, with the remedy; nil if it has one.
    package var error: String?
    /// `joining`, `standby`, `owner`, `deposed`, `halted`; empty in an answer about content.
    package var role = ""
    /// The reason of a halted node.
    package var reason = ""
    package var owner = ""
    package var term: UInt64 = 0
    /// The end of the log, as far as the node knows it; after a reseed, the place of its first message.
    package var head = LogPosition.start
    /// The place up to which the copy has the log.
    package var applied = LogPosition.start
    package var isConnected = false
    /// The hash over the content, as hexadecimal digits.
    package var hash = ""

    package init(error: String? = nil) { self.error = error }

    package init(_ standing: ClusterStanding) {
        switch standing.role {
        case .joining: role = "joining"
        case .standby: role = "standby"
        case .owner: role = "owner"
        case .deposed: role = "deposed"
        case .halted(let text): (role, reason) = ("halted", text)
        }
        (owner, term, isConnected) = (standing.owner?.node ?? "", standing.term, standing.isConnected)
        (head, applied) = (standing.head, standing.applied)
    }
}

extension NodeAnswer {
    /// The answer as JSON.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, text) in [
            ("error", error), ("role", role), ("reason", reason), ("owner", owner), ("hash", hash),
        ] {
            guard let text else { continue }
            writer.key(name)
            writer.string(text)
        }
        for (name, number) in [("term", term), ("head", head.rawValue), ("applied", applied.rawValue)] {
            writer.key(name)
            writer.integer(number)
        }
        writer.key("connected")
        writer.bool(isConnected)
        writer.endObject()
        return writer.bytes
    }

    package init(_ bytes: [UInt8]) throws(LogError) {
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch {
            throw .unavailable(detail: "A node's answer cannot be read: \(error).")
        }
        func number(_ name: String) -> UInt64 { value[name]?.integerValue.flatMap(UInt64.init(exactly:)) ?? 0 }
        self.init(error: value["error"]?.stringValue)
        role = value["role"]?.stringValue ?? ""
        reason = value["reason"]?.stringValue ?? ""
        owner = value["owner"]?.stringValue ?? ""
        hash = value["hash"]?.stringValue ?? ""
        (term, head) = (number("term"), LogPosition(rawValue: number("head")))
        applied = LogPosition(rawValue: number("applied"))
        isConnected = value["connected"]?.boolValue ?? false
    }
}
