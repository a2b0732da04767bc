/// The limits of a `MemoryStorageEngine`, beyond which it refuses requests.
public struct MemoryStorageLimits: Hashable, Sendable {
    /// The bytes that all sessions together may hold: 1 GiB.
    ///
    /// Beyond it appends, creations and compactions answer `.memoryFull`.
    public var bytesMax = 1 << 30
    /// The largest `LogEntry.byteCount` or `IdempotencyRecord.byteCount`: 8 MiB.
    ///
    /// Beyond it appends answer `.tooLarge`.
    public var entryBytesMax = 8 << 20
    /// The largest `StateSnapshot.state`: 256 MiB.
    ///
    /// Beyond it creations and compactions answer `.tooLarge`.
    public var snapshotBytesMax = 256 << 20
    /// The most documents of one collection of a store: 1,000,000.
    ///
    /// Beyond it commits answer `.tooMany`.
    public var itemsMax = 1_000_000
    /// The largest document of a store: 1 MiB.
    ///
    /// Beyond it commits answer `.tooLarge`.
    public var documentBytesMax = 1 << 20
    /// The most requests that may wait for their answer: 65,536.
    ///
    /// Beyond it requests answer `.unavailable`.
    public var requestsWaitingMax = 65_536

    /// Makes the limits with the defaults that are documented at each of them.
    public init() {}
}
