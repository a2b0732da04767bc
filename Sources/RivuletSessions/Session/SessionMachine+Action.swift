extension SessionMachine {
    /// The next step of the driver.
    enum Action {
        /// Reduce the dispatch over ``head``; the outcome goes to ``accept(_:)``, ``refuse(_:_:)`` or ``reject(_:)``.
        case reduce(QueuedDispatch)
        /// Show the dispatch, which is what ``standing`` has now, to readers of the earlier state; answer it, and begin its effects.
        case publish(PendingDispatch, over: SessionTimeline.Seen)
        /// Answer the requests that created the session: it is stored.
        case created([SessionReply<SessionInfo>])
        /// Answer the request that deletes the session: it was never stored.
        case wasNeverStored(SessionReply<Void>)
        /// Storage has all that is visible: store a snapshot at this head, if one is due; ``beginStorage()`` says that it is under way.
        case considerSnapshot(SessionHead)
        /// Give storage its next work; the answer goes to one of the methods below "Storage answers".
        case store(StorageTurn)
    }

    /// One piece of work for storage, of which there is one at a time.
    enum StorageTurn {
        /// Make storage know the session, with the batch if it has anything.
        case create(CommitQueue.Batch)
        /// Store the whole state at the head, which storage has in another schema or only as a log, before any further entry.
        case storeWhole(SessionHead)
        case append(CommitQueue.Batch, after: SessionHead)
        case delete
    }

    /// The document that storage has of a state, as this build sees it.
    enum StoredForm {
        /// All fields, in the schema of this build.
        case whole
        /// Not all fields: a snapshot goes before any further entry.
        case partial
        /// The schema of an earlier build: a snapshot goes before any further entry.
        case earlierSchema
    }
}
