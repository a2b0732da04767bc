public import Logging
import RivuletBase
public import RivuletEngine
import RivuletObservation
import Synchronization

/// A state that changes by events alone, in the process that holds it.
///
/// Events have their turn one after the other, in the order of the calls of `dispatch`. For each: the reducers run in the order in which
/// they were added, the state is published, its `p` goes to the storage if the event says `persist`, the effects run, those of the reducers and
/// the one function, and are waited for, and the listeners are told. ``StateRestoreEvent`` and ``ResetEvent`` go past the reducers. It runs on no particular thread. A session
/// that a server hosts has the same order and needs no manager. Source: <Tests/Rows/Systems.md#d-11> to D-22.
public actor UIStateManager<Persistent: PersistentState, Transient: Equatable & Sendable> {
    /// What it holds.
    public typealias State = AppState<Persistent, Transient>
    /// Decides, on the thread that dispatches, whether an event is taken.
    public typealias DispatchFilter = @Sendable (_ event: any AppEvent) -> Bool
    /// Does what follows an event, given the state that it led to.
    public typealias Effects = @Sendable (_ event: any AppEvent, _ newState: State) async -> Void

    private nonisolated let defaultState: @Sendable () -> State
    private nonisolated let published: Mutex<State>
    nonisolated let inbox: EventInbox
    private nonisolated let filter: Mutex<DispatchFilter?>
    private nonisolated let persistence: PersistenceManager<Persistent>?
    nonisolated let clock: any Clock<Duration>
    nonisolated let logger: Logger
    let limits: EngineLimits
    private var reducers: [AnyReducer<State>]
    private(set) var effects: Effects?
    /// The effects of reducers; nil before the first one.
    var ofReducers: ManagerEffects?
    /// What brings them back here.
    var effectExecutor: ManagerExecutor?
    /// Whether no effect of a reducer begins any more.
    var hasStoppedEffects = false
    private var listeners: [any StateListener] = []

    /// Starts with the defaults, with the stored `p` over them if there is one, and dispatches a ``StateRestoreEvent`` of that `p`.
    ///
    /// That event has had its turn when this returns; `effects` given here see it, and the filter may refuse it. A stored document that
    /// cannot be read is logged and kept: the state has its defaults then, and nothing is saved. See ``persistenceError``.
    /// - Parameters:
    ///   - defaultState: Makes the state of a beginning; also of a reset.
    ///   - persistenceKey: Under which `p` is stored; nil: nothing is, and a restart gives the defaults.
    ///   - storage: Where `p` is stored.
    ///   - dispatchFilter: As ``setDispatchFilter(_:)`` sets it.
    ///   - reducers: The first reducers.
    ///   - effects: As ``setEffects(_:)`` sets them.
    ///   - limits: How many events wait, and how long effects may take.
    ///   - clock: What measures the time of effects and of new tries to save.
    ///   - logger: Where faults are told.
    public init(
        defaultState: @escaping @Sendable () -> State,
        persistenceKey: String? = nil,
        storage: any StateStorage,
        dispatchFilter: DispatchFilter? = nil,
        reducers: [AnyReducer<State>] = [],
        effects: Effects? = nil,
        limits: EngineLimits = EngineLimits(),
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger = Logger(label: "rivulet.state")
    ) async {
        let persistence = persistenceKey.map { key in
            PersistenceManager<Persistent>(key: key, storage: storage, clock: clock, logger: logger)
        }
        var state = defaultState()
        if let stored = await persistence?.loadInitialState(over: state.p) { state.p = stored }
        self.defaultState = defaultState
        self.persistence = persistence
        self.reducers = reducers
        self.effects = effects
        self.clock = clock
        self.logger = logger
        self.limits = limits
        published = Mutex(state)
        inbox = EventInbox(eventsMax: limits.queuedDispatchesMax)
        filter = Mutex(dispatchFilter)
        let restore = StateRestoreEvent(restoredState: state.p)
        guard dispatchFilter?(restore) ?? true else { return }
        _ = inbox.add(.event(QueuedEvent(event: restore)))
        // Nobody else has this manager yet, so nothing else is queued.
        await workOff()
    }

    deinit {
        persistence?.close()
    }

    // MARK: - State

    /// The state after the newest event that had its turn; whole at any time, from any thread, without waiting for reducers.
    public nonisolated func getState() -> State { published.withLock { $0 } }

    /// The same.
    public var state: State { getState() }

    /// How many events were taken, the first ``StateRestoreEvent`` included.
    public var eventsDispatched: Int { inbox.dispatched }

    /// How many of them had their turn, with effects and listeners.
    public var eventsProcessed: Int { inbox.processed }

    // MARK: - Setting up

    /// Adds a reducer behind those that are there, for the events that have their turn from now on.
    public func addReducer(_ reducer: AnyReducer<State>) {
        reducers.append(reducer)
    }

    /// Sets the one function that is called after each event, in place of the one before; nil calls none.
    ///
    /// The next event waits for it, for at most `EngineLimits.effectTimeMax`: then it is cancelled, which is logged. Long work belongs in a
    /// task of its own that dispatches when it is done. Events that it dispatches queue behind all that are queued.
    public func setEffects(_ effects: Effects?) {
        self.effects = effects
    }

    /// Sets what decides whether an event is taken, for the calls of `dispatch` from now on; nil takes all.
    public nonisolated func setDispatchFilter(_ filter: DispatchFilter?) {
        self.filter.withLock { $0 = filter }
    }

    /// Adds a listener, which is called at once with the current state, and after each event from then on; once, if it is there already.
    public func addListener(_ listener: any StateListener) async {
        admit(listener)
    }

    /// Adds a listener behind the events that are queued.
    public nonisolated func addListener(_ listener: any StateListener) {
        if case .starts = inbox.add(.listener(listener)) { work() }
    }

    // MARK: - Events

    /// Queues an event, without waiting for its turn; calls keep their order.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - withoutFilter: Whether it is taken whatever the filter says.
    /// - Returns: Whether it was taken.
    @discardableResult
    public nonisolated func dispatch(_ event: any AppEvent, withoutFilter: Bool = false) async -> DispatchOutcome {
        enqueue(event, withoutFilter: withoutFilter)
    }

    /// Queues an event, from code that is not asynchronous; calls keep their order, also among those of the other form.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - withoutFilter: Whether it is taken whatever the filter says.
    /// - Returns: Whether it was taken.
    @discardableResult
    public nonisolated func dispatch(_ event: any AppEvent, withoutFilter: Bool = false) -> DispatchOutcome {
        enqueue(event, withoutFilter: withoutFilter)
    }

    /// Returns when no event waits or has its turn, but after one second at most; for tests.
    public nonisolated func debugWaitForEventsProcessed() async {
        let inbox = inbox
        _ = await TimeLimit.run(.seconds(1), clock: clock) { await inbox.waitUntilIdle() }
    }

    private nonisolated func enqueue(_ event: any AppEvent, withoutFilter: Bool) -> DispatchOutcome {
        if !withoutFilter, !isTaken(event) { return .filtered }
        switch inbox.add(.event(QueuedEvent(event: event))) {
        case .waits: break
        case .starts: work()
        case .refused(let isFirst):
            if isFirst { logger.error("the event queue is full: \(event.loggedName) and what follows is refused") }
            return .refused
        }
        return .queued
    }

    /// Whether the filter lets an event in.
    nonisolated func isTaken(_ event: any AppEvent) -> Bool {
        filter.withLock { $0 }?(event) ?? true
    }

    /// Works until nothing waits; there is one such task at a time.
    nonisolated func work() {
        Task { await workOff() }
    }

    private func workOff() async {
        while let item = inbox.next() {
            switch item {
            case .listener(let listener): admit(listener)
            case .event(let event, let source):
                await process(event, from: source)
                inbox.finishEvent()
            }
        }
    }

    private func process(_ queuedEvent: QueuedEvent, from source: EffectSource?) async {
        let event = queuedEvent.event
        effectsEventDidBegin(source)
        var state = getState()
        var asked = ReducerEffects()
        do {
            try reduce(&state, queuedEvent, &asked)
        } catch {
            return logger.notice("\(event.loggedName) was rejected, nothing has changed: \(LogText.of(error))")
        }
        published.withLock { $0 = state }
        if event.persist { persistence?.save(state.p) }
        await runEffects(of: event, state, asked: asked, source: source)
        notify(state)
    }

    private func reduce(
        _ state: inout State,
        _ queuedEvent: QueuedEvent,
        _ asked: inout ReducerEffects
    ) throws {
        switch queuedEvent.event {
        case is ResetEvent: state = defaultState()
        case let event as StateRestoreEvent<Persistent>: state.p = event.restoredState
        default:
            for reducer in reducers {
                try reducer.reduce(into: &state, queuedEvent: queuedEvent, effects: &asked)
            }
        }
    }

    private func admit(_ listener: any StateListener) {
        if !listeners.contains(where: { $0 === listener }) { listeners.append(listener) }
        listener.updateState(StateHolder(state: getState()))
    }

    private func notify(_ state: State) {
        listeners.removeAll { $0.zombie }
        let holder = StateHolder(state: state)
        for listener in listeners { listener.updateState(holder) }
    }

    // MARK: - Persistence

    /// Why nothing is saved, because it is not known what would be lost: `unreadable` or `unavailable`; nil when all is well.
    public nonisolated var persistenceError: StatePersistenceError? { persistence?.refusal }

    /// Saves `p` as it is now, whatever the events said, and returns when it is durable.
    ///
    /// - Throws: ``StatePersistenceError``, or what the storage throws; it is tried again then.
    public nonisolated func saveStateImmediately() async throws {
        guard let persistence else { throw StatePersistenceError.noKey }
        persistence.save(getState().p)
        try await persistence.flush()
    }

    /// Returns when all saves that events have asked for are durable; at once without a `persistenceKey`.
    ///
    /// Events that wait for their turn have not asked yet.
    /// - Throws: ``StatePersistenceError``, or what the storage throws; it is tried again then.
    public nonisolated func flushPendingSaves() async throws {
        try await persistence?.flush()
    }

    /// What is stored now; nil when there is nothing, or nothing that can be read.
    public nonisolated func loadState() async -> Persistent? {
        await persistence?.loadState(over: defaultState().p)
    }

    /// Keeps a stored document that could not be read under another key, `….unreadable-1` to `-100`, and saves from now on.
    ///
    /// - Returns: that key; nil when there was no such document.
    /// - Throws: what the storage throws, or ``persistenceError`` when it is `unavailable`, for then a new manager may read the document;
    ///   nothing has changed then.
    @discardableResult
    public nonisolated func setAsideUnreadableState() async throws -> String? {
        try await persistence?.setAside(placesMax: 100)
    }
}

extension AppEvent {
    /// What a log may say of an event: its type and its case, never what it carries.
    var loggedName: String {
        let type = String(describing: Self.self)
        return (self as? any EventCoding).map { "\(type).\($0.eventName)" } ?? type
    }
}

/// Whether an event was taken.
public enum DispatchOutcome: Sendable, Hashable {
    /// It waits for its turn, or has had it.
    case queued
    /// The dispatch filter refused it: it is not counted, and nothing happens.
    case filtered
    /// `EngineLimits.queuedDispatchesMax` events wait already: it is lost, which is logged.
    case refused
}
