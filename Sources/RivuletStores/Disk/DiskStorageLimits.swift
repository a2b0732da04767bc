/// How much a ``DiskStorageEngine`` takes before it refuses.
public struct DiskStorageLimits: Hashable, Sendable {
    /// The documents of one collection, each a file: 100,000.
    ///
    /// Beyond it commits answer `.tooMany`.
    public var itemsMax = 100_000
    /// The largest document: 16 MiB.
    ///
    /// Beyond it commits answer `.tooLarge`.
    public var documentBytesMax = 16 << 20
    /// The largest key of a document, and the largest name of a collection: 64 KiB.
    ///
    /// Beyond it commits answer `.tooLarge`.
    public var keyBytesMax = 64 << 10
    /// The requests that may wait for their answer: 1,024.
    ///
    /// Beyond it requests answer `.unavailable`.
    public var requestsWaitingMax = 1_024
    /// The bytes of all commits that wait for their answer: 64 MiB; a single larger commit is taken when nothing waits.
    ///
    /// Beyond it commits answer `.unavailable`.
    public var bytesWaitingMax = 64 << 20
    /// The keys that are remembered, about 100 bytes each: 1,000,000.
    ///
    /// Beyond it the files of a collection are read anew at its next commit.
    public var keysRememberedMax = 1_000_000

    /// The limits as documented at each of them.
    public init() {}
}
