import RivuletBase
import RivuletEngine
package import RivuletJSON
import RivuletObservation

/// Takes an answer, on the shard's thread.
package typealias SessionReply<Answer> = (Result<Answer, SessionError>) -> Void

/// One session in memory, the only writer of its state.
///
/// It drives ``SessionMachine``, which decides the next step, and holds the other parts, each with its own state. Every
/// call and every reply is on the shard's thread.
package final class Session {
    /// Called when the session must leave memory at once.
    private(set) var onRetire: Retirement?
    /// Called when a job on a work thread has ended.
    private var onJobEnd: ((Session) -> Void)?
    /// True if a client has deleted the session.
    private(set) var isDeleted = false
    /// Large values that were read recently.
    var reads = SharedReads()
    /// The reads that wait until a work thread has written their values.
    var readsUnderWay = ReadsUnderWay()
    /// The last result of `findRemains`, with its cursor; `remains` is nil if a load could not restore the state.
    var remains: (cursor: Cursor, remains: SessionRemains?)?
    /// The creations that wait for the end of a pause.
    var creationsToCome: [(Session) -> Void] = []
    private var jobCount = 0
    /// The uptime of the last request.
    package private(set) var lastUsed: Duration

    let environment: SessionEnvironment
    let epochs: VisibleEpoch
    let migrations: MigrationSearch
    /// The part of the session that needs the types of the app.
    let state: any SessionState
    let streams: SessionStreams
    /// The reads of earlier versions that are under way.
    let pastReads: LogReads
    var machine: SessionMachine {
        _read { yield unsafe storedMachine }
        _modify { yield unsafe &storedMachine }
    }
    var log: SessionLog
    var idempotency = SessionIdempotency()
    var effects = SessionEffects()
    private var memory = SessionMemory()
    // SAFETY: one thread has the session, and no method of the machine calls code that uses the machine, so accesses
    // never overlap. A dispatch calls the machine about twenty times; a check would cost as much as the call.
    @exclusivity(unchecked) private var storedMachine: SessionMachine

    /// The action for a session that must leave memory at once: it was deleted, or the content of storage is in doubt.
    package typealias Retirement = (_ session: Session, _ deletedEpoch: String?) -> Void

    /// The parts with which a session begins.
    struct Beginning {
        let state: any SessionState
        /// The stored state, or the default.
        let box: OpaqueBox
        let stored: StoredSession?
        /// The bytes of the log after the stored snapshot.
        let tailBytes: Int
        /// The size of the state in bytes, or a little more.
        let stateBytes: Int
        /// The form of the document in storage.
        let storedForm: SessionMachine.StoredForm
        /// The epoch of the history in storage.
        let epoch: String
        /// The passivated session of an earlier incarnation; nil if there is none.
        let earlier: PassivatedSession?
        /// The state of the earlier incarnation, restored from storage and the passivated session; nil if that is not
        /// possible.
        let laid: Laid?

        /// A state, and the hash of the whole state.
        struct Laid {
            let box: OpaqueBox
            let hash: Int
        }

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
                    incarnation: RandomToken.incarnation()
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

    /// Called once the shard has the session in memory; begins the effects of a loaded session.
    package func didEnterMemory(onRetire: @escaping Retirement, onJobEnd: @escaping (Session) -> Void) {
        self.onRetire = onRetire
        self.onJobEnd = onJobEnd
        account()
        beginLoadedEffects()
    }

    package var key: SessionKey { machine.key }

    /// The state and the position that readers see.
    var standing: SessionStanding { machine.standing }

    /// True if storage has the session.
    package var isStored: Bool { machine.isStored }

    /// True if storage has the session, or work under way will store it.
    package var isBegun: Bool { machine.isBegun }

    /// True if nothing is queued or under way and no stream watches the session, so that it may leave memory.
    package var isIdle: Bool { isQuiet && streams.isEmpty }

    /// True if nothing is queued or under way.
    var isQuiet: Bool {
        machine.isQuiet && streams.isQuiet && pastReads.count == 0 && jobCount == 0 && state.hasIdleEffects
            && idempotency.isQuiet
    }

    /// Restarts the idle time.
    func recordUse() { lastUsed = environment.uptime() }

    /// Runs a job that reads or writes JSON, on a work thread if `bytes` exceed `turnJSONBytesMax`.
    ///
    /// The session stays in memory until the job is done.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of JSON that the job reads or writes.
    ///   - reads: The log reads that keep a slot for the job; nil if the job needs no slot. Pass them only in the call
    ///     that takes storage's answer, which has just released the slot.
    ///   - job: The job.
    ///   - body: Takes the result on the session's thread.
    func work<Value: Sendable>(
        bytes: Int = .max,
        goingOn reads: LogReads? = nil,
        _ job: @escaping @Sendable () -> Value,
        then body: @escaping (_ session: Session, _ value: Value) -> Void
    ) {
        guard bytes > environment.limits.turnJSONBytesMax else { return body(self, job()) }
        jobCount += 1
        reads?.goOn()
        environment.run(isOfPast: reads != nil, job) { [self] value in
            reads?.end()
            body(self, value)
            // The job is counted until the body has run, so that the session does not leave memory meanwhile.
            jobCount -= 1
            account()
            onJobEnd?(self)
        }
    }

    /// Runs a job that needs an unchanged head.
    ///
    /// The session reduces, creates and deletes nothing until `body` has the result.
    func workOnHead<Value: Sendable>(
        bytes: Int,
        _ job: @escaping @Sendable () -> Value,
        then body: @escaping (_ session: Session, _ value: Value) -> Void
    ) {
        machine.pause()
        work(bytes: bytes, job) { session, value in
            session.machine.resume()
            body(session, value)
            session.goOn()
        }
    }

    /// Continues after a pause: drives the session and runs the creations that waited.
    func goOn() {
        guard !machine.isPaused else { return }
        drive()
        for create in exchange(&creationsToCome, with: []) { create(self) }
    }

    // MARK: - Dispatch

    /// Runs the events of the body as one transaction, after all queued work.
    ///
    /// The reply comes when the transaction is durable and published.
    package func dispatch(_ request: DispatchRequest, reply: @escaping SessionReply<DispatchAnswer>) {
        dispatch(request, recorder: nil, reply)
    }

    /// Queues the request's events; `recorder` is nil if the sender sent no idempotency key.
    func dispatch(
        _ request: DispatchRequest,
        recorder: IdempotencyRecorder?,
        _ reply: @escaping SessionReply<DispatchAnswer>
    ) {
        if let event = request.engineEvent { return replace(event, request, recorder: recorder, reply) }
        recordUse()
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
                    sender: request.sender,
                    recorder: recorder,
                    bodyBytes: bytes,
                    reply: reply
                )
            )
        } catch {
            return reply(.failure(error))
        }
        drive()
    }

    /// Performs the machine's actions until there are none.
    ///
    /// An action that answers a client may bring the client's next request. That request is accepted before the next
    /// action.
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

    /// Updates the shard's memory account with the session's present size.
    func account() {
        guard !machine.isRetired else { return }
        memory.account(memoryBytes, in: environment.memory)
        // A session with work cannot leave yet, and may need less memory in a moment.
        if environment.memory.isCrowded, isQuiet { environment.memory.wantRoom() }
    }

    /// Records that a client has deleted the session.
    func recordDeletion() { isDeleted = true }

    /// Removes the session from the shard's memory account.
    func closeAccount() { memory.close(in: environment.memory) }

    /// The bytes of the session in the shard's memory account.
    var accountedBytes: Int { memory.bytes }

    /// The approximate memory of the session, in bytes.
    ///
    /// It is the sum of these parts:
    /// - the state as JSON, or a little more, with its transient fields
    /// - the changes that wait for the next log entry
    /// - the changes and snapshots that are kept for streams of the state and of views
    /// - queued events, and changes that are not visible yet
    /// - the groups of streams and their paths
    /// - large values that were read recently
    /// - the session's own bookkeeping
    package var memoryBytes: Int {
        SessionMemory.bytesMin + machine.headSize.bytes + machine.bytes + streams.bytes + reads.bytes
    }

    // MARK: - Reducing

    func reduce(_ dispatch: QueuedDispatch) {
        if let tick = dispatch.source?.tick { state.tickDidEnd(tick) }
        if !dispatch.expected.isEmpty, let mismatch = machine.mismatch(with: dispatch.expected) {
            return refuse(dispatch, mismatch)
        }
        let decoded: DecodedEvents
        switch dispatch.input {
        case .events(let events): decoded = events
        case .replacement(let replacement): return replace(by: replacement, dispatch)
        }
        let start = environment.slowEvents?.begin()
        defer { if let start { reduced(decoded, since: start) } }
        do throws(SessionError) {
            let events = try admitted(decoded, of: dispatch)
            let step = try apply(events, of: dispatch)
            let size = try size(of: step.state, after: step.recording.changes, from: machine.head)
            machine.accept(try pending(dispatch, step, size: size))
        } catch {
            reject(dispatch, error)
        }
    }

    func reject(_ dispatch: QueuedDispatch, _ error: SessionError) {
        machine.reject(dispatch)
        dispatch.reply(.failure(error))
    }

    private func reduced(_ events: DecodedEvents, since start: UInt64) {
        environment.slowEvents?.end(start, app: key.app, events: events.count, name: state.name(of: events))
    }

    private func refuse(_ dispatch: QueuedDispatch, _ mismatch: CursorMismatch) {
        machine.releaseDocument(of: dispatch)
        guard !machine.refuse(dispatch, mismatch) else { return }
        reply(to: dispatch.reply, mismatch, dispatch.sender)
    }

    /// Refuses a dispatch that expects another cursor; the refusal includes the current state, with which the client
    /// can try again.
    func reply(
        to reply: @escaping SessionReply<DispatchAnswer>,
        _ mismatch: CursorMismatch,
        _ sender: DispatchSender?
    ) {
        readShown(to: sender) { current in
            switch current {
            case .success(let state): reply(.failure(.precondition(mismatch, current: state)))
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    private func apply(_ events: DecodedEvents, of dispatch: QueuedDispatch) throws(SessionError) -> SessionStep {
        let step: SessionStep
        do {
            step = try state.apply(events, to: machine.head, settles: machine.isHeadVisible)
        } catch let refused as RejectedEventError {
            throw dispatch.isArray ? .rejectedInArray(refused) : .rejected(refused.rejection.message)
        } catch {
            throw failure(error)
        }
        try check(step, of: dispatch)
        return step
    }

    /// Checks that a step can be stored, and that it has no coercions if the request is strict.
    func check(_ step: SessionStep, of dispatch: QueuedDispatch) throws(SessionError) {
        if step.recording.hasUnrepresentableNumber { throw .unrepresentableNumber }
        if step.recording.hasUnaddressableID {
            throw .body(JSONError(kind: .mismatch, detail: "an element's id cannot have a NUL, which no URL can carry"))
        }
        if dispatch.isStrict, !step.recording.coercions.isEmpty {
            throw .coerced(step.recording.coercions.shown(to: dispatch.sender))
        }
    }

    /// Returns the size of a state after an event's changes.
    ///
    /// - Throws: `stateFull` if the state would grow beyond its limit, `overloaded` if it would grow while memory is
    ///   full.
    private func size(
        of now: OpaqueBox,
        after changes: [StateChange],
        from before: OpaqueBox
    ) throws(SessionError) -> StateSize {
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

    /// Returns the size of a state that replaces the head, if that size is allowed.
    ///
    /// - Throws: The same errors as for the changes of an event.
    func size(measured size: MeasuredSize) throws(SessionError) -> StateSize {
        try SessionMemory.size(
            measured: size,
            limit: environment.limits.stateBytesMax,
            memory: environment.memory,
            key: key
        )
    }

    /// Makes the pending dispatch of a step: its position in the history, its log entry and its idempotency record.
    func pending(
        _ dispatch: QueuedDispatch,
        _ step: SessionStep,
        size: StateSize
    ) throws(SessionError) -> PendingDispatch {
        let persists = dispatch.persists
        let placement = machine.placement(of: step.recording, persists: persists)
        let shown = shown(step, to: dispatch.sender)
        let pending = PendingDispatch(
            state: step.state,
            position: placement.position,
            size: size,
            unlogged: placement.unlogged.isEmpty ? [] : state.condensed(placement.unlogged, for: step.state),
            entry: try placement.logged.map { changes throws(SessionError) in
                try logEntry(of: dispatch, version: placement.position.version, changes: changes)
            },
            outcome: PendingDispatch.Outcome(
                changes: step.recording.changes,
                shown: shown,
                isLoggedAsAnswered: placement.isLoggedAsAnswered && shown == nil,
                coercions: step.recording.coercions.shown(to: dispatch.sender),
                hasOmittedWrite: step.recording.hasOmittedWrite,
                persists: persists,
                effects: step.effects,
                holdsQueue: step.holdsQueue,
                chain: dispatch.source?.chain
            ),
            bodyBytes: dispatch.bodyBytes,
            reply: dispatch.reply
        )
        if let recorder = dispatch.recorder { pending.keep(try idempotencyRecord(to: pending, recorder)) }
        machine.beginCreation(by: dispatch.sender?.name)
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
        let sender =
            if let commandID = dispatch.recorder?.commandID {
                EntrySender(commandID: commandID, by: dispatch.sender?.name)
            } else {
                dispatch.sender?.entrySender
            }
        let entry = LogEntry(
            version: version,
            time: environment.wallClock(),
            sender: sender,
            event: event,
            changes: changes.logJSON
        )
        let bytesMax = environment.storage.capabilities.entryBytesMax
        guard entry.byteCount <= bytesMax else { throw .storage(.tooLarge(limitBytes: bytesMax)) }
        return entry
    }

    /// Returns the idempotency record of the answer; the answer is sent once the record is stored.
    private func idempotencyRecord(
        to dispatch: PendingDispatch,
        _ recorder: IdempotencyRecorder
    ) throws(SessionError) -> IdempotencyRecord {
        let kept = recorder.keep(answer(to: dispatch))
        let bytesMax = environment.storage.capabilities.entryBytesMax
        guard kept.byteCount <= bytesMax else { throw .storage(.tooLarge(limitBytes: bytesMax)) }
        idempotency.didKeep(kept)
        return kept
    }
}

extension JSONPointer {
    /// The pointer to the whole value.
    package static var root: JSONPointer { JSONPointer(tokens: []) }
}
