/// The bookkeeping of a session's idempotency keys in memory; the idempotency records themselves are in storage.
struct IdempotencyLedger {
    /// The keys with a dispatch under way, with the fingerprints of their requests.
    private(set) var underWay: [String: [UInt8]] = [:]
    /// An upper bound of the records in storage; nil if it is unknown.
    ///
    /// It grows with every record, and shrinks when storage is asked again.
    private var usage: IdempotencyUsage?

    /// The reason why a key cannot be used now.
    enum ConflictReason: Equatable {
        /// The same request is being handled.
        case underWay
        /// Another request uses the key at this moment.
        case reused
    }

    /// The room for the record of a new key.
    enum Room: Equatable {
        /// There is room for the record.
        case free
        /// The room is unknown until storage has counted the session's records.
        case unknown
        /// There is no room before this time, in milliseconds since 1970.
        case full(until: Int64)
    }

    /// Reserves the key until `release`, or returns the reason why the key cannot be used.
    mutating func reserve(_ key: String, fingerprint: [UInt8]) -> ConflictReason? {
        if let other = underWay[key] { return other == fingerprint ? .underWay : .reused }
        underWay[key] = fingerprint
        return nil
    }

    mutating func release(_ key: String) {
        underWay[key] = nil
    }

    /// Takes the usage that storage has counted, without records that are too old.
    mutating func learn(_ usage: IdempotencyUsage) {
        self.usage = usage
    }

    /// Forgets the usage, so that storage is asked again; storage may have fewer records than were added here.
    mutating func forgetUsage() {
        usage = nil
    }

    /// Counts one more record.
    mutating func add(_ answer: IdempotencyRecord) {
        guard let usage else { return }
        self.usage = IdempotencyUsage(
            count: usage.count + 1,
            byteCount: usage.byteCount + answer.byteCount,
            oldest: min(usage.oldest ?? answer.time, answer.time)
        )
    }

    /// Returns the room for one more record, in addition to the records of keys under way.
    func room(now: Int64, limits: SessionLimits) -> Room {
        guard let usage else { return .unknown }
        let isFull =
            usage.count + underWay.count > limits.idempotencyRecordsMax
            || usage.byteCount >= limits.idempotencyRecordBytesMax
        guard isFull else { return .free }
        // Once the oldest record is too old, storage has to count the others again.
        let end = usage.oldest.map { $0 + limits.idempotencyRecordMilliseconds } ?? now
        return end >= now ? .full(until: end) : .unknown
    }
}
