package import RivuletEngine
package import RivuletJSON
import RivuletObservation

/// One session in memory, the only writer of its state.
///
/// Lives on its shard's thread.
///
/// A dispatch goes through four steps, in order: queued, reduced on `head`, durable, visible. Several may be between the second
/// and the third; what readers and streams see is always `visible`. Every state is a value that shares with its neighbours what
/// did not change, so going back after a failure is an assignment.
package final class Session<Definition: AppDefinition>: HostedSession {
    package typealias State = Definition.State
    typealias Pending = PendingDispatch<Definition>

    package let key: SessionKey
    package var onRetire: ((_ session: any HostedSession, _ deletedEpoch: String?) -> Void)?
    package internal(set) var lastUsed: Duration

    let engine: EventEngine<Definition>
    let environment: SessionEnvironment
    let epochs: VisibleEpoch
    let migrations: MigrationSearch
    /// The name of its history in storage; another one once a client has created it with a state of its own.
    var epoch: String {
        didSet { visibleEpoch = epochs.name(of: epoch) }
    }
    /// The name of its history in cursors, which differs between shapes of the state: what a reader of before knows may not be what is.
    private(set) var visibleEpoch: String
    /// Whether storage has the state in the shape of an earlier schema version: a snapshot goes before any further entry.
    var isMigrated: Bool
    /// Whether storage has only a log of it, over a default that no later build would know: a snapshot goes before any further entry here too.
    var lacksSnapshot: Bool
    /// The name of its time in memory; that of an earlier one when streams were kept over it.
    var residence = RandomToken.residence()

    /// The state after the last accepted event.
    var head: State
    var headPosition: Cursor.Position
    var headSize: StateSize
    /// Changes of persistent fields by transient events, which the next entry has to carry.
    var unlogged: [StateChange] = []

    /// The state that readers see while `head` is ahead of it; nil while they are the same.
    ///
    /// Not a copy then: a state that nobody shares settles what the last event left in it.
    var published: HeldState<State>?
    var visiblePosition: Cursor.Position
    var visibleSize: StateSize
    var visibleUnlogged: [StateChange] = []

    var queue = ObjectQueue<QueuedDispatch<Definition>>()
    var pending = ObjectQueue<Pending>()
    /// How many of the first pending dispatches storage is writing or has written.
    var submitted = 0
    /// How many of the first pending dispatches are durable.
    var durable = 0
    var isStorageBusy = false
    var isPublishing = false
    /// The bytes of the bodies that are queued or on their way to disk.
    var waitingBytes = 0
    /// What the pending dispatches take of memory.
    var pendingBytes = 0
    /// What the shard's account has of this session.
    var accountedBytes = 0
    /// Where the session stood when it was found to have what storage would not give back.
    var unparkablePosition: Cursor.Position?
    /// Requests for the past that wait for storage.
    var readsUnderWay = 0
    /// How many accepted dispatches have effects that the next event waits for and that have not begun.
    var effectsToCome = 0
    /// Runs the effects; nil as long as there were none.
    var effectDriver: EffectDriver<Definition.Event>?
    var hasBegunLoadedEffects = false
    /// Whether no effect begins any more.
    var hasStoppedEffects = false
    /// Keeps an effect that is refused again and again from filling the log.
    var effectFailures = RateOfLines()

    /// Where storage's log ends; nil while storage does not know the session.
    var storedHead: SessionHead?
    var created: Int64
    var updated: Int64
    var retained: RetainedLog
    var bytesSinceSnapshot: Int
    /// The size of the document of the last snapshot, and its version.
    var snapshotBytes: Int
    var snapshotVersion: UInt64
    /// When this residence stored its last snapshot, in milliseconds since 1970.
    var snapshotTime: Int64 = 0
    /// The time of the oldest entry after the last snapshot.
    var loggedSince: Int64?

    /// The last changes, with their values.
    var tail: ChangeTail
    /// All changes of this residence, without their values.
    var index: ChangeIndex
    var groups: [GroupID: StreamGroup] = [:]
    var groupIDs: [StreamGroupKey: GroupID] = [:]
    /// What the groups watch.
    var watches = StreamWatches()
    /// The views that streams watch, or watched.
    var views: [String: WatchedView<State>] = [:]
    /// Whether there are any: to look at the table itself takes its metadata, which is made from the state's type at each look.
    var hasViews = false
    /// Streams that wait for storage to be resumed.
    var resuming = 0
    /// Streams that wait for the next change of a group that has an interval.
    var waitingStreams = 0
    /// The groups with an interval that a timer is under way for.
    var ticks: Set<GroupID> = []
    /// Where the session stood before what is being told.
    var positionBefore = Cursor.Position(version: 0, transients: 0)
    /// Streams of all groups, and those that wait to be members.
    var streamCount = 0
    /// Whether the session's streams were ended: none begin any more.
    var hasEndedStreams = false
    /// The idempotency keys that are in use.
    var ledger = KeptAnswerLedger()
    /// Dispatches with such keys whose answers storage is asked for.
    var claims = ClaimOrder()
    var deletion: SessionReply<Void>?
    /// The document of the state that a client asked for at creation, until storage has it; not visible before.
    var initialDocument: [UInt8]?
    /// The name of the history that begins with it.
    var creationEpoch: String?
    /// The visible state without what transient events did to stored fields since the last entry; nil while they did nothing.
    var logged: HeldState<State>?
    var creations: [SessionReply<SessionInfo>] = []
    var isRetired = false

    init(
        _ key: SessionKey,
        engine: EventEngine<Definition>,
        epochs: VisibleEpoch,
        migrations: MigrationSearch,
        stored: StoredSession?,
        restored: RestoredState<Definition>,
        newEpoch: String,
        environment: SessionEnvironment
    ) {
        self.key = key
        self.engine = engine
        self.epochs = epochs
        self.migrations = migrations
        self.environment = environment
        head = restored.state
        isMigrated = restored.isMigrated
        lacksSnapshot = stored?.hasWholeSnapshot == false
        // A migration may have made any document of what was stored, and transient fields of elements are in none.
        let isMeasured = isMigrated || (stored != nil && engine.hasTransientElements)
        let loadedBytes = (stored?.snapshot?.state.count ?? 0) + restored.tailBytes
        headSize = StateSize(
            atMost: isMeasured ? restored.state.jsonBytes().count : engine.defaultStateBytes + loadedBytes
        )
        visibleSize = headSize
        headPosition = Cursor.Position(version: stored?.head.version ?? 0, transients: 0)
        visiblePosition = headPosition
        epoch = stored?.head.epoch ?? (epochs.isDefaultVarying ? RandomToken.epoch() : newEpoch)
        visibleEpoch = epochs.name(of: epoch)
        storedHead = stored?.head
        let now = environment.wallClock()
        created = stored?.created ?? now
        updated = stored?.updated ?? now
        retained = stored?.retained ?? RetainedLog(from: 1, since: nil)
        bytesSinceSnapshot = restored.tailBytes
        loggedSince = stored?.tail.first?.time
        snapshotBytes = stored?.snapshot?.state.count ?? 0
        snapshotVersion = stored?.snapshot?.version ?? 0
        lastUsed = environment.uptime()
        tail = ChangeTail(from: headPosition, limits: environment.limits)
        index = ChangeIndex(from: headPosition, limits: environment.limits)
    }

    /// The state that readers see.
    package var visible: State { published?.state ?? head }

    package var isStored: Bool { storedHead != nil }

    package var isIdle: Bool { isQuiet && groups.isEmpty }

    /// Whether nothing is queued or under way.
    var isQuiet: Bool {
        // While it publishes, the effects of what was answered are still to begin.
        !isPublishing && queue.isEmpty && pending.isEmpty && resuming == 0 && readsUnderWay == 0 && !isStorageBusy
            && ticks.isEmpty && hasIdleEffects
            && deletion == nil && creations.isEmpty && ledger.underWay.isEmpty
    }

    // MARK: - Dispatch

    package func dispatch(_ request: DispatchRequest, reply: @escaping SessionReply<DispatchAnswer>) {
        dispatch(request, keeper: nil, reply)
    }

    /// Queues the request's events; `keeper` has the answer stored for a sender who may ask again.
    func dispatch(
        _ request: DispatchRequest,
        keeper: AnswerKeeper?,
        _ reply: @escaping SessionReply<DispatchAnswer>
    ) {
        if let event = request.engineEvent { return replace(event, request, keeper: keeper, reply) }
        lastUsed = environment.uptime()
        do throws(SessionError) {
            try refuseWhenLeaving()
            let bytes = request.body.count
            try refuseWhenFull(bytes: bytes)
            let (events, notes) = try decode(request)
            waitingBytes += bytes
            let dispatch = QueuedDispatch<Definition>(
                events: events,
                isArray: request.isArray,
                notes: notes,
                expected: request.expected,
                isStrict: request.isStrict,
                keeper: keeper,
                bodyBytes: bytes,
                reply: reply
            )
            queue.append(dispatch)
        } catch {
            return reply(.failure(error))
        }
        runQueue()
    }

    func refuseWhenLeaving() throws(SessionError) {
        if deletion != nil { throw .deleting(key) }
        if isRetired { throw .storage(.unavailable(detail: "the session is being loaded again; try once more")) }
    }

    /// Refuses a dispatch of so many bytes that the queue has no room for.
    func refuseWhenFull(bytes: Int) throws(SessionError) {
        guard queue.count < environment.limits.engine.queuedDispatchesMax else {
            throw .overloaded("event queue of session \(key.id)")
        }
        guard waitingBytes == 0 || waitingBytes + bytes <= environment.limits.waitingBytesMax else {
            throw .overloaded("bytes of the events that wait in session \(key.id) (waitingBytesMax)")
        }
    }

    private func decode(_ request: DispatchRequest) throws(SessionError) -> ([Definition.Event], CoercionNotes?) {
        let (events, notes): ([Definition.Event], CoercionNotes?)
        do throws(JSONError) {
            // What wrappers change here is known to nobody later: the events are reduced in a run of their own.
            (events, notes) = try CoercionLog.noting { () throws(JSONError) in
                guard let path = request.boundPath else { return try readEvents(request.body) }
                return try readEvent(boundTo: path, request.body).map { [$0] } ?? []
            }
        } catch {
            throw .body(JSONReader.gravestFault(of: request.body, after: error))
        }
        if events.isEmpty, let path = request.boundPath { throw .noValue(path.description) }
        return (events, notes)
    }

    /// The event that the binding at the path makes of a value; nil when the path has no binding, or a token where it takes an id that is none.
    private func readEvent(boundTo path: JSONPointer, _ body: [UInt8]) throws(JSONError) -> Definition.Event? {
        var reader = JSONReader(body)
        reader.unknownKeys = .reject
        guard let event = try engine.bindings.event(at: path, from: &reader) else { return nil }
        try reader.finish()
        return event
    }

    private func readEvents(_ body: [UInt8]) throws(JSONError) -> [Definition.Event] {
        var reader = JSONReader(body)
        // A key that no event has is a slip of the sender's, which would go unnoticed otherwise.
        reader.unknownKeys = .reject
        let start = reader
        let events: [Definition.Event]
        if try reader.peek() == .array {
            var batch: [Definition.Event] = []
            let eventsMax = environment.limits.engine.eventsPerBatchMax
            try reader.array { index, reader throws(JSONError) in
                guard index < eventsMax else {
                    throw reader.error(.outOfRange, "one dispatch takes at most \(eventsMax) events; send several")
                }
                batch.append(try Definition.Event(json: &reader))
            }
            if batch.isEmpty { throw start.error(.mismatch, "a dispatch has at least one event") }
            events = batch
        } else {
            events = [try Definition.Event(json: &reader)]
        }
        try reader.finish()
        return events
    }

    /// Reduces what is queued, as far as effects and the queue of commits allow.
    package func runQueue() {
        while !hasEffectUnderWay, pending.count < environment.limits.engine.queuedDispatchesMax,
            let next = queue.popFirst()
        {
            reduce(next)
        }
        advance()
    }

    private func reduce(_ dispatch: QueuedDispatch<Definition>) {
        if let tick = dispatch.source?.tick { effectDriver?.tickDidEnd(tick) }
        if let mismatch = mismatch(with: dispatch.expected) { return refuse(dispatch, mismatch) }
        let start = environment.slowEvents?.begin()
        defer { if let start { reduced(dispatch, since: start) } }
        if published == nil { head._$settle() }
        let before = HeldState(head)
        if published == nil { published = before }
        do throws(SessionError) {
            let step = try apply(dispatch)
            let size = try size(after: step.recording.changes, from: before.state, to: head)
            try accept(step, of: dispatch, size)
        } catch {
            head = before.state
            if pending.isEmpty { published = nil }
            answer(dispatch, .failure(error))
        }
    }

    private func reduced(_ dispatch: QueuedDispatch<Definition>, since start: UInt64) {
        environment.slowEvents?.end(
            start,
            app: key.app,
            events: dispatch.events.count,
            name: dispatch.events.first?.eventName ?? "replacing the state"
        )
    }

    /// How none of the cursors is where the session stands; nil when one is, or none is asked for.
    ///
    /// The short form looks at the version only.
    private func mismatch(with expected: [Cursor]) -> CursorMismatch? {
        guard !expected.isEmpty else { return nil }
        let standing = cursor(at: headPosition, unlogged: unlogged)
        let known = expected.filter { $0.epoch == visibleEpoch }
        guard !known.isEmpty else { return .otherHistory }
        let atVersion = known.filter { $0.position.version == headPosition.version }
        guard !atVersion.contains(where: { $0.of(paths: nil) == standing || $0.residence == nil }) else { return nil }
        return atVersion.contains { $0.residence != residence } ? .reloaded : .moved
    }

    /// Answers where the session stands, once that is visible to its sender.
    private func refuse(_ dispatch: QueuedDispatch<Definition>, _ mismatch: CursorMismatch) {
        let refused = Pending(
            state: head,
            position: headPosition,
            size: headSize,
            changes: [],
            coercions: [],
            effects: nil,
            entry: nil,
            persists: false,
            unloggedAfter: unlogged,
            bodyBytes: dispatch.bodyBytes,
            reply: dispatch.reply
        )
        refused.mismatch = mismatch
        // A session that storage does not know must not be created by a refusal.
        guard isStored || !pending.isEmpty else {
            let answer = StateAnswer(cursor: visibleCursor, value: visible.json(at: .root) ?? [])
            return self.answer(dispatch, .failure(.precondition(mismatch, current: answer)))
        }
        keepPending(refused)
    }

    private func apply(_ dispatch: QueuedDispatch<Definition>) throws(SessionError) -> EventEngine<Definition>.Step {
        let step: EventEngine<Definition>.Step
        do {
            step = try replace(dispatch.replacement) ?? engine.apply(dispatch.events, notes: dispatch.notes, to: &head)
        } catch let error as SessionError {
            throw error
        } catch let refused as RefusedEvent {
            throw dispatch.isArray ? .rejectedInArray(refused) : .rejected(refused.rejection.message)
        } catch {
            throw failure(error)
        }
        if step.recording.hasUnrepresentableNumber { throw .unrepresentableNumber }
        if dispatch.isStrict, !step.recording.coercions.isEmpty { throw .coerced(step.recording.coercions) }
        return step
    }

    /// Gives the step its place in the session's history; what it wrote is already in `head`.
    private func accept(
        _ step: EventEngine<Definition>.Step,
        of dispatch: QueuedDispatch<Definition>,
        _ size: StateSize
    ) throws(SessionError) {
        let changes = step.recording.changes
        let persists = dispatch.persists
        var position = headPosition
        var entry: LogEntry?
        var unloggedAfter = unlogged
        if persists, !changes.isEmpty || !unlogged.isEmpty {
            // What transient events left in stored fields becomes durable with it, also when it changes nothing itself.
            position = Cursor.Position(version: position.version + 1, transients: position.transients)
            entry = try logEntry(of: dispatch, version: position.version, changes: changes)
            unloggedAfter = []
        } else if !changes.isEmpty || step.recording.hasOmittedWrite {
            // A field that is in no JSON is a part of the state too, and views may show what is computed from it.
            position = Cursor.Position(version: position.version, transients: position.transients + 1)
            unloggedAfter = unlogged.followed(by: changes.filter { !$0.isTransient }).condensed(for: head)
        }
        let accepted = Pending(
            state: head,
            position: position,
            size: size,
            changes: changes,
            coercions: step.recording.coercions,
            effects: step.effectList,
            chain: dispatch.source?.chain,
            entry: entry,
            persists: persists,
            unloggedAfter: unloggedAfter,
            bodyBytes: dispatch.bodyBytes,
            reply: dispatch.reply
        )
        accepted.hasOmittedWrite = step.recording.hasOmittedWrite
        accepted.kept = try dispatch.keeper.map { (keeper) throws(SessionError) in try keep(accepted, keeper) }
        headPosition = position
        headSize = size
        unlogged = unloggedAfter
        if accepted.holdsQueue { effectsToCome += 1 }
        keepPending(accepted)
    }

    /// The answer as storage keeps it; it goes out when storage has it.
    private func keep(_ dispatch: Pending, _ keeper: AnswerKeeper) throws(SessionError) -> KeptAnswer {
        let kept = keeper.keep(answer(to: dispatch))
        let bytesMax = environment.storage.capabilities.entryBytesMax
        guard kept.byteCount <= bytesMax else { throw .storage(.tooLarge(limitBytes: bytesMax)) }
        ledger.add(kept)
        return kept
    }

    private func logEntry(
        of dispatch: QueuedDispatch<Definition>,
        version: UInt64,
        changes: [StateChange]
    ) throws(SessionError) -> LogEntry {
        let entry = LogEntry(
            version: version,
            time: environment.wallClock(),
            commandID: dispatch.keeper?.commandID,
            event: dispatch.replacement?.event.json ?? logJSON(of: dispatch.events),
            changes: unlogged.followed(by: changes).logJSON
        )
        let bytesMax = environment.storage.capabilities.entryBytesMax
        guard entry.byteCount <= bytesMax else { throw .storage(.tooLarge(limitBytes: bytesMax)) }
        return entry
    }

    /// The events as the log keeps them: sensitive ones by name only.
    private func logJSON(of events: [Definition.Event]) -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        if events.count != 1 { writer.beginArray() }
        for event in events {
            if event.isSensitive { writer.string(event.eventName) } else { event.encodeJSON(into: &writer) }
        }
        if events.count != 1 { writer.endArray() }
        return writer.bytes
    }

    // MARK: - Cursors

    /// Where a group's members stand who have got everything.
    func visibleCursor(of key: StreamGroupKey) -> Cursor { visibleCursor.of(paths: key.pathsName) }

    var visibleCursor: Cursor { cursor(at: visiblePosition, unlogged: visibleUnlogged) }

    func cursor(at position: Cursor.Position, unlogged: [StateChange]) -> Cursor {
        Cursor(epoch: visibleEpoch, position: position, residence: residence, hasUnlogged: !unlogged.isEmpty)
    }
}

extension JSONPointer {
    /// The pointer to the whole value.
    package static var root: JSONPointer { JSONPointer(tokens: []) }
}
