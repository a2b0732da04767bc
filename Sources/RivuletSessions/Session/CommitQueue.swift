import DequeModule

/// The dispatches that are reduced and not visible yet, in order, and storage's progress with them.
struct CommitQueue: ~Copyable {
    private var dispatches: Deque<PendingDispatch> = []
    /// The number of dispatches, from the first one on, that storage is writing or has written.
    private var submitted = 0
    /// The number of dispatches, from the first one on, that are durable.
    private var durable = 0
    /// The approximate memory of the dispatches, in bytes.
    private(set) var bytes = 0

    /// The most dispatches of one append; each has at most one log entry.
    static let entriesPerAppendMax = 256
    /// The most bytes of log entries and idempotency records in one append; a single larger dispatch is an append of
    /// its own.
    static let bytesPerAppendMax = 1_048_576

    /// The content of one append.
    struct Batch {
        fileprivate(set) var entries: [LogEntry] = []
        fileprivate(set) var answers: [IdempotencyRecord] = []
        /// The number of dispatches in the batch; some have nothing for storage.
        fileprivate(set) var count = 0

        var isEmpty: Bool { entries.isEmpty && answers.isEmpty }
    }

    var count: Int { dispatches.count }

    var isEmpty: Bool { dispatches.isEmpty }

    mutating func append(_ dispatch: PendingDispatch) {
        dispatches.append(dispatch)
        bytes += dispatch.memoryBytes
    }

    /// Removes and returns the first dispatch if it can become visible.
    ///
    /// A durable dispatch can become visible. A dispatch with nothing for storage can become visible too, if the
    /// session is stored and storage is writing no batch.
    mutating func popVisible(isStored: Bool) -> PendingDispatch? {
        guard let first = dispatches.first, durable > 0 || (isStored && submitted == 0 && !first.needsStorage) else {
            return nil
        }
        dispatches.removeFirst()
        bytes -= first.memoryBytes
        if durable > 0 {
            durable -= 1
            submitted -= 1
        }
        return first
    }

    /// Returns the entries and idempotency records of the first dispatches, as many as one append may carry.
    func nextBatch() -> Batch {
        var batch = Batch()
        var bytes = 0
        for dispatch in dispatches.prefix(Self.entriesPerAppendMax) {
            bytes += (dispatch.entry?.byteCount ?? 0) + (dispatch.kept?.byteCount ?? 0)
            guard batch.count == 0 || bytes <= Self.bytesPerAppendMax else { break }
            if let entry = dispatch.entry { batch.entries.append(entry) }
            if let kept = dispatch.kept { batch.answers.append(kept) }
            batch.count += 1
        }
        return batch
    }

    /// Records that the batch was given to storage.
    mutating func submit(_ batch: Batch) { submitted = batch.count }

    /// Records that the batch is durable.
    mutating func commit() { durable = submitted }

    /// Removes and returns all dispatches, because storage failed or the session ends.
    mutating func takeAll() -> [PendingDispatch] {
        let all = Array(dispatches)
        self = CommitQueue()
        return all
    }
}
