/// The limits of a ``DiskStorageEngine``.
public struct DiskStorageLimits: Hashable, Sendable {
    /// The most documents of one collection, each a file: 100,000.
    ///
    /// Commits beyond it answer `.tooMany`.
    public var itemsMax = 100_000
    /// The largest document: 16 MiB.
    ///
    /// Commits beyond it answer `.tooLarge`.
    public var documentBytesMax = 16 << 20
    /// The largest key of a document, and the largest name of a collection: 64 KiB.
    ///
    /// Commits beyond it answer `.tooLarge`.
    public var keyBytesMax = 64 << 10
    /// The most requests that wait for their answer: 1,024.
    ///
    /// Requests beyond it answer `.unavailable`.
    public var requestsWaitingMax = 1_024
    /// The most bytes of all commits that wait for their answer: 64 MiB.
    ///
    /// Commits beyond it answer `.unavailable`. A single larger commit is accepted if nothing waits.
    public var bytesWaitingMax = 64 << 20
    /// The most keys that are kept in memory, about 100 bytes each: 1,000,000.
    ///
    /// Beyond it the files of a collection are read again at its next commit.
    public var keysRememberedMax = 1_000_000

    /// Creates limits with the documented defaults.
    public init() {}
}
