internal import RivuletCluster
internal import RivuletJSON

/// The facts of a cluster, which its initialisation fixes.
package struct ClusterFacts: Hashable, Sendable {
    /// The identifier, which the frames of the cluster name.
    package let id: String
    /// The time of the initialisation, as text for operators.
    package let created: String
    /// The fingerprint of the secret key that all nodes share.
    package let secretFingerprint: String
    package let partitions: Int
    /// The number of servers that have each message.
    package let replicas: Int

    /// The format of the facts, the streams and their subjects.
    package static let format = 1
    /// The name of the record.
    package static let recordName = "cluster"

    package init(id: String, created: String, secretFingerprint: String, partitions: Int = 1, replicas: Int = 3) {
        (self.id, self.created, self.secretFingerprint) = (id, created, secretFingerprint)
        (self.partitions, self.replicas) = (partitions, replicas)
    }

    var bytes: [UInt8] {
        JSONValue.members([
            "format": .number("\(Self.format)"), "id": .string(id), "created": .string(created),
            "secret_fingerprint": .string(secretFingerprint), "partitions": .number("\(partitions)"),
            "replicas": .number("\(replicas)"),
        ]).jsonBytes()
    }

    /// Reads the facts of a record.
    ///
    /// - Throws: `incompatible` for a later format, and for bytes that are no facts.
    init(_ bytes: [UInt8]) throws(LogError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw Self.unreadable
        }
        guard let format = value["format"]?.integerValue else { throw Self.unreadable }
        guard format <= Self.format else {
            throw .incompatible(detail: "The cluster in NATS has the format \(format). Upgrade this node.")
        }
        guard let id = value["id"]?.stringValue, let created = value["created"]?.stringValue,
            let fingerprint = value["secret_fingerprint"]?.stringValue,
            let partitions = value["partitions"]?.integerValue, let replicas = value["replicas"]?.integerValue
        else { throw Self.unreadable }
        self.init(
            id: id,
            created: created,
            secretFingerprint: fingerprint,
            partitions: partitions,
            replicas: replicas
        )
    }

    private static let unreadable = LogError.incompatible(
        detail: "The record `cluster` in NATS is not one of Rivulet. Use another account of NATS for the cluster."
    )
}
