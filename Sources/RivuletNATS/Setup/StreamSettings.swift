internal import RivuletCluster
internal import RivuletJSON

/// The settings of one of a cluster's streams.
///
/// Source: <https://docs.nats.io/nats-concepts/jetstream/streams#configuration>
struct StreamSettings {
    let name: String
    /// The settings that a stream must have; a setting that JetStream leaves out is false or 0.
    private let required: [JSONValue.Member]
    let replicas: Int
    private let bytesMax: Int?

    /// The log of a partition.
    ///
    /// A stream that is full refuses messages, and none is removed by age or number. Only a purge removes messages.
    static func log(_ partition: Partition, _ names: NATSNames, replicas: Int, bytesMax: Int?) -> StreamSettings {
        StreamSettings(
            names.logStream(partition),
            [names.log(partition)],
            perSubject: -1,
            isDirect: true,
            republished: (names.allLogs, names.allRepublished),
            replicas,
            bytesMax
        )
    }

    /// The bases, of which an upload that fails removes its chunks again.
    static func bases(_ names: NATSNames, replicas: Int) -> StreamSettings {
        let subjects = [names.allBases]
        return StreamSettings(names.baseStream, subjects, perSubject: 1, isDirect: true, mayDelete: true, replicas, nil)
    }

    /// The records, which only the leader reads.
    static func records(_ names: NATSNames, replicas: Int) -> StreamSettings {
        let subjects = [names.allRecords, names.allScratch]
        return StreamSettings(names.recordStream, subjects, perSubject: 1, isDirect: false, replicas, nil)
    }

    private init(
        _ name: String,
        _ subjects: [String],
        perSubject: Int,
        isDirect: Bool,
        mayDelete: Bool = false,
        republished: (source: String, target: String)? = nil,
        _ replicas: Int,
        _ bytesMax: Int?
    ) {
        (self.name, self.replicas, self.bytesMax) = (name, replicas, bytesMax)
        var required: [JSONValue.Member] = [
            .init(name: "subjects", value: .array(subjects.map { .string($0) })),
            .init(name: "retention", value: .string("limits")), .init(name: "storage", value: .string("file")),
            .init(name: "discard", value: .string("new")),
            .init(name: "discard_new_per_subject", value: .bool(false)),
            .init(name: "max_age", value: .number("0")), .init(name: "max_msgs", value: .number("-1")),
            .init(name: "max_msgs_per_subject", value: .number("\(perSubject)")),
            .init(name: "max_msg_size", value: .number("-1")), .init(name: "sealed", value: .bool(false)),
            .init(name: "deny_delete", value: .bool(!mayDelete)), .init(name: "deny_purge", value: .bool(false)),
            .init(name: "allow_rollup_hdrs", value: .bool(false)), .init(name: "allow_msg_ttl", value: .bool(false)),
            .init(name: "allow_direct", value: .bool(isDirect)),
        ]
        if let republished {
            let paths = JSONValue.members([
                "src": .string(republished.source), "dest": .string(republished.target),
            ])
            required.append(.init(name: "republish", value: paths))
        }
        self.required = required
    }

    /// The configuration for a STREAM.CREATE.
    var configuration: JSONValue {
        .object(
            [.init(name: "name", value: .string(name))] + required + [
                .init(name: "num_replicas", value: .number("\(replicas)")),
                .init(name: "max_bytes", value: .number("\(bytesMax ?? -1)")),
            ]
        )
    }

    /// The reason that a stream with this configuration may lose messages; nil if it does not.
    func problem(in configuration: JSONValue) -> String? {
        for member in required {
            let found = configuration[member.name]
            guard !isEqual(found, member.value) else { continue }
            return text(of: member.name, found, wants: "\(member.value)")
        }
        // Anything that feeds or changes the stream from outside, or acknowledges before the message is stored.
        for name in ["mirror", "sources", "subject_transform"] {
            guard let found = configuration[name], found != .null, found != .array([]) else { continue }
            return text(of: name, found, wants: "none")
        }
        if let mode = configuration["persist_mode"], mode != .string("default"), mode != .string("") {
            return text(of: "persist_mode", mode, wants: "\"default\"")
        }
        let count = configuration["num_replicas"]
        guard (count?.integerValue ?? 0) >= replicas else {
            return text(of: "num_replicas", count, wants: "\(replicas)")
        }
        return nil
    }

    private func isEqual(_ found: JSONValue?, _ wanted: JSONValue) -> Bool {
        switch wanted {
        case .bool(false): found == nil || found == wanted
        case .number("0"): found == nil || found == wanted
        case .object(let members):
            members.allSatisfy { found?[$0.name] == $0.value } && found?["headers_only"] != .bool(true)
        default: found == wanted
        }
    }

    private func text(of setting: String, _ found: JSONValue?, wants wanted: String) -> String {
        """
        The NATS stream \(name) has the setting \(setting) \(found.map { "\($0)" } ?? "missing"), and may lose or hide \
        messages with it. Set it to \(wanted) with `nats stream edit \(name)`.
        """
    }
}
