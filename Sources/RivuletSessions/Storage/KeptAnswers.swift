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
