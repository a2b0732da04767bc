/// The first answer to a dispatch that carried an idempotency key, kept so that a retry gets the same one.
///
/// It is stored in the same transaction as what the dispatch changed, if it changed anything durable.
public struct KeptAnswer: Hashable, Sendable {
    /// The client's key; a later answer with the same id takes the place of this one.
    public let id: String
    /// When it was given, in milliseconds since 1970-01-01T00:00:00Z.
    public let time: Int64
    /// A hash of the request; another one means that the key is used for something else.
    public let fingerprint: [UInt8]
    /// The answer; storage only carries it.
    public let body: [UInt8]

    /// Describes one answer.
    public init(id: String, time: Int64, fingerprint: [UInt8], body: [UInt8]) {
        self.id = id
        self.time = time
        self.fingerprint = fingerprint
        self.body = body
    }

    /// The bytes that it takes: id, fingerprint and body.
    public var byteCount: Int { id.utf8.count + fingerprint.count + body.count }
}

/// Answers that an append keeps, and how old the others may be.
public struct KeptAnswers: Hashable, Sendable {
    /// The answers, in the order of their dispatches.
    public let answers: [KeptAnswer]
    /// Answers of an earlier time, in milliseconds since 1970-01-01T00:00:00Z, may be dropped, those of other sessions too.
    public let droppingBefore: Int64

    /// Nothing is kept and nothing dropped.
    public static let none = KeptAnswers([], droppingBefore: .min)

    /// Describes what an append keeps.
    public init(_ answers: [KeptAnswer], droppingBefore: Int64) {
        self.answers = answers
        self.droppingBefore = droppingBefore
    }

    /// The bytes of all answers.
    public var byteCount: Int { answers.reduce(0) { $0 + $1.byteCount } }
}

/// How many answers a session keeps.
public struct KeptAnswersUsage: Hashable, Sendable {
    /// How many there are.
    public let count: Int
    /// The sum of their `KeptAnswer.byteCount`.
    public let byteCount: Int
    /// The time of the oldest one, in milliseconds since 1970-01-01T00:00:00Z; nil when there is none.
    public let oldest: Int64?

    /// Describes what is taken.
    public init(count: Int, byteCount: Int, oldest: Int64?) {
        self.count = count
        self.byteCount = byteCount
        self.oldest = oldest
    }
}
