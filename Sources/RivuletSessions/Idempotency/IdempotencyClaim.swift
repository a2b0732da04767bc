/// A client's key for one dispatch, and how its answer is kept.
package struct IdempotencyClaim: Sendable {
    /// The key; unique within its session for as long as answers are kept.
    package let key: String
    /// A hash of everything that makes the request what it is.
    package let fingerprint: [UInt8]
    /// Whether a kept fingerprint, of this version of the server or of an earlier one, may be of the same request.
    private let isOfThis: @Sendable (_ kept: [UInt8]) -> Bool
    /// Makes the bytes of the answer, which the first request gets and every retry after it.
    package let render: @Sendable (DispatchAnswer) -> [UInt8]

    /// Describes a claim; a kept fingerprint has to be the same, unless `isOfThis` knows more.
    package init(
        key: String,
        fingerprint: [UInt8],
        isOfThis: (@Sendable (_ kept: [UInt8]) -> Bool)? = nil,
        render: @escaping @Sendable (DispatchAnswer) -> [UInt8]
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.isOfThis = isOfThis ?? { $0 == fingerprint }
        self.render = render
    }

    /// Whether the answer was given to this request, as far as can be told.
    func isOf(_ kept: KeptAnswer) -> Bool { isOfThis(kept.fingerprint) }
}

/// The answer to a dispatch that carried a key.
package struct OnceAnswer: Sendable {
    /// The first answer's bytes, as they were rendered then.
    package let body: [UInt8]
    /// Whether the dispatch had been done before.
    package let isReplay: Bool
    /// Whether everything it changed was on disk before this answer, or the one that is given again.
    package let isDurable: Bool
}

/// Makes the answer that is stored together with what a dispatch changed.
struct AnswerKeeper {
    /// The client's key, which the log entry carries too.
    let commandID: String
    /// Renders the answer; called once, when the dispatch has been reduced.
    let keep: (DispatchAnswer) -> KeptAnswer
}
