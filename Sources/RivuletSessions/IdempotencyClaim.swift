// Part of Rivulet. See README.md for the architecture.
// Owns the wish that a dispatch happen once, however often it is sent.

/// A client's key for one dispatch, and how its answer is kept.
package struct IdempotencyClaim: Sendable {
    /// The key; unique within its session for as long as answers are kept.
    package let key: String
    /// A hash of everything that makes the request what it is.
    package let fingerprint: [UInt8]
    /// Makes the bytes of the answer, which the first request gets and every retry after it.
    package let render: @Sendable (DispatchAnswer) -> [UInt8]

    package init(key: String, fingerprint: [UInt8], render: @escaping @Sendable (DispatchAnswer) -> [UInt8]) {
        self.key = key
        self.fingerprint = fingerprint
        self.render = render
    }
}

/// The answer to a dispatch that carried a key.
package struct OnceAnswer: Sendable {
    /// The first answer's bytes, as they were rendered then.
    package let body: [UInt8]
    /// Whether the dispatch had been done before.
    package let isReplay: Bool
}
