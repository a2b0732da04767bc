package import RivuletCluster
internal import RivuletEventLoop

/// The outcome of a request, or one of several answers to it.
package enum NATSOutcome: Hashable, Sendable {
    case answer(NATSMessage)
    /// The request was certainly not delivered.
    case refused(LogError)
    /// No answer has come; the request may have been delivered.
    case unknown(detail: String)
}

/// The requests that wait for answers, by the last token of their reply subjects.
///
/// All replies come to one subscription. Source: <https://docs.nats.io/nats-concepts/core-nats/reqreply>
struct NATSRequests {
    private struct Request {
        let timer: TimerID
        /// Returns true if no further answer is wanted.
        let handle: (NATSOutcome) -> Bool
    }

    /// The subject before the tokens, with a dot at its end.
    let inbox: String
    private var requests: [UInt64: Request] = [:]
    private var nextToken: UInt64 = 1

    init() {
        let name = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 36) }.joined()
        inbox = "_INBOX.\(name)."
    }

    var count: Int { requests.count }

    /// Takes the token of the next request.
    mutating func takeToken() -> UInt64 {
        nextToken += 1
        return nextToken - 1
    }

    func subject(of token: UInt64) -> String { inbox + String(token, radix: 36) }

    mutating func add(_ token: UInt64, _ timer: TimerID, _ handle: @escaping (NATSOutcome) -> Bool) {
        requests[token] = Request(timer: timer, handle: handle)
    }

    /// The request that a message answers; nil for one that has ended.
    func token(of message: NATSMessage) -> UInt64? {
        guard message.subject.hasPrefix(inbox) else { return nil }
        let token = UInt64(message.subject.dropFirst(inbox.count), radix: 36)
        return token.flatMap { requests[$0] == nil ? nil : $0 }
    }

    func handler(of token: UInt64) -> ((NATSOutcome) -> Bool)? { requests[token]?.handle }

    /// Ends a request; returns its timer.
    mutating func remove(_ token: UInt64) -> TimerID? { requests.removeValue(forKey: token)?.timer }

    /// Ends all requests, oldest first.
    mutating func removeAll() -> [(timer: TimerID, handle: (NATSOutcome) -> Bool)] {
        let all = requests.sorted { $0.key < $1.key }
        requests = [:]
        return all.map { ($0.value.timer, $0.value.handle) }
    }
}
