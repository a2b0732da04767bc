import DequeModule
import RivuletEngine
import RivuletJSON
import RivuletObservation

/// A session as a state machine: requests and answers go in, ``next(isHeld:)`` returns the next action.
///
/// The machine does no I/O and knows no app: it does not open the boxes of states. A dispatch goes through four steps,
/// in order: queued, reduced on the head, durable, visible. Several dispatches may be reduced and not yet durable;
/// readers and streams see only visible changes. States share their unchanged parts, so the rollback after a failure is
/// an assignment. The machine cannot be copied: each dispatch calls it several times, and a copy in each call would
/// cost time.
struct SessionMachine: ~Copyable {
    let key: SessionKey
    private var timeline: SessionTimeline
    /// The end of the log in storage; nil if storage does not have the session.
    private(set) var storedHead: SessionHead?
    /// The form of the document in storage.
    private(set) var storedForm: StoredForm

    private var queue: Deque<QueuedDispatch> = []
    private var commits = CommitQueue()
    private var creation = SessionCreation()
    private var deletion: SessionReply<Void>?
    /// The waiting bytes: the bodies and documents that are held, queued or on their way to disk.
    private(set) var waitingBytes = 0
    /// The number of accepted dispatches with `holdsQueue` and with effects that have not begun.
    ///
    /// The next event waits for the end of these effects.
    private(set) var effectsToCome = 0
    private var isStorageBusy = false
    private var mayNeedSnapshot = false
    /// The position at which the state was found to have values that storage would not restore.
    private var unpassivablePosition: Cursor.Position?
    private(set) var isDriven = false
    /// True if events of effects wait for the next drive.
    private var isYielding = false
    /// The number of pauses under way; during a pause the session reduces, creates and deletes nothing.
    private var pauses = 0
    private(set) var isRetired = false
    private let queuedMax: Int
    private let waitingBytesMax: Int

    init(
        _ key: SessionKey,
        standing: SessionStanding,
        size: StateSize,
        storedHead: SessionHead?,
        storedForm: StoredForm,
        queuedMax: Int,
        waitingBytesMax: Int
    ) {
        self.key = key
        timeline = SessionTimeline(standing, size: size)
        self.storedHead = storedHead
        self.storedForm = storedForm
        self.queuedMax = queuedMax
        self.waitingBytesMax = waitingBytesMax
    }

    /// The state and the position that readers see.
    var standing: SessionStanding { timeline.standing }

    /// The state after the last accepted event.
    var head: OpaqueBox { timeline.head }

    /// The size of the state after the last accepted event.
    var headSize: StateSize { timeline.headSize }

    /// Changes of stored fields by transient events; the next log entry has to include them.
    var unlogged: [StateChange] { timeline.unlogged }

    /// The state that a replay of the log restores.
    var loggedState: OpaqueBox { timeline.loggedState }

    /// True if storage has the session.
    ///
    /// This is a pattern match, because each dispatch reads it several times. The comparison `!= nil` copies a value
    /// that is `Equatable`.
    var isStored: Bool { if case .some = storedHead { true } else { false } }

    /// True if nothing is queued or under way.
    var isQuiet: Bool {
        // During a drive, the effects of answered dispatches may not have begun yet.
        !isDriven && queue.isEmpty && commits.isEmpty && !isStorageBusy && effectsToCome == 0 && deletion == nil
            && !creation.isAwaited && pauses == 0
    }

    /// True if readers see the state at the head.
    var isHeadVisible: Bool { commits.isEmpty }

    /// The approximate memory of dispatches that are reduced and not visible yet, in bytes.
    var pendingBytes: Int { commits.bytes }

    /// The approximate memory of all work under way, in bytes.
    var bytes: Int { unlogged.memoryBytes + waitingBytes + commits.bytes + creation.bytes }

    // MARK: - Requests

    /// Checks that the session accepts requests.
    func admit() throws(SessionError) {
        if deletion != nil { throw .deleting(key) }
        if isRetired { throw Self.retiredError }
    }

    /// The error for a request to a session that has left memory or is about to leave.
    static var retiredError: SessionError {
        .storage(.unavailable(detail: "the session is being loaded again; try once more"))
    }

    /// Checks that the session accepts requests, and that a dispatch of `bytes` bytes has room in the queue.
    func admit(bytes: Int) throws(SessionError) {
        try admit()
        guard queue.count < queuedMax else { throw .overloaded("event queue of session \(key.id)") }
        guard waitingBytes == 0 || waitingBytes + bytes <= waitingBytesMax else {
            throw .overloaded("bytes of the events that wait in session \(key.id) (waitingBytesMax)")
        }
    }

    /// Queues an admitted dispatch.
    mutating func enqueue(_ dispatch: QueuedDispatch) {
        waitingBytes += dispatch.bodyBytes
        queue.append(dispatch)
    }

    /// Queues an event of an effect.
    ///
    /// - Returns: The reason if the event was dropped; nil if it is queued.
    mutating func enqueue(fromEffect dispatch: @autoclosure () -> QueuedDispatch) -> EffectError? {
        guard !isRetired, deletion == nil else { return .late }
        guard queue.count < queuedMax else { return .queueFull(limit: queuedMax) }
        queue.append(dispatch())
        return nil
    }

    /// The waiting bytes of an admitted request that is not in the queue, such as a body during the lookup of its
    /// idempotency key.
    struct HeldBody { fileprivate let bytes: Int }

    /// Adds a held body to the waiting bytes, until ``release(_:)``.
    mutating func hold(bytes: Int) -> HeldBody {
        waitingBytes += bytes
        return HeldBody(bytes: bytes)
    }

    /// Removes a held body from the waiting bytes, because its request is now queued or answered.
    mutating func release(_ body: HeldBody) { waitingBytes -= body.bytes }

    /// Removes a restored version's document from the waiting bytes.
    mutating func releaseDocument(of dispatch: QueuedDispatch) {
        guard let document = dispatch.document else { return }
        dispatch.document = nil
        release(document)
    }

    /// True if the session is stored or work under way will store it, so that a creation has nothing to do.
    var isBegun: Bool { isStored || !queue.isEmpty || !commits.isEmpty || isStorageBusy || isPaused }

    /// Adds a reply to a creation, which is sent once storage has the session.
    mutating func awaitCreation(_ reply: @escaping SessionReply<SessionInfo>) { creation.await(reply) }

    /// The owner of a session that is being created.
    var owner: String? { creation.owner }

    /// Records the caller of the first event or of the creation as the session's owner, if the session is not stored.
    mutating func beginCreation(by owner: @autoclosure () -> String?) {
        if !isStored { creation.begin(by: owner()) }
    }

    /// Begins the session with a state that differs from its default; the state becomes visible once it is stored.
    mutating func create(
        with initial: SessionCreation.Initial,
        state: OpaqueBox,
        size: StateSize,
        changes: [StateChange]
    ) {
        creation.begin(with: initial)
        commits.append(timeline.begin(with: state, size: size, changes: changes))
    }

    /// Deletes the session once nothing is under way.
    mutating func delete(_ reply: @escaping SessionReply<Void>) throws(SessionError) {
        try admit()
        guard isBegun else { throw .notFound(key) }
        deletion = reply
    }

    // MARK: - Reducing

    /// Returns the mismatch between the session's position and the expected cursors; nil if a cursor matches or none is
    /// expected.
    func mismatch(with expected: [Cursor]) -> CursorMismatch? { timeline.mismatch(with: expected) }

    /// Refuses a dispatch that expected another state, once the compared state is visible.
    ///
    /// - Returns: False if the caller has to answer at once.
    mutating func refuse(_ dispatch: QueuedDispatch, _ mismatch: CursorMismatch) -> Bool {
        // A refusal must not create the session in storage.
        guard isStored || !commits.isEmpty else {
            reject(dispatch)
            return false
        }
        commits.append(
            timeline.unchanged(
                outcome: PendingDispatch.Outcome(mismatch: mismatch, sender: dispatch.sender),
                bodyBytes: dispatch.bodyBytes,
                reply: dispatch.reply
            )
        )
        return true
    }

    /// Returns the position that a dispatch with these changes would get, and the changes for its log entry.
    func placement(of recording: Recording, persists: Bool) -> SessionTimeline.Placement {
        timeline.placement(of: recording, persists: persists)
    }

    /// Moves the head to a reduced dispatch and queues the dispatch for storage.
    mutating func accept(_ dispatch: PendingDispatch) {
        timeline.accept(dispatch)
        if dispatch.outcome.holdsQueue { effectsToCome += 1 }
        commits.append(dispatch)
    }

    /// Keeps the size that was measured for a refused event, so that the next event need not measure it again.
    mutating func didMeasure(_ size: StateSize) { timeline.didMeasure(size) }

    /// Stops reductions, creations and the deletion until ``resume()``, because a job needs an unchanged head.
    ///
    /// Accepted events are still written to disk and become visible.
    mutating func pause() { pauses += 1 }

    /// Ends a ``pause()``; the caller drives the session afterwards.
    mutating func resume() { pauses -= 1 }

    /// True during a ``pause()``.
    var isPaused: Bool { pauses > 0 }

    /// Drops a dispatch that was taken from the queue and changes nothing; the caller answers its sender.
    mutating func reject(_ dispatch: QueuedDispatch) { waitingBytes -= dispatch.bodyBytes }

    /// True if a dispatch waits to be reduced.
    var hasQueued: Bool { !queue.isEmpty }

    /// Defers queued events of effects until the next drive of the session.
    ///
    /// So effects that feed each other do not keep the event loop from its other work.
    ///
    /// - Returns: True if there are such events and no drive for them is scheduled yet.
    mutating func yield() -> Bool {
        guard !isYielding, queue.contains(where: { $0.source != nil }) else { return false }
        isYielding = true
        return true
    }

    /// Ends the deferral of effects' events, because no later drive can be scheduled.
    mutating func stopYielding() { isYielding = false }

    /// Returns the answer to a dispatch.
    ///
    /// The answer is the same before and after the dispatch is visible: during a creation it already has the new epoch.
    func answer(to dispatch: PendingDispatch, survivesPowerLoss: Bool) -> DispatchAnswer {
        DispatchAnswer(
            version: dispatch.position.version,
            cursor: Cursor(
                epoch: creation.initial?.visibleEpoch ?? standing.visibleEpoch,
                position: dispatch.position,
                incarnation: standing.incarnation,
                hasUnlogged: !dispatch.unlogged.isEmpty
            ),
            isDurable: dispatch.outcome.persists && survivesPowerLoss,
            changes: dispatch.outcome.shown ?? dispatch.outcome.changes,
            changesJSON: dispatch.outcome.isLoggedAsAnswered ? dispatch.entry?.changes : nil,
            coerced: dispatch.outcome.coercions
        )
    }

    // MARK: - Next actions

    /// Begins a drive; returns false if a drive is under way already.
    ///
    /// If it returns true, the caller performs the actions of ``next(isHeld:)`` until there are none.
    mutating func beginDriving() -> Bool {
        if isDriven { return false }
        isDriven = true
        isYielding = false
        return true
    }

    /// Returns the next action of a drive; nil ends the drive.
    ///
    /// `isHeld` is true if the next event has to wait for an effect under way.
    mutating func next(isHeld: Bool) -> Action? {
        if !isRetired, let action = nextAction(isHeld: isHeld) { return action }
        isDriven = false
        return nil
    }

    private mutating func nextAction(isHeld: Bool) -> Action? {
        if let dispatch = commits.popVisible(isStored: isStored) {
            waitingBytes -= dispatch.bodyBytes
            // The effects of the dispatch begin before the next action is requested.
            if dispatch.outcome.holdsQueue { effectsToCome -= 1 }
            return .publish(dispatch, over: timeline.show(dispatch))
        }
        if isStored, let replies = creation.takeReplies() { return .created(replies) }
        if mayNeedSnapshot, !isStorageBusy {
            mayNeedSnapshot = false
            // A snapshot precedes further entries: otherwise a session that is never quiet would put it off for ever.
            if let storedHead, storedHead.version == standing.version { return .considerSnapshot(storedHead) }
        }
        if mayReduce(isHeld: isHeld), let dispatch = queue.popFirst() { return .reduce(dispatch) }
        return isStorageBusy ? nil : nextStorageTurn()
    }

    /// True if the first queued dispatch may be reduced now; an event of an effect may have to wait for the next drive.
    private func mayReduce(isHeld: Bool) -> Bool {
        guard !isHeld, !isPaused, effectsToCome == 0, commits.count < queuedMax else { return false }
        return !isYielding || queue.first?.source == nil
    }

    private mutating func nextStorageTurn() -> Action? {
        guard !commits.isEmpty || (creation.isAwaited && !isPaused) else { return nextDeletion() }
        let batch = commits.nextBatch()
        guard let storedHead else {
            commits.submit(batch)
            return begin(.create(batch))
        }
        guard !batch.isEmpty else { return nextDeletion() }
        guard storedForm == .whole else { return begin(.storeWhole(storedHead)) }
        commits.submit(batch)
        return begin(.append(batch, after: storedHead))
    }

    /// Returns the deletion once nothing is under way.
    ///
    /// If the deletion succeeds, dispatches that are still queued are refused.
    private mutating func nextDeletion() -> Action? {
        guard let reply = deletion, commits.isEmpty, !isYielding, !isPaused else { return nil }
        guard isStored else {
            deletion = nil
            return .wasNeverStored(reply)
        }
        return begin(.delete)
    }

    private mutating func begin(_ turn: StorageTurn) -> Action {
        isStorageBusy = true
        return .store(turn)
    }

    /// Records that a snapshot is being stored.
    mutating func beginStorage() { isStorageBusy = true }

    /// The state with which a client creates the session; nil for the default of this build.
    var initial: SessionCreation.Initial? { creation.initial }

    // MARK: - Storage answers

    /// Handles storage's answer to a creation or an append.
    mutating func didAppend(_ head: SessionHead) {
        isStorageBusy = false
        storedHead = head
        commits.commit()
        mayNeedSnapshot = true
        // The session now has the state that the client asked for at its creation; no reader has seen the epoch of that
        // state before.
        guard let initial = creation.adopt() else { return }
        timeline.adopt(initial)
    }

    /// Handles storage's answer to a snapshot.
    mutating func didStoreSnapshot(_ head: SessionHead) {
        isStorageBusy = false
        storedHead = head
        storedForm = .whole
    }

    /// Handles the failure of a snapshot; the log is complete without the snapshot.
    mutating func didNotStoreSnapshot() { isStorageBusy = false }

    /// Handles storage's answer to a deletion, and returns the reply that waits for it.
    mutating func didDelete() -> SessionReply<Void>? {
        isStorageBusy = false
        defer { deletion = nil }
        return deletion
    }

    /// The requests that wait for work that failed.
    struct FailedRequests {
        let dispatches: [PendingDispatch]
        let queued: [QueuedDispatch]
        let creations: [SessionReply<SessionInfo>]
        let deletion: SessionReply<Void>?

        /// The bytes of the bodies that waited.
        fileprivate var bodyBytes: Int {
            dispatches.reduce(0) { $0 + $1.bodyBytes }
                + queued.reduce(0) { $0 + $1.bodyBytes + ($1.document?.bytes ?? 0) }
        }
    }

    /// Rolls back everything that is not durable, and returns the requests that failed with it.
    mutating func storageDidFail() -> FailedRequests {
        isStorageBusy = false
        let failed = FailedRequests(
            dispatches: commits.takeAll(),
            queued: [],
            creations: creation.takeReplies() ?? [],
            deletion: nil
        )
        waitingBytes -= failed.bodyBytes
        creation = SessionCreation()
        effectsToCome = 0
        timeline.goBack()
        return failed
    }

    // MARK: - Endings

    /// Ends the session, and returns the requests that still wait; the caller answers them with an error.
    mutating func close() -> FailedRequests {
        isRetired = true
        effectsToCome = 0
        let failed = FailedRequests(
            dispatches: commits.takeAll(),
            queued: Array(queue),
            creations: creation.takeReplies() ?? [],
            deletion: deletion
        )
        waitingBytes -= failed.bodyBytes
        queue = []
        deletion = nil
        return failed
    }

    /// The names and the position of an earlier incarnation of the session.
    struct Passivated {
        let names: SessionNames
        let position: Cursor.Position
        /// True if storage has the session.
        let isStored: Bool
    }

    /// True if the visible state is known to have values that storage would not restore.
    var isKnownUnpassivable: Bool { unpassivablePosition == standing.position }

    mutating func didRefusePassivation() { unpassivablePosition = standing.position }

    /// Returns the data with which the session can continue as this incarnation; the session must be quiet.
    func passivated() -> Passivated {
        Passivated(
            names: standing.names,
            position: standing.position,
            isStored: isStored
        )
    }
}
