package import RivuletCluster
internal import RivuletJSON

/// The records of a cluster in a stream of NATS JetStream, which keeps the last message of each subject.
///
/// Reads come from the stream's leader. A leader that a partition of the network has cut off may answer for some
/// seconds before it steps down, with a record that is not the last any more. A write after such a read is refused.
package final class NATSRecords: ClusterRecords {
    private let names: NATSNames
    private let jetStream: JetStream

    /// The time for the acknowledgement of a write; afterwards its outcome is unknown.
    package static let writeTime = Duration.seconds(2)
    /// The most records that `names` lists, which is the server's page.
    package static let namesMax = 100_000

    package init(connection: NATSConnection, names: NATSNames) {
        self.names = names
        jetStream = JetStream(connection: connection)
    }

    package func record(_ name: String, reply: @escaping (Result<ClusterRecord?, LogError>) -> Void) {
        let query = JSONValue.members(["last_by_subj": .string(names.record(name))])
        jetStream.message(names.recordStream, query) { result in
            switch result {
            case .failure(let failure): reply(.failure(failure.logError))
            case .success(let message):
                reply(.success(message.map { ClusterRecord(value: $0.payload, revision: $0.sequence) }))
            }
        }
    }

    package func put(
        _ value: [UInt8],
        as name: String,
        after revision: UInt64,
        reply: @escaping (RecordOutcome) -> Void
    ) {
        let subject = names.record(name)
        jetStream.publish(subject, after: revision, value, within: Self.writeTime) { [names] result in
            reply(RecordOutcome(result, of: names.recordStream))
        }
    }

    package func names(beginningWith prefix: String, reply: @escaping (Result<[String], LogError>) -> Void) {
        let query = JSONValue.members(["subjects_filter": .string(names.allRecords)])
        jetStream.call("STREAM.INFO.\(names.recordStream)", query) { [names] result in
            switch result {
            case .failure(let failure): reply(.failure(failure.logError))
            case .success(let info):
                // Without a leader, any server answers, and may lack records.
                guard info["cluster"]?["leader"]?.stringValue != nil else {
                    return reply(.failure(.unavailable(detail: "The records in NATS have no leader now.")))
                }
                guard (info["total"]?.integerValue ?? 0) <= Self.namesMax else {
                    return reply(.failure(.unavailable(detail: "The cluster has over \(Self.namesMax) records.")))
                }
                let subjects = info["state"]?["subjects"]?.members ?? []
                let all = subjects.compactMap { names.recordName(of: $0.name) }
                reply(.success(all.filter { $0.hasPrefix(prefix) }.sorted()))
            }
        }
    }
}

extension RecordOutcome {
    /// The outcome of a conditional publish to a stream.
    init(_ result: Result<JSONValue, JetStreamFailure>, of stream: String) {
        switch result {
        case .success(let ack):
            let sequence = ack["stream"]?.stringValue == stream ? ack["seq"]?.unsigned : nil
            self = sequence.map { .stored(revision: $0) } ?? .unknown
        case .failure(.refused(let error)): self = .refused(error)
        case .failure(.unknown): self = .unknown
        case .failure(.error(let error)):
            switch error.code {
            case JetStreamError.wrongLast, JetStreamError.wrongLastInFlight: self = .conflict
            case JetStreamError.storeFailed where !error.isFull: self = .unknown
            default: self = .refused(error.logError)
            }
        }
    }
}
