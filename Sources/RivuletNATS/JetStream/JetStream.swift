internal import FoundationEssentials
internal import RivuletCluster
internal import RivuletJSON

/// The requests of JetStream's API over a connection.
///
/// Source: <https://docs.nats.io/reference/reference-protocols/nats_api_reference>
struct JetStream {
    let connection: NATSConnection

    /// The time for an answer of the API.
    static let apiTime = Duration.seconds(5)
    /// The time for the answer of a stream's leader; a leader that was killed leaves a request without one.
    static let messageTime = Duration.seconds(2)

    /// Calls the API, such as `STREAM.INFO.RVL_0`.
    func call(
        _ name: String,
        _ body: JSONValue? = nil,
        within time: Duration = apiTime,
        reply: @escaping (Result<JSONValue, JetStreamFailure>) -> Void
    ) {
        let payload = body.map { $0.jsonBytes() } ?? []
        connection.request("$JS.API.\(name)", payload: payload, within: time) { outcome in
            reply(Self.result(of: outcome))
            return true
        }
    }

    /// Publishes a message that must follow the message `last` of its subject; 0 means that there must be none.
    ///
    /// Source: <https://docs.nats.io/nats-concepts/jetstream/headers>
    func publish(
        _ subject: String,
        after last: UInt64,
        _ payload: [UInt8],
        within time: Duration,
        reply: @escaping (Result<JSONValue, JetStreamFailure>) -> Void
    ) {
        let headers = NATSHeaders([Self.expectedLast: String(last)])
        connection.request(subject, headers: headers, payload: payload, within: time) { outcome in
            reply(Self.result(of: outcome))
            return true
        }
    }

    /// Reads one message from the stream's leader: with `last_by_subj`, or with `seq` and `next_by_subj`.
    ///
    /// The reply is nil if there is no such message.
    func message(
        _ stream: String,
        _ query: JSONValue,
        reply: @escaping (Result<StoredMessage?, JetStreamFailure>) -> Void
    ) {
        call("STREAM.MSG.GET.\(stream)", query, within: Self.messageTime) { result in
            switch result {
            case .failure(.error(let error)) where error.code == JetStreamError.noMessage: reply(.success(nil))
            case .failure(let failure): reply(.failure(failure))
            case .success(let answer):
                guard let message = StoredMessage(answer["message"]) else {
                    return reply(.failure(.unknown(detail: "NATS sent a message of \(stream) that cannot be read.")))
                }
                reply(.success(message))
            }
        }
    }

    /// The header of the sequence that the subject must end at.
    static let expectedLast = "Nats-Expected-Last-Subject-Sequence"

    private static func result(of outcome: NATSOutcome) -> Result<JSONValue, JetStreamFailure> {
        switch outcome {
        case .refused(let error): return .failure(.refused(error))
        case .unknown(let detail): return .failure(.unknown(detail: detail))
        case .answer(let message):
            let value: JSONValue
            do {
                value = try JSONValue(parsing: message.payload)
            } catch {
                return .failure(.unknown(detail: "NATS sent an answer that is not JSON: \(error)"))
            }
            guard let error = value["error"] else { return .success(value) }
            return .failure(
                .error(
                    JetStreamError(
                        code: error["err_code"]?.integerValue ?? 0,
                        text: error["description"]?.stringValue ?? "no description"
                    )
                )
            )
        }
    }
}

/// A message as a stream's leader returns it.
struct StoredMessage {
    let subject: String
    let sequence: UInt64
    let headers: NATSHeaders
    let payload: [UInt8]

    init?(_ value: JSONValue?) {
        guard let value, let subject = value["subject"]?.stringValue, let sequence = value["seq"]?.unsigned else {
            return nil
        }
        var parts: [[UInt8]] = []
        for name in ["hdrs", "data"] {
            guard let text = value[name]?.stringValue ?? (value[name] == nil ? "" : nil),
                let bytes = Data(base64Encoded: text)
            else { return nil }
            parts.append(Array(bytes))
        }
        do {
            headers = parts[0].isEmpty ? NATSHeaders() : try NATSHeaders(parsing: parts[0][...])
        } catch {
            return nil
        }
        (self.subject, self.sequence, payload) = (subject, sequence, parts[1])
    }
}

/// The reason that a request to JetStream has no result.
enum JetStreamFailure: Error, Hashable {
    /// JetStream has refused it.
    case error(JetStreamError)
    /// It was certainly not delivered.
    case refused(LogError)
    /// It has no answer, and may have been carried out.
    case unknown(detail: String)

    /// The error of a call that changes nothing, or that may be repeated.
    var logError: LogError {
        switch self {
        case .error(let error): error.logError
        case .refused(let error): error
        case .unknown(let detail): .unavailable(detail: detail)
        }
    }
}

/// An error of JetStream.
///
/// Source: <https://github.com/nats-io/nats-server/blob/main/server/errors.json>
struct JetStreamError: Error, Hashable {
    let code: Int
    let text: String

    static let noMessage = 10_037
    static let notEnabledForAccount = 10_039
    static let storageExceeded = [10_002, 10_028, 10_047]
    static let nameInUse = 10_058
    static let noStream = 10_059
    static let tooFewServers = [10_005, 10_074]
    static let wrongLast = 10_071
    static let storeFailed = 10_077
    static let notEnabled = 10_076
    /// Another message of the subject is on its way through the quorum.
    static let wrongLastInFlight = 10_164

    /// The last sequence that the subject has, of the error `wrongLast`: "wrong last sequence: 12".
    var lastSequence: UInt64? {
        guard code == Self.wrongLast, let text = text.split(separator: " ").last else { return nil }
        return UInt64(text)
    }

    /// True if the stream or the servers have no space, so that nothing was stored.
    var isFull: Bool {
        Self.storageExceeded.contains(code) || code == Self.storeFailed && text.contains("maximum bytes")
    }

    var logError: LogError {
        if isFull { return .full(detail: "NATS JetStream has no space: \(text) (\(code)).") }
        switch code {
        case Self.noStream:
            return .incompatible(
                detail: """
                    NATS has no streams of this cluster. Create them with `rivulet cluster init`, or, for a cluster that \
                    has lost them, run `rivulet cluster reseed --from NODE`.
                    """
            )
        case Self.notEnabled, Self.notEnabledForAccount:
            return .incompatible(detail: "JetStream is not enabled: \(text). Enable it for the account in NATS.")
        default: return .unavailable(detail: "NATS JetStream: \(text) (\(code)).")
        }
    }
}

extension JSONValue {
    /// The number as an unsigned integer; nil if it is none.
    var unsigned: UInt64? {
        guard case .number(let text) = self else { return nil }
        return UInt64(text)
    }

    /// An object of members in order.
    static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    static func unsigned(_ value: UInt64) -> JSONValue { .number(String(value)) }
}
