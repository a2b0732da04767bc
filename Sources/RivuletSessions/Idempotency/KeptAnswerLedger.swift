/// The bookkeeping of a session's idempotency keys in memory; the answers themselves are in storage.
struct KeptAnswerLedger {
    /// The keys whose dispatch is under way, with the fingerprints of their requests.
    private(set) var underWay: [String: [UInt8]] = [:]
    /// What storage keeps, at most: it grows with every answer and shrinks when storage is asked again; nil: never asked.
    private var usage: KeptAnswersUsage?

    /// Why a key cannot be used now.
    enum Refusal: Equatable {
        /// The same request is being handled.
        case underWay
        /// Another request uses it at this moment.
        case reused
    }

    /// What has to happen before a new key can be used.
    enum Room: Equatable {
        /// There is room for its answer.
        case free
        /// Storage has to be asked what it keeps.
        case unknown
        /// There is none before this time, in milliseconds since 1970.
        case full(until: Int64)
    }

    /// Takes the key until `release`.
    mutating func claim(_ key: String, fingerprint: [UInt8]) -> Refusal? {
        if let other = underWay[key] { return other == fingerprint ? .underWay : .reused }
        underWay[key] = fingerprint
        return nil
    }

    mutating func release(_ key: String) {
        underWay[key] = nil
    }

    /// Takes down what storage has counted of the answers that are not too old.
    mutating func learn(_ usage: KeptAnswersUsage) {
        self.usage = usage
    }

    /// Has storage asked again, which may have kept less than was counted.
    mutating func forgetUsage() {
        usage = nil
    }

    /// Counts one more answer.
    mutating func add(_ answer: KeptAnswer) {
        guard let usage else { return }
        self.usage = KeptAnswersUsage(
            count: usage.count + 1,
            byteCount: usage.byteCount + answer.byteCount,
            oldest: min(usage.oldest ?? answer.time, answer.time)
        )
    }

    /// Whether one more answer may be kept, beside those of the keys that are under way.
    func room(now: Int64, limits: SessionLimits) -> Room {
        guard let usage else { return .unknown }
        let isFull =
            usage.count + underWay.count > limits.keptAnswersMax || usage.byteCount >= limits.keptAnswerBytesMax
        guard isFull else { return .free }
        // When the oldest one has gone, storage knows how many others have.
        let end = usage.oldest.map { $0 + limits.keptAnswerMilliseconds } ?? now
        return end >= now ? .full(until: end) : .unknown
    }
}
