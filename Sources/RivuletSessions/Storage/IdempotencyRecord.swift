/// An idempotency record: the first answer to a dispatch with an idempotency key, kept so that a retry gets the same
/// answer.
///
/// It is stored in the same transaction as the durable changes of the dispatch, if there are any.
public struct IdempotencyRecord: Hashable, Sendable {
    /// The client's idempotency key; a later record with the same id replaces this one.
    public let id: String
    /// The time of the answer, in milliseconds since 1970-01-01T00:00:00Z.
    public let time: Int64
    /// A hash of the request; another hash means that the key was used for another request.
    public let fingerprint: [UInt8]
    /// The bytes of the answer; storage does not interpret them.
    public let body: [UInt8]

    /// Describes one idempotency record.
    public init(id: String, time: Int64, fingerprint: [UInt8], body: [UInt8]) {
        self.id = id
        self.time = time
        self.fingerprint = fingerprint
        self.body = body
    }

    /// The bytes of id, fingerprint and body.
    public var byteCount: Int { id.utf8.count + fingerprint.count + body.count }
}

/// The idempotency records that an append keeps, and the time before which other records may be dropped.
public struct IdempotencyRecords: Hashable, Sendable {
    /// The idempotency records, in the order of their dispatches.
    public let answers: [IdempotencyRecord]
    /// The time before which idempotency records may be dropped, in milliseconds since 1970-01-01T00:00:00Z.
    ///
    /// It applies to the records of all sessions.
    public let droppingBefore: Int64

    /// Keeps nothing and drops nothing.
    public static let none = IdempotencyRecords([], droppingBefore: .min)

    /// Describes the idempotency records that an append keeps.
    public init(_ answers: [IdempotencyRecord], droppingBefore: Int64) {
        self.answers = answers
        self.droppingBefore = droppingBefore
    }

    /// The bytes of all records.
    public var byteCount: Int { answers.reduce(0) { $0 + $1.byteCount } }
}

/// The number and the size of a session's idempotency records.
public struct IdempotencyUsage: Hashable, Sendable {
    /// The number of records.
    public let count: Int
    /// The sum of the records' `IdempotencyRecord.byteCount`.
    public let byteCount: Int
    /// The time of the oldest record, in milliseconds since 1970-01-01T00:00:00Z; nil if there is none.
    public let oldest: Int64?

    /// Describes the records of a session.
    public init(count: Int, byteCount: Int, oldest: Int64?) {
        self.count = count
        self.byteCount = byteCount
        self.oldest = oldest
    }
}
