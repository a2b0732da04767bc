import DequeModule

/// Dispatches on their way from reduced to visible, in their order, and how far storage is with them.
struct CommitQueue: ~Copyable {
    private var dispatches: Deque<PendingDispatch> = []
    /// How many of the first ones storage is writing or has written.
    private var submitted = 0
    /// How many of the first ones are durable.
    private var durable = 0
    /// What they take of memory, roughly.
    private(set) var bytes = 0

    /// The most log entries that one append carries.
    static let entriesPerAppendMax = 256
    /// The most bytes of log entries that one append carries, but for a single larger one.
    static let bytesPerAppendMax = 1_048_576

    /// What one append carries.
    struct Batch {
        fileprivate(set) var entries: [LogEntry] = []
        fileprivate(set) var answers: [KeptAnswer] = []
        /// How many dispatches it is of; some have nothing for storage.
        fileprivate(set) var count = 0

        var isEmpty: Bool { entries.isEmpty && answers.isEmpty }
    }

    var count: Int { dispatches.count }

    var isEmpty: Bool { dispatches.isEmpty }

    mutating func append(_ dispatch: PendingDispatch) {
        dispatches.append(dispatch)
        bytes += dispatch.memoryBytes
    }

    /// Takes the first dispatch that can become visible: what storage has of it is durable, or it has nothing for storage and none
    /// before it has.
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

    /// What storage has to take of the first dispatches, as many as one append may carry.
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

    /// Says that storage has been given a batch.
    mutating func submit(_ batch: Batch) { submitted = batch.count }

    /// Says that what storage was given is durable.
    mutating func commit() { durable = submitted }

    /// Takes all of them, because storage failed or the session ends.
    mutating func takeAll() -> [PendingDispatch] {
        let all = Array(dispatches)
        self = CommitQueue()
        return all
    }
}
