/// The reservation of a client's idempotency key for one dispatch, with the fingerprint of its request and the form of
/// its answer.
package struct IdempotencyReservation: Sendable {
    /// The key with its caller; unique within its session for as long as idempotency records are kept.
    package let key: String
    /// The key as the client sent it, for refusals and for the log.
    package let name: String
    /// A hash of everything that identifies the request.
    package let fingerprint: [UInt8]
    /// Returns true if a stored fingerprint may be of the same request; an earlier version of the server may have made
    /// the fingerprint.
    private let isOfThis: @Sendable (_ kept: [UInt8]) -> Bool
    /// Renders the bytes of the answer, which the first request and every retry get.
    package let render: @Sendable (DispatchAnswer) -> [UInt8]

    /// Describes a reservation; without `name`, the key is the name, and without `isOfThis`, a kept fingerprint must be
    /// equal to `fingerprint`.
    package init(
        key: String,
        name: String? = nil,
        fingerprint: [UInt8],
        isOfThis: (@Sendable (_ kept: [UInt8]) -> Bool)? = nil,
        render: @escaping @Sendable (DispatchAnswer) -> [UInt8]
    ) {
        self.key = key
        self.name = name ?? key
        self.fingerprint = fingerprint
        self.isOfThis = isOfThis ?? { $0 == fingerprint }
        self.render = render
    }

    /// True if the record's fingerprint may be of this request.
    func isOf(_ kept: IdempotencyRecord) -> Bool { isOfThis(kept.fingerprint) }
}

/// The answer to a dispatch with an idempotency key.
package struct OnceAnswer: Sendable {
    /// The first answer's bytes, as they were rendered then.
    package let body: [UInt8]
    /// True if the dispatch had been carried out before.
    package let isReplay: Bool
    /// True if every change of the dispatch was on disk before this answer, or before the first answer that it repeats.
    package let isDurable: Bool
}

/// Makes the idempotency record that is stored together with the changes of a dispatch.
struct IdempotencyRecorder {
    /// The client's idempotency key, which is also in the log entry.
    let commandID: String
    /// Renders the answer; called once, when the dispatch has been reduced.
    let keep: (DispatchAnswer) -> IdempotencyRecord
}
