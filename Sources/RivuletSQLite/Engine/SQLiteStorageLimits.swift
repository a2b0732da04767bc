/// The limits of a `SQLiteStorageEngine`, and the times of its upkeep.
public struct SQLiteStorageLimits: Hashable, Sendable {
    /// The largest size of the database file, in bytes; nil for no limit except the disk's.
    ///
    /// Beyond it, appends answer `.full`. The limit does not include the write-ahead log, which holds `walPagesMax`
    /// pages.
    public var databaseBytesMax: Int?
    /// The disk space that a server keeps in `rivulet.db.reserve` for deletions on a full disk: 16 MiB; 0 for none.
    ///
    /// After a full disk, `probe` answers `.full` until the disk has `reserveBytes` of free space beside the reserve.
    public var reserveBytes = 16 << 20
    /// The largest `LogEntry.byteCount`: 8 MiB.
    ///
    /// Beyond it appends answer `.tooLarge`.
    public var entryBytesMax = 8 << 20
    /// The largest `StateSnapshot.state`, before compression: 256 MiB.
    ///
    /// Beyond it creations and compactions answer `.tooLarge`.
    public var snapshotBytesMax = 256 << 20
    /// The maximum number of writes that wait for their answer: 65,536.
    ///
    /// Beyond it writes answer `.unavailable`.
    public var writesWaitingMax = 65_536
    /// The maximum bytes of all writes that wait for their answer: 64 MiB; a single larger write is accepted if none
    /// waits.
    ///
    /// Beyond it writes answer `.unavailable`.
    public var writeBytesWaitingMax = 64 << 20
    /// The maximum number of reads that wait for their answer: 16,384.
    ///
    /// Beyond it reads answer `.unavailable`.
    public var readsWaitingMax = 16_384
    /// The maximum number of writes that share one commit: 1,024.
    public var batchWritesMax = 1_024
    /// The maximum bytes of the writes that share one commit: 1 MiB; a single larger write is committed alone.
    public var batchBytesMax = 1 << 20
    /// The maximum bytes of entries in one `history` answer: 8 MiB; a single larger entry is answered alone.
    public var historyBytesMax = 8 << 20
    /// The longest wait for a lock that another program holds on the database, in milliseconds: 5,000.
    public var lockWaitMilliseconds = 5_000
    /// The maximum number of heads that the writer remembers, so that an append need not read its session: 65,536.
    public var headsRememberedMax = 65_536
    /// The largest document of a store: 1 MiB.
    ///
    /// Beyond it commits answer `.tooLarge`.
    public var documentBytesMax = 1 << 20
    /// The largest key of a document, and the largest name of a collection: 64 KiB.
    ///
    /// Beyond it commits answer `.tooLarge`.
    public var keyBytesMax = 64 << 10
    /// The maximum number of documents of one collection: 1,000,000.
    ///
    /// Beyond it commits answer `.tooMany`.
    public var itemsMax = 1_000_000
    /// The maximum number of store requests that wait for `start()`: 1,024 reads and as many commits.
    ///
    /// Beyond it they answer `.unavailable`.
    public var requestsBeforeStartMax = 1_024
    /// The maximum number of keys of stores that the writer remembers, at 24 to 48 bytes each: 4,000,000.
    ///
    /// Beyond it, the keys of a collection are read again at its next commit.
    public var keysRememberedMax = 4_000_000
    /// The bits of a key's hash that are used; tests use few bits, so that keys share hashes.
    package var keyHashMask = UInt64.max
    /// The number of log entries that are committed before their index is updated: 4,096.
    ///
    /// Each connection remembers the rows of these entries, with 16 bytes for each entry and about 100 for each
    /// session. A new connection reads these rows from the log in 1 to 2 ms. The writer also reads them after a failed
    /// commit. The number of entries may exceed the limit by one commit, and by more while the index cannot be written.
    public var unindexedEntriesMax = 4_096
    /// The number of pages (of 4 KiB) by which the write-ahead log grows between checkpoints: 1,000.
    public var walPagesPerCheckpoint = 1_000
    /// The number of pages of the write-ahead log above which checkpoints are more frequent and restart the log:
    /// 16,384.
    ///
    /// No checkpoint waits for a reader, so the log grows beyond this limit while another program reads, such as a
    /// backup.
    public var walPagesMax = 16_384
    /// The maximum bytes that one step of erasing writes to the write-ahead log: 4 MiB; a single larger row is erased
    /// alone.
    ///
    /// After each step the log is truncated, and other writes continue.
    public var eraseStepBytesMax = 4 << 20
    /// The shortest time between two steps of erasing, in milliseconds: 50.
    public var erasePauseMilliseconds = 50
    /// The longest time that removed or replaced text stays in the files during continuous writes, in milliseconds:
    /// 60,000.
    ///
    /// If the writer is idle, the time is shorter: see `idleMilliseconds`. A reader in another process makes it longer.
    public var removedTextMillisecondsMax = 60_000
    /// The time without a write after which the writer does its upkeep, in milliseconds: 1,000.
    public var idleMilliseconds = 1_000

    /// Makes the default limits, as documented at each of them.
    public init() {}
}
