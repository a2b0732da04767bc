package import RivuletJSON

/// The record of a node, `node.<name>`: its run, and the length of its lease.
///
/// Each renewal writes the same value, and makes a new revision.
package struct NodeRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case live
        /// The node takes no partition.
        case draining
        /// The run has ended in order, and has no right any more.
        case gone
        /// Another node has ended the right of this run, which must not renew its lease.
        case fenced
    }

    package var incarnation: UInt64
    package var build: String
    /// The schema versions of the node's apps.
    package var schemas: [String: UInt32]
    package var leaseSeconds: Int
    package var state: State

    package init(incarnation: UInt64, build: String, schemas: [String: UInt32], leaseSeconds: Int, state: State) {
        (self.incarnation, self.build, self.schemas) = (incarnation, build, schemas)
        (self.leaseSeconds, self.state) = (leaseSeconds, state)
    }

    /// The beginning of the names of all nodes' records.
    package static let namePrefix = "node."

    /// The name of a node's record.
    package static func name(of node: String) -> String { namePrefix + node }

    /// The length of the lease in milliseconds.
    var lease: Int64 { Int64(leaseSeconds) * 1_000 }

    /// True if the run may still have the right of its lease.
    var mayHaveRight: Bool { state == .live || state == .draining }
}

extension NodeRecord {
    /// The record's JSON text.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("incarnation")
        // A number of JSON would lose the low bits in most readers.
        writer.string(String(incarnation, radix: 16))
        writer.key("build")
        writer.string(build)
        writer.key("schemas")
        writer.beginObject()
        for (app, version) in schemas.sorted(by: { $0.key < $1.key }) {
            writer.key(app)
            writer.integer(version)
        }
        writer.endObject()
        writer.key("lease_seconds")
        writer.integer(leaseSeconds)
        writer.key("state")
        writer.string(state.rawValue)
        writer.endObject()
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(JSONError) {
        let value = try JSONValue(parsing: bytes)
        guard
            let incarnation = value["incarnation"]?.stringValue.flatMap({ UInt64($0, radix: 16) }),
            let leaseSeconds = value["lease_seconds"]?.integerValue, (1...3_600).contains(leaseSeconds),
            let state = value["state"]?.stringValue.flatMap(State.init(rawValue:))
        else {
            throw JSONError(kind: .mismatch, detail: "the record of a node has no incarnation, lease or state")
        }
        var schemas: [String: UInt32] = [:]
        for member in value["schemas"]?.members ?? [] {
            schemas[member.name] = member.value.integerValue.flatMap(UInt32.init(exactly:))
        }
        self.init(
            incarnation: incarnation,
            build: value["build"]?.stringValue ?? "",
            schemas: schemas,
            leaseSeconds: leaseSeconds,
            state: state
        )
    }
}
