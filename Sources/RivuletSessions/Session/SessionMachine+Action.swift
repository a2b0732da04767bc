extension SessionMachine {
    /// The next step of the driver.
    enum Action {
        /// Reduce the dispatch over ``head``; the outcome goes to ``accept(_:)``, ``refuse(_:_:)`` or ``reject(_:)``.
        case reduce(QueuedDispatch)
        /// Publish the dispatch, answer it, and begin its effects.
        ///
        /// `over` is the state that readers saw before; ``standing`` already has the dispatch's state.
        case publish(PendingDispatch, over: SessionTimeline.Seen)
        /// Answer the requests that created the session: it is stored.
        case created([SessionReply<SessionInfo>])
        /// Answer the request that deletes the session: it was never stored.
        case wasNeverStored(SessionReply<Void>)
        /// Store a snapshot at this head if one is due; storage has all visible changes. The driver calls
        /// ``beginStorage()`` if it stores one.
        case considerSnapshot(SessionHead)
        /// Give storage its next work; the answer goes to one of the methods below "Storage answers".
        case store(StorageTurn)
    }

    /// One piece of work for storage; a session has at most one at a time.
    enum StorageTurn {
        /// Create the session in storage, with the batch if it is not empty.
        case create(CommitQueue.Batch)
        /// Store the whole state at the head before any further entry, because storage has it in another schema or
        /// without all its fields.
        case storeWhole(SessionHead)
        case append(CommitQueue.Batch, after: SessionHead)
        case delete
    }

    /// The form of a document in storage, as this build sees it.
    enum StoredForm {
        /// All fields, in the schema of this build.
        case whole
        /// Not all fields: a snapshot goes before any further entry.
        case partial
        /// The schema of an earlier build: a snapshot goes before any further entry.
        case earlierSchema
    }
}
