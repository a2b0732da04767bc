package import RivuletBase
package import RivuletSessions
package import RivuletStores

/// One write of a partition, with everything in it that a replica could not repeat: times, epochs and limits.
///
/// Heads are an epoch and a version, because a storage's token is its own.
package enum Operation: Hashable, Sendable {
    /// Creates a session at version 0.
    case create(SessionKey, epoch: String, time: Int64, snapshot: StateSnapshot?, owner: String?, quota: StorageQuota)
    /// Appends entries and idempotency records.
    case append(
        SessionKey,
        at: OperationPoint,
        entries: [LogEntry],
        answers: IdempotencyRecords,
        quota: StorageQuota
    )
    /// Stores a snapshot, and drops the part of the log that is not needed any more.
    case compact(SessionKey, epoch: String, version: UInt64, snapshot: StateSnapshot, keeping: LogKeeping)
    /// Deletes a session.
    case delete(SessionKey)
    /// Changes a collection of stores.
    case items(collection: String, changes: [ItemChange], time: Int64, itemsMax: Int)
    /// Takes the partition: from here on, frames of an earlier term are void.
    case claim(Claim)
    /// Gives the partition up, so that another node may take it at once; `to` is empty for any node.
    case release(to: String)
    /// States the hash over all outcomes before it, so that a copy that has diverged finds out.
    case checkpoint(outcomes: UInt64)
    /// A part of a base; never in a log.
    case base(BaseOperation)
}

/// The point at which an append begins, without a storage's token.
package enum OperationPoint: Hashable, Sendable {
    case after(epoch: String, version: UInt64)
    case creating(epoch: String, time: Int64, snapshot: StateSnapshot?, owner: String?)
}

/// The node that takes a partition.
package struct Claim: Hashable, Sendable {
    package let node: String
    /// The run of the node's process.
    package let incarnation: UInt64
    /// The node's build, for operators.
    package let build: String
    /// The schema versions of the node's apps; a node with lower ones does not claim after it.
    package let schemas: [String: UInt32]

    package init(node: String, incarnation: UInt64, build: String, schemas: [String: UInt32]) {
        (self.node, self.incarnation, self.build, self.schemas) = (node, incarnation, build, schemas)
    }
}

/// A part of a partition's content at one position, in the order in which a replica loads it.
package enum BaseOperation: Hashable, Sendable {
    /// A session; its parts follow.
    case session(SessionKey, epoch: String, created: Int64, owner: String?)
    /// A snapshot of the last session, also one of an older schema.
    case snapshot(SessionKey, StateSnapshot, time: Int64)
    /// Entries of the log of the last session, contiguous.
    case entries(SessionKey, [LogEntry])
    /// An idempotency record.
    case answer(SessionKey, IdempotencyRecord)
    /// Items of a collection, in their order.
    case items(collection: String, [StoredItem])
}

/// The outcome of an operation, equal on all replicas.
package enum OperationOutcome: Hashable, Sendable {
    case created(CreateOutcome)
    case appended(AppendOutcome)
    case compacted(CompactionOutcome)
    case deleted(Bool)
    case items(ItemStorageError?)
    case refused(QuotaExcess)
    /// The operation changes no content.
    case none
}
