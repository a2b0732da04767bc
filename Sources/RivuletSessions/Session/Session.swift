import RivuletEngine
package import RivuletJSON
import RivuletObservation

/// Takes an answer, on the shard's thread.
package typealias SessionReply<Answer> = (Result<Answer, SessionError>) -> Void

/// One session in memory, the only writer of its state.
///
/// It drives ``SessionMachine``, which decides what is to be done next, and holds the other parts, each with its own state. Every call
/// and every reply is on the shard's thread.
package final class Session {
    /// Called when the session must leave memory at once.
    private(set) var onRetire: Retirement?
    /// Large values that were read lately.
    var reads = SharedReads()
    /// The uptime of the last request.
    package private(set) var lastUsed: Duration

    let environment: SessionEnvironment
    let epochs: VisibleEpoch
    let migrations: MigrationSearch
    /// What needs the types of the app.
    let state: any SessionState
    let streams: SessionStreams
    /// The reads of the past that wait for storage.
    let pastReads: LogReads
    var machine: SessionMachine {
        _read { yield unsafe storedMachine }
        _modify { yield unsafe &storedMachine }
    }
    var log: SessionLog
    var idempotency = SessionIdempotency()
    var effects = SessionEffects()
    private var memory = SessionMemory()
    // SAFETY: one thread has the session, and no method of the machine calls back into it, so no access begins during another one. It is
    // asked some twenty times in each dispatch, and a check at run time costs as much as the asking.
    @exclusivity(unchecked) private var storedMachine: SessionMachine

    /// What is done when a session must leave memory at once: deleted, or in doubt about what storage holds.
    package typealias Retirement = (_ session: Session, _ deletedEpoch: String?) -> Void

    /// What a session begins with.
    struct Beginning {
        let state: any SessionState
        /// The state that storage has, or the default.
        let box: OpaqueBox
        let stored: StoredSession?
        /// The bytes of the log after the stored snapshot.
        let tailBytes: Int
        /// The size of the state, or a little more.
        let stateBytes: Int
        /// The document that storage has of the state.
        let storedForm: SessionMachine.StoredForm
        /// The name of the history in storage.
        let epoch: String
        /// What is parked of an earlier incarnation; nil: nothing.
        let earlier: ParkedSession?

        /// The version of the state.
        var version: UInt64 { stored?.head.version ?? 0 }
    }

    init(
        _ key: SessionKey,
        _ beginning: Beginning,
        epochs: VisibleEpoch,
        migrations: MigrationSearch,
        environment: SessionEnvironment
    ) {
        let stored = beginning.stored
        self.environment = environment
        self.epochs = epochs
        self.migrations = migrations
        state = beginning.state
        let resumed = beginning.earlier.flatMap { ResumedSession($0, loaded: beginning) }
        let standing = SessionStanding(
            names: resumed?.names
                ?? SessionNames(
                    epoch: beginning.epoch,
                    visibleEpoch: epochs.name(of: beginning.epoch),
                    incarnation: RandomToken.residence()
                ),
            position: resumed?.position ?? Cursor.Position(version: beginning.version, transients: 0),
            unlogged: [],
            state: resumed?.state ?? beginning.box
        )
        unsafe storedMachine = SessionMachine(
            key,
            standing: standing,
            size: StateSize(atMost: resumed?.stateBytes ?? beginning.stateBytes),
            storedHead: stored?.head,
            storedForm: beginning.storedForm,
            queuedMax: environment.limits.engine.queuedDispatchesMax,
            waitingBytesMax: environment.limits.waitingBytesMax
        )
        log = SessionLog(stored, tailBytes: beginning.tailBytes, now: environment.wallClock())
        streams = SessionStreams(key, state, standing, resuming: resumed?.streams, environment: environment)
        pastReads = LogReads(environment.resumes)
        lastUsed = environment.uptime()
        streams.onTick { [weak self] in self?.tickDidFire(of: $0) }
        streams.onForget { [weak self] in self?.account() }
        state.attach(to: self)
    }

    /// Says that the shard has it: effects that follow from this begin.
    package func didEnterMemory(onRetire: @escaping Retirement) {
        self.onRetire = onRetire
        account()
        beginLoadedEffects()
    }

    package var key: SessionKey { machine.key }

    /// Where readers stand.
    var standing: SessionStanding { machine.standing }

    /// Whether storage knows it.
    package var isStored: Bool { machine.isStored }

    /// Whether nothing is queued, under way or watching, so that it may leave memory.
    package var isIdle: Bool { isQuiet && streams.isEmpty }

    /// Whether nothing is queued or under way.
    var isQuiet: Bool {
        machine.isQuiet && streams.isQuiet && pastReads.count == 0 && state.hasIdleEffects && idempotency.isQuiet
    }

    /// Begins the idle time anew.
    func noteUse() { lastUsed = environment.uptime() }

    // MARK: - Dispatch

    /// Runs the events of the body as one transaction, after everything that is queued; replies when it is durable and published.
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
        noteUse()
        do throws(SessionError) {
            let bytes = request.body.count
            try machine.admit(bytes: bytes)
            let events = try state.decode(request, eventsMax: environment.limits.engine.eventsPerBatchMax)
            machine.enqueue(
                QueuedDispatch(
                    .events(events),
                    isArray: request.isArray,
                    expected: request.expected,
                    isStrict: request.isStrict,
                    keeper: keeper,
                    bodyBytes: bytes,
                    reply: reply
                )
            )
        } catch {
            return reply(.failure(error))
        }
        drive()
    }

    /// Does what the machine says, until there is nothing to be done.
    ///
    /// An answer may bring the client's next request before an action is over; that request is taken before the next action.
    func drive() {
        guard machine.beginDriving() else { return }
        while let action = machine.next(isHeld: state.isHoldingQueue) { perform(action) }
        account()
    }

    private func perform(_ action: SessionMachine.Action) {
        switch action {
        case .reduce(let dispatch): reduce(dispatch)
        case .publish(let dispatch, let old): publish(dispatch, over: old)
        case .created(let replies):
            let info = info()
            for reply in replies { reply(.success(info)) }
        case .wasNeverStored(let reply): reply(.failure(.notFound(key)))
        case .considerSnapshot(let head): storeSnapshotIfDue(at: head)
        case .store(let turn): store(turn)
        }
    }

    /// Tells the shard's account what the session takes now.
    func account() {
        guard !machine.isRetired else { return }
        memory.account(memoryBytes, in: environment.memory)
        // One with work cannot leave yet, and what it takes may be less in a moment.
        if environment.memory.isCrowded, isQuiet { environment.memory.wantRoom() }
    }

    /// Takes the session out of the shard's account.
    func closeAccount() { memory.close(in: environment.memory) }

    /// What the shard's account has of the session.
    var accountedBytes: Int { memory.bytes }

    /// The memory that it takes, roughly, in bytes.
    ///
    /// The state as JSON, or a little more, with its transient fields; what waits for the next entry; the changes that are kept for streams
    /// of the state and of views; events that are queued, and what is not visible yet; the groups of streams and what they watch; the
    /// session's own bookkeeping.
    package var memoryBytes: Int {
        SessionMemory.bytesMin + machine.headSize.bytes + machine.bytes + streams.bytes + reads.bytes
    }

    // MARK: - Reducing

    private func reduce(_ dispatch: QueuedDispatch) {
        if let tick = dispatch.source?.tick { state.tickDidEnd(tick) }
        if !dispatch.expected.isEmpty, let mismatch = machine.mismatch(with: dispatch.expected) {
            return refuse(dispatch, mismatch)
        }
        let start = environment.slowEvents?.begin()
        defer { if let start { reduced(dispatch, since: start) } }
        do throws(SessionError) {
            let step = try apply(dispatch)
            machine.accept(try pending(dispatch, step, size: try size(after: step)))
        } catch {
            machine.reject(dispatch)
            dispatch.reply(.failure(error))
        }
    }

    private func reduced(_ dispatch: QueuedDispatch, since start: UInt64) {
        environment.slowEvents?.end(start, app: key.app, events: dispatch.eventCount, name: name(of: dispatch))
    }

    private func name(of dispatch: QueuedDispatch) -> String {
        switch dispatch.input {
        case .events(let events): state.name(of: events)
        case .replacement: "replacing the state"
        }
    }

    private func refuse(_ dispatch: QueuedDispatch, _ mismatch: CursorMismatch) {
        guard !machine.refuse(dispatch, mismatch) else { return }
        dispatch.reply(.failure(.precondition(mismatch, current: standingAnswer)))
    }

    private func apply(_ dispatch: QueuedDispatch) throws(SessionError) -> SessionStep {
        let step: SessionStep
        let (head, settles) = (machine.head, machine.isHeadVisible)
        do {
            switch dispatch.input {
            case .events(let events): step = try state.apply(events, to: head, settles: settles)
            case .replacement(let replacement): step = try state.apply(replacement, to: head, settles: settles)
            }
        } catch let error as JSONError {
            throw .unreadable(key, detail: "the version that is to be restored does not decode: \(error)")
        } catch let refused as RefusedEvent {
            throw dispatch.isArray ? .rejectedInArray(refused) : .rejected(refused.rejection.message)
        } catch {
            throw failure(error)
        }
        if step.recording.hasUnrepresentableNumber { throw .unrepresentableNumber }
        if dispatch.isStrict, !step.recording.coercions.isEmpty { throw .coerced(step.recording.coercions) }
        return step
    }

    private func size(after step: SessionStep) throws(SessionError) -> StateSize {
        try size(of: step.state, after: step.recording.changes, from: machine.head)
    }

    /// Counts what was written in a state.
    ///
    /// - Throws: `stateFull` when it would grow beyond its limit, `overloaded` when it would grow while memory is full.
    func size(of now: OpaqueBox, after changes: [StateChange], from before: OpaqueBox) throws(SessionError) -> StateSize
    {
        do throws(SessionMemory.SizeError) {
            return try SessionMemory.size(
                machine.headSize,
                after: changes,
                limit: environment.limits.stateBytesMax,
                memory: environment.memory,
                key: key,
                whole: { state.json(at: .root, of: now)?.count ?? 0 },
                value: { (state.json(at: $0, of: before)?.count, state.json(at: $0, of: now)?.count) }
            )
        } catch {
            machine.didMeasure(error.size)
            throw error.error
        }
    }

    /// Gives the step its place in the session's history.
    private func pending(
        _ dispatch: QueuedDispatch,
        _ step: SessionStep,
        size: StateSize
    ) throws(SessionError) -> PendingDispatch {
        let persists = dispatch.persists
        let place = machine.place(of: step.recording, persists: persists)
        let pending = PendingDispatch(
            state: step.state,
            position: place.position,
            size: size,
            unlogged: place.unlogged.isEmpty ? [] : state.condensed(place.unlogged, for: step.state),
            entry: try place.logged.map { changes throws(SessionError) in
                try logEntry(of: dispatch, version: place.position.version, changes: changes)
            },
            outcome: PendingDispatch.Outcome(
                changes: step.recording.changes,
                isLoggedAsAnswered: place.isLoggedAsAnswered,
                coercions: step.recording.coercions,
                hasOmittedWrite: step.recording.hasOmittedWrite,
                persists: persists,
                effects: step.effects,
                holdsQueue: step.holdsQueue,
                chain: dispatch.source?.chain
            ),
            bodyBytes: dispatch.bodyBytes,
            reply: dispatch.reply
        )
        if let keeper = dispatch.keeper { pending.keep(try keptAnswer(to: pending, keeper)) }
        return pending
    }

    private func logEntry(
        of dispatch: QueuedDispatch,
        version: UInt64,
        changes: [StateChange]
    ) throws(SessionError) -> LogEntry {
        let event =
            switch dispatch.input {
            case .events(let events): state.logJSON(of: events)
            case .replacement(let replacement): replacement.event.json
            }
        let entry = LogEntry(
            version: version,
            time: environment.wallClock(),
            commandID: dispatch.keeper?.commandID,
            event: event,
            changes: changes.logJSON
        )
        let bytesMax = environment.storage.capabilities.entryBytesMax
        guard entry.byteCount <= bytesMax else { throw .storage(.tooLarge(limitBytes: bytesMax)) }
        return entry
    }

    /// The answer as storage keeps it; it goes out when storage has it.
    private func keptAnswer(
        to dispatch: PendingDispatch,
        _ keeper: AnswerKeeper
    ) throws(SessionError) -> KeptAnswer {
        let kept = keeper.keep(answer(to: dispatch))
        let bytesMax = environment.storage.capabilities.entryBytesMax
        guard kept.byteCount <= bytesMax else { throw .storage(.tooLarge(limitBytes: bytesMax)) }
        idempotency.didKeep(kept)
        return kept
    }

    // MARK: - Publishing

    /// Hands the changes of a dispatch, which is visible now, to the streams, acknowledges it, then runs the effects.
    private func publish(_ dispatch: PendingDispatch, over old: SessionTimeline.Seen) {
        let outcome = dispatch.outcome
        // Delivered before it is answered: the answer may bring a subscriber, whose snapshot has the change already. The answer is
        // written at once, and events at the end of the loop's turn, but for those of a single stream: its loop writes them before.
        if dispatch.isVisible { streams.publish(outcome.changes, over: old, standing) }
        if let mismatch = outcome.mismatch {
            dispatch.reply(.failure(.precondition(mismatch, current: standingAnswer)))
        } else {
            dispatch.reply(.success(answer(to: dispatch)))
        }
        if let effects = outcome.effects { begin(effects, chain: outcome.chain) }
    }

    private func answer(to dispatch: PendingDispatch) -> DispatchAnswer {
        machine.answer(to: dispatch, survivesPowerLoss: environment.storage.capabilities.survivesPowerLoss)
    }

    /// Where the session stands for everybody.
    private var standingAnswer: StateAnswer {
        StateAnswer(cursor: standing.cursor, value: state.json(at: .root, of: standing.state) ?? [])
    }
}

extension JSONPointer {
    /// The pointer to the whole value.
    package static var root: JSONPointer { JSONPointer(tokens: []) }
}
