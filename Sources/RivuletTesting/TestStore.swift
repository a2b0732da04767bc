public import RivuletAccess
public import RivuletEngine
import RivuletObservation
import RivuletSessions
public import Testing

/// One session of an app, without server and storage; each change and event that a test does not assert is a failure.
///
/// ```swift
/// let store = TestStore(SearchApp { ["\($0)!"] })
/// await store.send(.type("a")) { $0.p.text = "a" }
/// await store.receive(.found(["a!"]), within: .milliseconds(300)) { $0.p.hits = ["a!"] }
/// await store.finish()
/// ```
///
/// Reducers run under the change recorder. The scheduler of sessions runs the effects, on a ``ManualClock``. An effect
/// begins as soon as its event is reduced, because storing takes no time. Failures are issues of Swift Testing at the
/// line of the call. A store belongs to the task of its test.
public final class TestStore<Definition: AppDefinition> {
    /// The state of one session of the app.
    public typealias State = Definition.State
    /// The events that can be sent.
    public typealias Event = Definition.Event

    /// The number of unreceived events at which all effects are ended.
    ///
    /// Effects that always dispatch further events would never end by themselves.
    static var unreceivedEventsMax: Int { 10_000 }

    /// The clock of the effects, including `dispatch.clock`; pass it to the app's own dependencies too.
    public let clock: ManualClock
    /// The state after all asserted events; events that wait to be received have not changed it.
    public internal(set) var state: State
    /// The strictness about changes and events that are not asserted.
    public var exhaustivity = Exhaustivity.on
    /// The maximum real time for which ``receive(_:within:sourceLocation:change:)`` and
    /// ``finish(within:sourceLocation:)`` wait for work that does not wait for the clock.
    public var patience = Duration.seconds(1)

    let engine: EventEngine<Definition>
    /// The app, if it has rules of its own for callers.
    private let guardian: (any GuardedApp<State, Event>)?
    let executor: ManualExecutor
    private let limits: EngineLimits
    /// The state after all events.
    var head: State
    var received: [ReceivedEvent<Definition>] = []
    private var queue: [(event: Event, source: EffectSource)] = []
    private var driver: EffectDriver<Event>?
    /// The position of the last call of the test, for issues that no call causes directly.
    private var lastLocation: SourceLocation

    /// Makes a session of the app.
    ///
    /// - Parameters:
    ///   - app: The app, with dependencies of the test.
    ///   - state: The state of the session; the app's default if nil.
    ///   - clock: The clock of its effects.
    ///   - limits: The limits of its effects.
    ///   - sourceLocation: The position at which failures at the end of the store's life are reported.
    public init(
        _ app: Definition,
        state: State? = nil,
        clock: ManualClock = ManualClock(),
        limits: EngineLimits = EngineLimits(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let state = state ?? app.defaultState
        self.state = state
        self.clock = clock
        self.limits = limits
        head = state
        engine = EventEngine(app)
        guardian = app as? any GuardedApp<State, Event>
        executor = ManualExecutor()
        lastLocation = sourceLocation
        driver = makeDriver()
    }

    deinit {
        reportWhatIsLeft()
        driver?.stop()
        // Cancelled work must end here, and not wait for the clock for ever.
        executor.runUntilIdle()
    }

    // MARK: - Sending

    /// Sends an event as a client does, and asserts the change of the state.
    ///
    /// A ``GuardedApp`` admits the event first, and may write the caller into it or refuse it.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - caller: The caller that the app's `admit(_:from:state:)` gets, such as `.test("ann")`.
    ///   - sourceLocation: The position at which failures are reported.
    ///   - change: Edits the state before the event into the expected state; nil if no change is expected. If
    ///     ``exhaustivity`` is off, it edits the state after the event, and an edit that changes this state is a
    ///     failure.
    public nonisolated(nonsending) func send(
        _ event: Event,
        from caller: Caller = .anonymous,
        sourceLocation: SourceLocation = #_sourceLocation,
        change: ((inout State) throws -> Void)? = nil
    ) async {
        await send(atomically: [event], from: caller, sourceLocation: sourceLocation, change: change)
    }

    /// Sends several events as one dispatch, which applies all or none of them, and asserts the change of the state.
    public nonisolated(nonsending) func send(
        atomically events: [Event],
        from caller: Caller = .anonymous,
        sourceLocation: SourceLocation = #_sourceLocation,
        change: ((inout State) throws -> Void)? = nil
    ) async {
        guard begin(events, at: sourceLocation), let events = admit(events, from: caller) else { return }
        let before = head
        guard let rejection = reduce(events, chain: nil) else {
            compare(before, head, after: Self.name(events), change)
            state = head
            return settle()
        }
        fail("\(Self.name(events)) was rejected: \(rejection)")
    }

    /// Sends an event that a reducer rejects, and asserts the message; the state must not change.
    public nonisolated(nonsending) func send(
        _ event: Event,
        from caller: Caller = .anonymous,
        expectRejection message: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        guard begin([event], at: sourceLocation), let events = admit([event], from: caller) else { return }
        let rejection = reduce(events, chain: nil)
        if let rejection, rejection != message {
            fail(
                "\(Self.name(events)) was rejected with another message: expected \"\(message)\", was \"\(rejection)\""
            )
        } else if rejection == nil {
            fail("\(Self.name(events)) was accepted; expected the rejection \"\(message)\"")
            state = head
            settle()
        }
    }

    /// Sends an event that the app's `admit(_:from:state:)` refuses, and asserts the reason of its `AccessDenied`.
    ///
    /// The reducers do not get the event. A server answers 403 with the reason.
    public nonisolated(nonsending) func send(
        _ event: Event,
        from caller: Caller = .anonymous,
        expectDenial reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        guard begin([event], at: sourceLocation) else { return }
        do {
            let admitted = try admitted([event], from: caller)
            fail("\(Self.name(admitted)) was admitted from \(caller); expected the denial \"\(reason)\"")
        } catch let denied as AccessDenied {
            guard denied.description != reason else { return }
            fail(
                "\(Self.name([event])) was denied with another reason: expected \"\(reason)\", was \"\(denied)\""
            )
        } catch {
            fail("the app's admit failed at \(Self.name([event])): \(error)")
        }
    }

    /// Begins the app's effect for a session that comes into memory, `effect(whenLoaded:)`.
    public nonisolated(nonsending) func load(sourceLocation: SourceLocation = #_sourceLocation) async {
        guard begin([], at: sourceLocation) else { return }
        let effect = engine.definition.effect(whenLoaded: head)
        driver?.begin(effect.isNone ? [] : [EventEffect(eventName: "(loaded)", effect: effect)])
        settle()
    }

    // MARK: - Time and the end

    /// Moves the clock; effects run meanwhile, each at its moment, and their events wait to be received.
    public nonisolated(nonsending) func advance(
        by duration: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        lastLocation = sourceLocation
        clock.advance(by: duration) { settle() }
    }

    /// Skips the events that effects have dispatched; ``state`` is then the state after them.
    public func skipReceivedEvents() {
        received = []
        state = head
    }

    /// Cancels all effects, also effects that a session would continue.
    public func skipEffects() {
        driver?.stop()
        executor.runUntilIdle()
        queue = []
        driver = makeDriver()
    }

    /// Asserts that all events of effects were received, and that no effect runs.
    ///
    /// - Parameters:
    ///   - duration: The maximum time by which the clock is moved for effects to end.
    ///   - sourceLocation: The position at which failures are reported.
    public nonisolated(nonsending) func finish(
        within duration: Duration = .zero,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        lastLocation = sourceLocation
        await wait(within: duration) { driver?.eventNamesUnderWay.isEmpty != false }
        reportWhatIsLeft()
        // The failures are reported once, and not again at the end of the store.
        skipReceivedEvents()
        skipEffects()
    }

    private func reportWhatIsLeft() {
        guard exhaustivity == .on else { return }
        if !received.isEmpty { fail("events of effects were not received: \(unreceivedNames)") }
        let names = driver?.eventNamesUnderWay ?? []
        if !names.isEmpty {
            fail(
                "effects of these events still run: \(names.joined(separator: ", ")); cancel them, advance the clock or call skipEffects()"
            )
        }
    }

    // MARK: - Steps

    /// Returns true if an event can be sent now.
    private func begin(_ events: [Event], at sourceLocation: SourceLocation) -> Bool {
        lastLocation = sourceLocation
        settle()
        if !received.isEmpty {
            if exhaustivity == .on {
                fail("before \(Self.name(events)) is sent, receive the events of effects: \(unreceivedNames)")
            }
            skipReceivedEvents()
        }
        guard driver?.isHoldingQueue == true else { return true }
        let names = driver?.eventNamesUnderWay.joined(separator: ", ") ?? ""
        fail(
            "\(Self.name(events)) was not sent: the session still waits for an effect (of \(names))"
        )
        return false
    }

    /// Returns a caller's events as the app admits them; nil, after a failure, if it refuses one.
    private func admit(_ events: [Event], from caller: Caller) -> [Event]? {
        do {
            return try admitted(events, from: caller)
        } catch let denied as AccessDenied {
            fail("\(Self.name(events)) was denied: \(denied)")
        } catch {
            fail("the app's admit failed at \(Self.name(events)): \(error)")
        }
        return nil
    }

    private func admitted(_ events: [Event], from caller: Caller) throws -> [Event] {
        guard let guardian else { return events }
        return try events.map { try guardian.admit($0, from: caller, state: head) }
    }

    /// Applies events as a session does, and begins their effects.
    ///
    /// - Returns: the reason that they were not applied; nil if they were.
    private func reduce(_ events: [Event], chain: EffectChain?) -> String? {
        do {
            let before = head
            let step = try engine.apply(events, to: &head)
            guard !step.recording.hasUnrepresentableNumber else {
                head = before
                return "the state would have a number that JSON cannot carry"
            }
            guard !step.recording.hasUnaddressableID else {
                head = before
                return "an element's id would have a NUL, which no URL can carry"
            }
            driver?.begin(step.effects, chain: chain)
            return nil
        } catch let refused as RejectedEventError {
            return refused.rejection.message
        } catch {
            let failure = error as? ReducerError
            fail("a reducer failed at \(failure?.eventName ?? Self.name(events)): \(failure?.error ?? error)")
            return "a reducer failed"
        }
    }

    /// Does all work that does not need the clock to move.
    func settle() {
        repeat {
            executor.runUntilIdle()
            drive()
        } while !executor.isIdle
    }

    /// Moves the clock from one deadline to the next until the condition holds, then waits in real time for work on
    /// other threads.
    nonisolated(nonsending) func wait(within duration: Duration, until condition: () -> Bool) async {
        settle()
        let end = clock.now.advanced(by: duration)
        while !condition(), let next = clock.deadlines.first, next <= end {
            await waitElsewhere(until: condition, patience: .zero)
            clock.advance(by: clock.now.duration(to: next))
            settle()
        }
        guard !condition() else { return }
        await waitElsewhere(until: condition, patience: patience)
        guard !condition(), clock.now < end else { return }
        clock.advance(by: clock.now.duration(to: end))
        settle()
    }

    /// Waits while other threads continue work that does not wait for the clock.
    private nonisolated(nonsending) func waitElsewhere(until condition: () -> Bool, patience: Duration) async {
        let start = ContinuousClock.now
        while !condition(), driver?.isWorking == true, start.duration(to: .now) < patience {
            do {
                try await Task.sleep(for: .milliseconds(1))
            } catch {
                // The test is cancelled.
                return
            }
            settle()
        }
    }

    // MARK: - Failures

    func compare(_ before: State, _ after: State, after name: String, _ change: ((inout State) throws -> Void)?) {
        var expected = exhaustivity == .on ? before : after
        do {
            try change?(&expected)
        } catch {
            return fail("the expected change threw: \(error)")
        }
        if exhaustivity == .on, change != nil, expected == before, after == before {
            return fail("\(name) changed nothing; leave the closure out")
        }
        guard expected != after else { return }
        let lines = StateDifference.lines(expected: expected, actual: after)
        fail("the state after \(name) is not the expected one\n  " + lines.joined(separator: "\n  "))
    }

    func fail(_ message: String) {
        Issue.record(Comment(rawValue: message), sourceLocation: lastLocation)
    }

    func setSourceLocation(_ sourceLocation: SourceLocation) { lastLocation = sourceLocation }

    var unreceivedNames: String { received.map(\.event.testForm).joined(separator: ", ") }

    static func name(_ events: [Event]) -> String {
        events.isEmpty ? "load()" : events.map(\.testForm).joined(separator: ", ")
    }
}

// MARK: - Effects

extension TestStore: EffectHost {
    package func enqueue(_ event: Event, from source: EffectSource) -> EffectError? {
        guard queue.count < limits.queuedDispatchesMax else { return .queueFull(limit: limits.queuedDispatchesMax) }
        queue.append((event, source))
        return nil
    }

    package func drive() {
        while driver?.isHoldingQueue == false, !queue.isEmpty {
            let (event, source) = queue.removeFirst()
            if let tick = source.tick { driver?.tickDidEnd(tick) }
            let before = head
            let rejection = reduce([event], chain: source.chain)
            received.append(ReceivedEvent(event: event, before: before, after: head, rejection: rejection))
            guard received.count < Self.unreceivedEventsMax else {
                fail("effects have dispatched \(received.count) events that were not received; all effects are ended")
                queue = []
                driver?.stop()
                return
            }
        }
    }

    private func makeDriver() -> EffectDriver<Event> {
        let surroundings = EffectSurroundings(
            executor: executor,
            clock: EffectClock(clock),
            taskExecutor: executor,
            limits: limits
        )
        return EffectDriver(surroundings, host: self) { [weak self] error, eventName in
            guard let self else { return }
            if case .late = error { return }
            fail("the effect of \(eventName): \(error)\(error.error.map { ": \($0)" } ?? "")")
        }
    }
}
