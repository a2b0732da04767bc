import DequeModule
import RivuletEngine
import RivuletJSON
import RivuletObservation

/// A session as a state machine: requests and answers go in, ``next(isHeld:)`` says what is to be done.
///
/// Without I/O and without an app: states are boxes that it does not open. A dispatch goes through four steps, in order: queued,
/// reduced on the head, durable, visible. Several may be between the second and the third; readers and streams see what is visible.
/// Every state is a value that shares with its neighbours what did not change, so going back after a failure is an assignment. Nothing
/// copies a machine: it is asked several times in each dispatch.
struct SessionMachine: ~Copyable {
    let key: SessionKey
    private var timeline: SessionTimeline
    /// Where storage's log ends; nil while storage does not know the session.
    private(set) var storedHead: SessionHead?
    /// The document that storage has of the state.
    private(set) var storedForm: StoredForm

    private var queue: Deque<QueuedDispatch> = []
    private var commits = CommitQueue()
    private var creation = SessionCreation()
    private var deletion: SessionReply<Void>?
    /// The bytes of the bodies that are queued or on their way to disk.
    private(set) var waitingBytes = 0
    /// How many accepted dispatches have effects that the next event waits for and that have not begun.
    private(set) var effectsToCome = 0
    private var isStorageBusy = false
    private var mayNeedSnapshot = false
    /// Where the session stood when it was found to have what storage would not give back.
    private var unpassivablePosition: Cursor.Position?
    private(set) var isDriven = false
    /// Whether events of effects wait for the next drive.
    private var isYielding = false
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

    /// What readers see.
    var standing: SessionStanding { timeline.standing }

    /// The state after the last accepted event.
    var head: OpaqueBox { timeline.head }

    /// How large that state is.
    var headSize: StateSize { timeline.headSize }

    /// Changes of stored fields by transient events, which the next entry has to carry.
    var unlogged: [StateChange] { timeline.unlogged }

    /// The state that the log leads to.
    var loggedState: OpaqueBox { timeline.loggedState }

    /// Whether storage knows the session.
    ///
    /// A pattern, asked several times in each dispatch: `!= nil` of an optional value that is `Equatable` copies that value.
    var isStored: Bool { if case .some = storedHead { true } else { false } }

    /// Whether nothing is queued or under way.
    var isQuiet: Bool {
        // While it is driven, the effects of what was answered are still to begin.
        !isDriven && queue.isEmpty && commits.isEmpty && !isStorageBusy && effectsToCome == 0 && deletion == nil
            && !creation.isAwaited
    }

    /// Whether the state at the head is what readers see.
    var isHeadVisible: Bool { commits.isEmpty }

    /// What dispatches that are reduced and not visible take of memory, roughly.
    var pendingBytes: Int { commits.bytes }

    /// What dispatches that are under way take of memory, roughly.
    var bytes: Int { unlogged.memoryBytes + waitingBytes + commits.bytes + creation.bytes }

    // MARK: - What comes in

    /// Makes sure that the session takes requests.
    func admit() throws(SessionError) {
        if deletion != nil { throw .deleting(key) }
        if isRetired { throw .storage(.unavailable(detail: "the session is being loaded again; try once more")) }
    }

    /// Makes sure that the session takes requests, and that a dispatch of so many bytes has room in the queue.
    func admit(bytes: Int) throws(SessionError) {
        try admit()
        guard queue.count < queuedMax else { throw .overloaded("event queue of session \(key.id)") }
        guard waitingBytes == 0 || waitingBytes + bytes <= waitingBytesMax else {
            throw .overloaded("bytes of the events that wait in session \(key.id) (waitingBytesMax)")
        }
    }

    /// Queues a dispatch that was admitted.
    mutating func enqueue(_ dispatch: QueuedDispatch) {
        waitingBytes += dispatch.bodyBytes
        queue.append(dispatch)
    }

    /// Queues an event of an effect.
    ///
    /// - Returns: Why it was dropped; nil when it is queued.
    mutating func enqueue(fromEffect dispatch: @autoclosure () -> QueuedDispatch) -> EffectFault? {
        guard !isRetired, deletion == nil else { return .late }
        guard queue.count < queuedMax else { return .queueFull(limit: queuedMax) }
        queue.append(dispatch())
        return nil
    }

    /// The body of an admitted request that is not queued before storage has been asked for its key.
    struct HeldBody { fileprivate let bytes: Int }

    /// Counts a body that is held as waiting, until ``release(_:)``.
    mutating func hold(bytes: Int) -> HeldBody {
        waitingBytes += bytes
        return HeldBody(bytes: bytes)
    }

    /// Says that the request is queued now, or answered.
    mutating func release(_ body: HeldBody) { waitingBytes -= body.bytes }

    /// Whether a creation would find the session as good as created: stored, or with work under way that stores it.
    var isBegun: Bool { isStored || !queue.isEmpty || !commits.isEmpty || isStorageBusy }

    /// Tells a creation when storage knows the session.
    mutating func awaitCreation(_ reply: @escaping SessionReply<SessionInfo>) { creation.await(reply) }

    /// Begins the session with a state that differs from its default; it becomes visible when storage has it.
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

    /// How none of the cursors is where the session stands; nil when one is, or none is asked for.
    func mismatch(with expected: [Cursor]) -> CursorMismatch? { timeline.mismatch(with: expected) }

    /// Has the sender told that it expected another state, once what the dispatch saw is visible; false: it is to be told now.
    mutating func refuse(_ dispatch: QueuedDispatch, _ mismatch: CursorMismatch) -> Bool {
        // A session that storage does not know must not be created by a refusal.
        guard isStored || !commits.isEmpty else {
            reject(dispatch)
            return false
        }
        commits.append(
            timeline.unchanged(
                outcome: PendingDispatch.Outcome(mismatch: mismatch),
                bodyBytes: dispatch.bodyBytes,
                reply: dispatch.reply
            )
        )
        return true
    }

    /// Says where a dispatch with these changes would stand.
    func place(of recording: Recording, persists: Bool) -> SessionTimeline.Place {
        timeline.place(of: recording, persists: persists)
    }

    /// Gives a reduced dispatch its turn with storage.
    mutating func accept(_ dispatch: PendingDispatch) {
        timeline.accept(dispatch)
        if dispatch.outcome.holdsQueue { effectsToCome += 1 }
        commits.append(dispatch)
    }

    /// Keeps a size that was measured for an event that was refused, so that it is not measured again for the next one.
    mutating func didMeasure(_ size: StateSize) { timeline.didMeasure(size) }

    /// Drops a dispatch that was taken to be reduced and changes nothing; its sender is to be told why.
    mutating func reject(_ dispatch: QueuedDispatch) { waitingBytes -= dispatch.bodyBytes }

    /// Whether a dispatch waits to be reduced.
    var hasQueued: Bool { !queue.isEmpty }

    /// Has events that effects queued wait until the session is driven anew, so that effects that feed each other do not keep the loop
    /// from its other work.
    ///
    /// - Returns: Whether there are any, and none of the session's drives is to come yet.
    mutating func yield() -> Bool {
        guard !isYielding, queue.contains(where: { $0.source != nil }) else { return false }
        isYielding = true
        return true
    }

    /// Lets them have their turn after all: the session cannot be driven anew.
    mutating func stopYielding() { isYielding = false }

    /// The answer to a dispatch, the same before and after it is visible: a session that is being created has the epoch of its creation.
    func answer(to dispatch: PendingDispatch, survivesPowerLoss: Bool) -> DispatchAnswer {
        DispatchAnswer(
            version: dispatch.position.version,
            cursor: Cursor(
                epoch: creation.initial?.visibleEpoch ?? standing.visibleEpoch,
                position: dispatch.position,
                residence: standing.incarnation,
                hasUnlogged: !dispatch.unlogged.isEmpty
            ),
            isDurable: dispatch.outcome.persists && survivesPowerLoss,
            changes: dispatch.outcome.changes,
            changesJSON: dispatch.outcome.isLoggedAsAnswered ? dispatch.entry?.changes : nil,
            coerced: dispatch.outcome.coercions
        )
    }

    // MARK: - What goes out

    /// Whether the caller has to do what ``next(isHeld:)`` says, until that is nil; otherwise another one is at it.
    mutating func beginDriving() -> Bool {
        if isDriven { return false }
        isDriven = true
        isYielding = false
        return true
    }

    /// What is to be done next, by the one who drives; `isHeld` says that the next event waits for an effect under way.
    mutating func next(isHeld: Bool) -> Action? {
        if !isRetired, let action = nextAction(isHeld: isHeld) { return action }
        isDriven = false
        return nil
    }

    private mutating func nextAction(isHeld: Bool) -> Action? {
        if let dispatch = commits.popVisible(isStored: isStored) {
            waitingBytes -= dispatch.bodyBytes
            // Its effects begin before the next action is asked for.
            if dispatch.outcome.holdsQueue { effectsToCome -= 1 }
            return .publish(dispatch, over: timeline.show(dispatch))
        }
        if isStored, let replies = creation.takeReplies() { return .created(replies) }
        if mayNeedSnapshot, !isStorageBusy {
            mayNeedSnapshot = false
            // A snapshot goes before further entries: a session that is never quiet must not put it off for ever.
            if let storedHead, storedHead.version == standing.version { return .considerSnapshot(storedHead) }
        }
        if mayReduce(isHeld: isHeld), let dispatch = queue.popFirst() { return .reduce(dispatch) }
        return isStorageBusy ? nil : nextStorageTurn()
    }

    /// Whether the first dispatch of the queue has its turn; an event of an effect may have to wait for the next drive.
    private func mayReduce(isHeld: Bool) -> Bool {
        guard !isHeld, effectsToCome == 0, commits.count < queuedMax else { return false }
        return !isYielding || queue.first?.source == nil
    }

    private mutating func nextStorageTurn() -> Action? {
        guard !commits.isEmpty || creation.isAwaited else { return nextDeletion() }
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

    /// Deletes once nothing is under way; what is still queued is refused.
    private mutating func nextDeletion() -> Action? {
        guard let reply = deletion, commits.isEmpty, !isYielding else { return nil }
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

    /// Says that a snapshot is being stored.
    mutating func beginStorage() { isStorageBusy = true }

    /// What storage has to know of a session that it is to create; nil: the default of this build.
    var initial: SessionCreation.Initial? { creation.initial }

    // MARK: - Storage answers

    /// Takes the answer to a creation or an append.
    mutating func didAppend(_ head: SessionHead) {
        isStorageBusy = false
        storedHead = head
        commits.commit()
        mayNeedSnapshot = true
        // The session is what the client asked for at its creation; no reader has seen its history's name before.
        guard let initial = creation.adopt() else { return }
        timeline.adopt(initial)
    }

    /// Takes the answer to a snapshot.
    mutating func didStoreSnapshot(_ head: SessionHead) {
        isStorageBusy = false
        storedHead = head
        storedForm = .whole
    }

    /// Takes the answer to a snapshot that storage did not need: the log is whole without it.
    mutating func didNotStoreSnapshot() { isStorageBusy = false }

    /// Takes the answer to a deletion, and the reply that waits for it.
    mutating func didDelete() -> SessionReply<Void>? {
        isStorageBusy = false
        defer { deletion = nil }
        return deletion
    }

    /// Those who wait for something that failed.
    struct Failed {
        let dispatches: [PendingDispatch]
        let queued: [QueuedDispatch]
        let creations: [SessionReply<SessionInfo>]
        let deletion: SessionReply<Void>?

        /// The bytes of the bodies that waited.
        fileprivate var bodyBytes: Int {
            dispatches.reduce(0) { $0 + $1.bodyBytes } + queued.reduce(0) { $0 + $1.bodyBytes }
        }
    }

    /// Takes back everything that is not durable.
    mutating func storageDidFail() -> Failed {
        isStorageBusy = false
        let failed = Failed(
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

    /// Ends the session; those whom it gives are to be told why.
    mutating func close() -> Failed {
        isRetired = true
        effectsToCome = 0
        let failed = Failed(
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

    /// What an earlier incarnation of the session was.
    struct Passivated {
        let names: SessionNames
        let position: Cursor.Position
        /// Whether storage knows the session.
        let isStored: Bool
    }

    /// Whether the visible state was found to have what storage would not give back.
    var isKnownUnpassivable: Bool { unpassivablePosition == standing.position }

    mutating func didRefusePassivation() { unpassivablePosition = standing.position }

    /// What is needed to go on as this incarnation; of a quiet session.
    func passivated() -> Passivated {
        Passivated(
            names: standing.names,
            position: standing.position,
            isStored: isStored
        )
    }
}
