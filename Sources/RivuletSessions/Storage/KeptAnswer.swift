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
