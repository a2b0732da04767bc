public import Logging
import RivuletBase
public import RivuletEngine
import RivuletObservation
import Synchronization

/// A state that only events change, in the process that holds it.
///
/// Events are processed one after the other, in the order of the calls of `dispatch`. For each event:
/// - The reducers run in the order in which they were added.
/// - The state is published.
/// - Its `p` goes to the storage if the event says `persist`.
/// - The effects of the reducers and the function of ``setEffects(_:)`` run. The manager waits for the function and
///   for `.run(.beforeNextEvent)`.
/// - The listeners are notified.
///
/// ``StateRestoreEvent`` and ``ResetEvent`` bypass the reducers. The manager runs on no particular thread. A session
/// that a server hosts has the same order and needs no manager. Source: <Tests/Rows/Systems.md#d-11> to D-22.
public actor UIStateManager<Persistent: PersistentState, Transient: Equatable & Sendable> {
    /// The state that the manager holds.
    public typealias State = AppState<Persistent, Transient>
    /// Returns true if an event is accepted, on the thread that dispatches.
    public typealias DispatchFilter = @Sendable (_ event: any AppEvent) -> Bool
    /// Runs the effects of an event, given the state that it led to.
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
    /// The executor by which the tasks of those effects return to the manager.
    var effectExecutor: ManagerExecutor?
    /// True if no effect of a reducer begins any more.
    var hasStoppedEffects = false
    private var listeners: [any StateListener] = []

    /// Creates a manager with the stored `p` if there is one, otherwise with the default, and dispatches a
    /// ``StateRestoreEvent`` with this `p`.
    ///
    /// That event has been processed when this returns. The `effects` given here see it, and the filter may refuse
    /// it. A stored document that cannot be read is logged and kept. The state has its defaults then, and nothing is
    /// saved. See ``persistenceError``.
    /// - Parameters:
    ///   - defaultState: Makes the state at the start and after a reset.
    ///   - persistenceKey: The key under which `p` is stored; if nil, nothing is stored.
    ///   - storage: The storage of `p`.
    ///   - dispatchFilter: The filter, as for ``setDispatchFilter(_:)``.
    ///   - reducers: The first reducers.
    ///   - effects: The function, as for ``setEffects(_:)``.
    ///   - limits: The limits on waiting events and on the time of effects.
    ///   - clock: The clock for the time limit of effects and for the delay before another attempt to save.
    ///   - logger: The log for errors.
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
        // No other code has this manager yet, so nothing else is queued.
        await workOff()
    }

    deinit {
        persistence?.close()
    }

    // MARK: - State

    /// Returns the state after the newest processed event.
    ///
    /// It is complete at any time, and any thread can read it without waiting for reducers.
    public nonisolated func getState() -> State { published.withLock { $0 } }

    /// The state after the newest processed event, as from ``getState()``.
    public var state: State { getState() }

    /// The number of accepted events, the first ``StateRestoreEvent`` included.
    public var eventsDispatched: Int { inbox.dispatched }

    /// The number of processed events, with their effects and listeners.
    public var eventsProcessed: Int { inbox.processed }

    // MARK: - Setting up

    /// Adds a reducer after the existing ones, for the events that are processed from now on.
    public func addReducer(_ reducer: AnyReducer<State>) {
        reducers.append(reducer)
    }

    /// Sets the function that is called after each event, in place of the previous function; nil removes it.
    ///
    /// The next event waits for the function, for at most `EngineLimits.effectTimeMax`. After that time the function
    /// is cancelled, which is logged. For long work, start a separate task that dispatches an event at its end. Events
    /// that the function dispatches queue behind all queued events.
    public func setEffects(_ effects: Effects?) {
        self.effects = effects
    }

    /// Sets the filter that accepts or refuses events, for the calls of `dispatch` from now on; nil accepts all
    /// events.
    public nonisolated func setDispatchFilter(_ filter: DispatchFilter?) {
        self.filter.withLock { $0 = filter }
    }

    /// Adds a listener, which is called at once with the current state, and after each event from then on.
    ///
    /// A listener that has already been added is not added again.
    public func addListener(_ listener: any StateListener) async {
        admit(listener)
    }

    /// Adds a listener after the events that are already queued have been processed.
    public nonisolated func addListener(_ listener: any StateListener) {
        if case .starts = inbox.add(.listener(listener)) { work() }
    }

    // MARK: - Events

    /// Queues an event and does not wait for its processing; calls keep their order.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - withoutFilter: True if the event bypasses the filter.
    /// - Returns: The outcome: queued, filtered or refused.
    @discardableResult
    public nonisolated func dispatch(_ event: any AppEvent, withoutFilter: Bool = false) async -> DispatchOutcome {
        enqueue(event, withoutFilter: withoutFilter)
    }

    /// Queues an event from synchronous code; calls keep their order, also with calls of the other form.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - withoutFilter: True if the event bypasses the filter.
    /// - Returns: The outcome: queued, filtered or refused.
    @discardableResult
    public nonisolated func dispatch(_ event: any AppEvent, withoutFilter: Bool = false) -> DispatchOutcome {
        enqueue(event, withoutFilter: withoutFilter)
    }

    /// Returns when no event waits or is being processed, but after one second at most; for tests.
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
            if isFirst { logger.error("the event queue is full: \(event.loggedName) and further events are refused") }
            return .refused
        }
        return .queued
    }

    /// Returns true if the filter accepts an event.
    nonisolated func isTaken(_ event: any AppEvent) -> Bool {
        filter.withLock { $0 }?(event) ?? true
    }

    /// Starts the task that works until the queue is empty.
    ///
    /// There is only one such task at a time.
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

    /// The reason that nothing is saved, `unreadable` or `unavailable`; nil if saving works.
    ///
    /// After such an error the content of the stored document is unknown, and an overwrite could lose it.
    public nonisolated var persistenceError: StatePersistenceError? { persistence?.refusal }

    /// Saves `p` as it is now, independent of the events' `persist`, and returns when it is durable.
    ///
    /// - Throws: ``StatePersistenceError``, or the error of the storage. The save is tried again then.
    public nonisolated func saveStateImmediately() async throws {
        guard let persistence else { throw StatePersistenceError.noKey }
        persistence.save(getState().p)
        try await persistence.flush()
    }

    /// Returns when all saves that events have requested are durable; at once without a `persistenceKey`.
    ///
    /// Events that wait for their turn have not requested a save yet.
    /// - Throws: ``StatePersistenceError``, or the error of the storage. The saves are tried again then.
    public nonisolated func flushPendingSaves() async throws {
        try await persistence?.flush()
    }

    /// Returns the state that is stored now; nil if there is none, or none that can be read.
    public nonisolated func loadState() async -> Persistent? {
        await persistence?.loadState(over: defaultState().p)
    }

    /// Copies a stored document that could not be read to another key, `….unreadable-1` to `-100`, and saves from now
    /// on.
    ///
    /// - Returns: The new key; nil if there was no such document.
    /// - Throws: The error of the storage; ``persistenceError`` if it is `unavailable`, because a new manager may
    ///   read the document; `unreadable` if all 100 keys are taken. Nothing has changed then.
    @discardableResult
    public nonisolated func setAsideUnreadableState() async throws -> String? {
        try await persistence?.setAside(locationsMax: 100)
    }
}

extension AppEvent {
    /// The name of an event for logs: its type and its case, never its content.
    var loggedName: String {
        let type = String(describing: Self.self)
        return (self as? any EventCoding).map { "\(type).\($0.eventName)" } ?? type
    }
}

/// The outcome of a dispatch.
public enum DispatchOutcome: Sendable, Hashable {
    /// The event waits for its turn, or has been processed.
    case queued
    /// The dispatch filter refused the event: it is not counted, and nothing happens.
    case filtered
    /// `EngineLimits.queuedDispatchesMax` events wait already: the event is lost, which is logged.
    case refused
}
