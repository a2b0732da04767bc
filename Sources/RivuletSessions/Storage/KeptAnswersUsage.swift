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
