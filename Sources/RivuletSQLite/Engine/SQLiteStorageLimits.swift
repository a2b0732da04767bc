/// How much a `SQLiteStorageEngine` takes before it refuses, and when it tidies up.
public struct SQLiteStorageLimits: Hashable, Sendable {
    /// The largest size of the database file, in bytes; nil: as large as the disk allows.
    ///
    /// Beyond it appends answer `.full`. It takes no account of the write-ahead log, which holds `walPagesMax` pages.
    public var databaseBytesMax: Int?
    /// The largest `LogEntry.byteCount`: 8 MiB.
    ///
    /// Beyond it appends answer `.tooLarge`.
    public var entryBytesMax = 8 << 20
    /// The largest `StateSnapshot.state`, before compression: 256 MiB.
    ///
    /// Beyond it creations and compactions answer `.tooLarge`.
    public var snapshotBytesMax = 256 << 20
    /// The writes that may wait for their answer: 65,536.
    ///
    /// Beyond it writes answer `.unavailable`.
    public var writesWaitingMax = 65_536
    /// The bytes of all writes that wait for their answer: 64 MiB; a single larger write is taken when none waits.
    ///
    /// Beyond it writes answer `.unavailable`.
    public var writeBytesWaitingMax = 64 << 20
    /// The reads that may wait for their answer: 16,384.
    ///
    /// Beyond it reads answer `.unavailable`.
    public var readsWaitingMax = 16_384
    /// The writes that share one commit: 1,024.
    public var batchWritesMax = 1_024
    /// The bytes that share one commit: 1 MiB; a single larger write is committed alone.
    public var batchBytesMax = 1 << 20
    /// The bytes of entries that one `history` answer holds: 8 MiB; a single larger entry is answered alone.
    public var historyBytesMax = 8 << 20
    /// The longest wait for a lock that another program holds on the database, in milliseconds: 5,000.
    public var lockWaitMilliseconds = 5_000
    /// The heads that the writer remembers, so that an append need not look its session up: 65,536.
    public var headsRememberedMax = 65_536
    /// The largest document of a store: 1 MiB.
    ///
    /// Beyond it commits answer `.tooLarge`.
    public var documentBytesMax = 1 << 20
    /// The largest key of a document, and the largest name of a collection: 64 KiB.
    ///
    /// Beyond it commits answer `.tooLarge`.
    public var keyBytesMax = 64 << 10
    /// The documents of one collection: 1,000,000.
    ///
    /// Beyond it commits answer `.tooMany`.
    public var itemsMax = 1_000_000
    /// The requests of stores that wait for `start()`: 1,024 reads and as many commits.
    ///
    /// Beyond it they answer `.unavailable`.
    public var requestsBeforeStartMax = 1_024
    /// The keys of stores that the writer remembers, 24 to 48 bytes each: 4,000,000.
    ///
    /// Beyond it the keys of a collection are read anew at its next commit.
    public var keysRememberedMax = 4_000_000
    /// The bits of a key's hash that count; with few of them keys share hashes, which tests want to see.
    package var keyHashMask = UInt64.max
    /// The entries of sessions' logs that are committed before their index is brought up to date: 4,096.
    ///
    /// Each connection remembers where those are, with 16 bytes each and some 100 for each of their sessions. It reads them from the log,
    /// in 1 to 2 ms, when it begins, and the writer after a commit that failed. One commit may go beyond it, and so may many while the
    /// index cannot be written.
    public var unindexedEntriesMax = 4_096
    /// The pages (of 4 KiB) that the write-ahead log grows by between checkpoints: 1,000.
    public var walPagesPerCheckpoint = 1_000
    /// The pages of the write-ahead log from which on checkpoints come oftener and have the log start again: 16,384.
    ///
    /// No checkpoint waits for a reader, so the log grows beyond it while another program reads, such as a backup.
    public var walPagesMax = 16_384
    /// The bytes that one step of erasing a deleted session writes to the write-ahead log: 4 MiB; a single larger row is erased alone.
    ///
    /// After each step the log is truncated, and other writes go on.
    public var eraseStepBytesMax = 4 << 20
    /// The shortest time between two steps of erasing, in milliseconds: 50.
    public var erasePauseMilliseconds = 50
    /// The longest time that removed or replaced text stays in the files while writes go on, in milliseconds: 60,000.
    ///
    /// In a quiet moment it goes sooner: see `idleMilliseconds`. A reader in another process makes it longer.
    public var removedTextMillisecondsMax = 60_000
    /// The time without a write after which the writer tidies up, in milliseconds: 1,000.
    public var idleMilliseconds = 1_000

    /// The limits as documented at each of them.
    public init() {}
}
