// Checks the order of events, effects and listeners in the in-process engine.

import InMemoryLogging
import RivuletEngine
import RivuletInProcess
import Synchronization
import Testing

@Suite struct UIStateManagerTests {
    @Test func `D-13, D-14: events are reduced one by one in the order of the calls, with and without await`() async {
        let manager = await DeedManager.deeds()
        let send: @Sendable (Int) -> Void = { manager.dispatch(Deed.say("\($0)")) }
        for number in 0..<200 {
            if number % 3 == 0 { await manager.dispatch(Deed.say("\(number)")) } else { send(number) }
        }
        await manager.debugWaitForEventsProcessed()
        #expect(manager.getState().p.words == (0..<200).map(String.init))
    }

    @Test func `D-14: the state is published before effects, then listeners get it, then the event is counted`() async {
        let manager = await DeedManager.deeds()
        let journal = Journal()
        await manager.addListener(
            CountListener { [weak manager] state in
                journal.note("listener \(state.p.count) of \(manager?.getState().p.count ?? -1)")
            }
        )
        await manager.setEffects { [weak manager] _, state in
            let processed = await manager?.eventsProcessed ?? -1
            journal.note("effect \(state.p.count) of \(manager?.getState().p.count ?? -1), \(processed) processed")
        }
        await manager.dispatch(Deed.add(5))
        await manager.debugWaitForEventsProcessed()
        #expect(journal.entries == ["listener 0 of 0", "effect 5 of 5, 1 processed", "listener 5 of 5"])
        #expect(await manager.eventsProcessed == 2)
    }

    @Test func `D-07, D-08: reducers run in the order of their addition, and an unknown event changes nothing`() async {
        struct Doubling: EventReducer {
            func reduce(state: DeedState, queuedEvent: QueuedEvent) -> DeedState {
                var state = state
                if queuedEvent.event is Deed { state.p.count *= 2 }
                return state
            }
        }
        let manager = await DeedManager.deeds()
        await manager.addReducer(AnyReducer<DeedState>(Doubling()))
        await manager.dispatch(Deed.add(3))
        await manager.dispatch(Stranger())
        await manager.debugWaitForEventsProcessed()
        #expect(manager.getState().p.count == 6)
        #expect(await manager.state == manager.getState())
    }

    @Test func `a rejected event changes nothing and has no effect, and the next event runs`() async {
        let log = InMemoryLogHandler()
        let manager = await DeedManager.deeds(log: log)
        let listener = CountListener()
        await manager.addListener(listener)
        await manager.dispatch(Deed.fail)
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        #expect(listener.counts == [0, 1])
        #expect(await manager.eventsProcessed == 3)
        #expect(log.entries.map { "\($0.message)" } == ["Deed was rejected, nothing has changed: RejectionError"])
    }

    // MARK: - Events of the engine

    @Test func `D-09: a restore replaces only p, without the reducers, and is not saved`() async throws {
        let storage = ScriptedStorage()
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        await manager.dispatch(Deed.say("kept"))
        await manager.dispatch(StateRestoreEvent(restoredState: Saved(count: 9)))
        await manager.debugWaitForEventsProcessed()
        try await manager.flushPendingSaves()
        #expect(manager.getState() == DeedState(t: Shown(last: "kept"), p: Saved(count: 9)))
        #expect(storage.saves == [#"{"count":0,"ratio":0.5,"words":["kept"]}"#])
        let event = StateRestoreEvent(restoredState: Saved())
        #expect(!event.persist && !event.isUIEvent)
    }

    @Test func `D-10: a reset gives both halves their defaults, without the reducers, and is saved`() async throws {
        let storage = ScriptedStorage()
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        await manager.addReducer(AnyReducer<DeedState>(ResetEvent.self) { state, _ in state.p.count = 77 })
        await manager.dispatch(Deed.say("gone"))
        await manager.dispatch(ResetEvent())
        await manager.debugWaitForEventsProcessed()
        try await manager.flushPendingSaves()
        #expect(manager.getState() == DeedState(t: Shown(), p: Saved()))
        #expect(storage.documents == ["a": #"{"count":0,"ratio":0.5,"words":[]}"#])
        #expect(ResetEvent().persist && ResetEvent().isUIEvent)
    }

    @Test func `D-11: effects get the restore event of the start, and a filter can refuse it`() async {
        let journal = Journal()
        let effects: DeedManager.Effects = { event, state in
            journal.note("\(event is StateRestoreEvent<Saved>) \(state.p.count)")
        }
        let storage = ScriptedStorage(["a": #"{"count":4,"ratio":0.5,"words":[]}"#])
        let manager = await DeedManager.deeds(key: "a", storage: storage, effects: effects)
        #expect(journal.entries == ["true 4"])
        #expect(await manager.eventsDispatched == 1)
        #expect(await manager.eventsProcessed == 1)

        let silent = await DeedManager.deeds(key: "a", storage: storage, filter: { _ in false }, effects: effects)
        #expect(journal.entries.count == 1)
        #expect(await silent.eventsDispatched == 0)
        #expect(silent.getState().p.count == 4)
    }

    // MARK: - Dispatch

    @Test func `D-13: a refused event is not counted, and withoutFilter skips the filter`() async {
        let manager = await DeedManager.deeds(filter: { $0 as? Deed != .add(1) })
        let outcomes = [
            await manager.dispatch(Deed.add(1)),
            await manager.dispatch(Deed.add(2)),
            await manager.dispatch(Deed.add(1), withoutFilter: true),
        ]
        await manager.debugWaitForEventsProcessed()
        #expect(outcomes == [.filtered, .queued, .queued])
        #expect(manager.getState().p.count == 3)
        #expect(await manager.eventsDispatched == 3)
        manager.setDispatchFilter(nil)
        #expect(await manager.dispatch(Deed.add(1)) == .queued)
    }

    @Test func `a full queue refuses events and logs it once`() async {
        let log = InMemoryLogHandler()
        let gate = Gate()
        var limits = EngineLimits()
        limits.queuedDispatchesMax = 3
        let manager = await DeedManager.deeds(limits: limits, log: log)
        await manager.setEffects { event, _ in if event as? Deed == .add(1) { await gate.pass() } }
        await manager.dispatch(Deed.add(1))
        await gate.waitForArrivals()
        var outcomes: [DispatchOutcome] = []
        for number in 2...6 { outcomes.append(await manager.dispatch(Deed.add(number * 10))) }
        #expect(outcomes == [.queued, .queued, .queued, .refused, .refused])
        gate.open()
        await manager.debugWaitForEventsProcessed()
        #expect(manager.getState().p.count == 91)
        #expect(await manager.eventsDispatched == 5)
        #expect(log.entries.map { "\($0.message)" } == ["the event queue is full: Deed and further events are refused"])
    }

    // MARK: - Effects

    @Test func `D-15: a manager has one effect function, which gets the new state, and nil removes it`() async {
        let journal = Journal()
        let manager = await DeedManager.deeds()
        await manager.setEffects { _, state in journal.note("first \(state.p.count)") }
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        await manager.setEffects { _, state in journal.note("second \(state.p.count)") }
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        await manager.setEffects(nil)
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        #expect(journal.entries == ["first 1", "second 2"])
    }

    @Test func `D-15: listeners and the next event wait for an effect`() async {
        let gate = Gate()
        let manager = await DeedManager.deeds()
        let listener = CountListener()
        await manager.addListener(listener)
        await manager.setEffects { event, _ in if event as? Deed == .add(1) { await gate.pass() } }
        await manager.dispatch(Deed.add(1))
        await manager.dispatch(Deed.add(10))
        await gate.waitForArrivals()
        #expect(listener.counts == [0])
        #expect(manager.getState().p.count == 1)
        gate.open()
        await manager.debugWaitForEventsProcessed()
        #expect(listener.counts == [0, 1, 11])
    }

    @Test func `D-16: an effect's events queue behind earlier events, and are filtered and reduced`() async {
        let gate = Gate()
        let manager = await DeedManager.deeds(filter: { $0 as? Deed != .say("refused") })
        await manager.setEffects { [weak manager] event, _ in
            guard event as? Deed == .say("first") else { return }
            await gate.pass()
            await manager?.dispatch(Deed.say("fed back"))
            await manager?.dispatch(Deed.say("refused"))
        }
        await manager.dispatch(Deed.say("first"))
        await gate.waitForArrivals()
        await manager.dispatch(Deed.say("queued"))
        gate.open()
        await manager.debugWaitForEventsProcessed()
        #expect(manager.getState().p.words == ["first", "queued", "fed back"])
    }

    @Test func `a too long effect is cancelled and logged, and the next event runs`() async {
        let log = InMemoryLogHandler()
        let clock = ScriptedClock(passing: .seconds(60))
        let manager = await DeedManager.deeds(clock: clock, log: log)
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        await manager.setEffects { event, _ in
            guard event as? Deed == .add(1) else { return }
            for await _ in AsyncStream(Never.self, { _ in }) {}
            end.yield(Task.isCancelled)
        }
        await manager.dispatch(Deed.add(1))
        var isCancelled = ends.makeAsyncIterator()
        #expect(await isCancelled.next() == true)
        await manager.setEffects(nil)
        await manager.dispatch(Deed.add(10))
        await manager.flushForTest()
        #expect(manager.getState().p.count == 11)
        #expect(clock.slept.contains(.seconds(30)))
        let message = "the effect of Deed took longer than 30.0 seconds, and was cancelled"
        #expect(log.entries.map { "\($0.message)" }.contains(message))
    }

    // MARK: - Listeners

    @Test func `D-04, D-17: listeners get the state at once and after each event, in their order`() async {
        let journal = Journal()
        let manager = await DeedManager.deeds()
        await manager.dispatch(Deed.add(2))
        await manager.debugWaitForEventsProcessed()
        let listeners = ["a", "b"].map { name in CountListener { journal.note("\(name) \($0.p.count)") } }
        for listener in listeners { await manager.addListener(listener) }
        await manager.addListener(listeners[0])
        await manager.dispatch(Deed.add(1))
        await manager.dispatch(Stranger())
        await manager.debugWaitForEventsProcessed()
        #expect(journal.entries == ["a 2", "b 2", "a 2", "a 3", "b 3", "a 3", "b 3"])
    }

    @Test func `D-17: listeners are retained, and freed at the first event after they are zombies`() async {
        let manager = await DeedManager.deeds()
        weak var held: CountListener?
        do {
            let listener = CountListener()
            held = listener
            await manager.addListener(listener)
        }
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        #expect(held?.counts == [0, 1])
        held?.zombie = true
        #expect(held != nil)
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        #expect(held == nil)
    }

    @Test func `D-17: a listener that is added without await gets the state in the order of the calls`() async {
        let manager = await DeedManager.deeds()
        let listener = CountListener()
        let add: @Sendable () -> Void = {
            manager.dispatch(Deed.add(1))
            manager.addListener(listener)
            manager.dispatch(Deed.add(1))
        }
        add()
        await manager.debugWaitForEventsProcessed()
        #expect(listener.counts == [1, 2])
    }

    // MARK: - Counters and snapshots

    @Test func `D-18: the wait for processed events ends after one second at most`() async {
        let gate = Gate()
        let clock = ScriptedClock(passing: .seconds(1))
        let manager = await DeedManager.deeds(clock: clock)
        await manager.setEffects { _, _ in await gate.pass() }
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        #expect(clock.slept == [.seconds(1)])
        #expect(await manager.eventsDispatched == 2)
        #expect(await manager.eventsProcessed == 1)
        gate.open()
    }

    @Test func `D-19: a read while reducers run returns the whole state before the event`() async {
        let seen = Mutex<DeedState?>(nil)
        let manager = await DeedManager.deeds()
        await manager.addReducer(
            AnyReducer<DeedState>(Deed.self) { [weak manager] state, _ in
                seen.withLock { $0 = manager?.getState() }
                state.t.last = "late"
            }
        )
        await manager.dispatch(Deed.say("early"))
        await manager.debugWaitForEventsProcessed()
        #expect(seen.withLock { $0 } == DeedState(t: Shown(), p: Saved()))
        #expect(manager.getState() == DeedState(t: Shown(last: "late"), p: Saved(words: ["early"])))
    }

    @Test func `a manager without references stays until its queued events are done`() async {
        let gate = Gate()
        let journal = Journal()
        weak var held: DeedManager?
        do {
            let manager = await DeedManager.deeds()
            held = manager
            await manager.setEffects { _, state in
                await gate.pass()
                journal.note("\(state.p.count)")
            }
            await manager.dispatch(Deed.add(1))
            await manager.dispatch(Deed.add(1))
        }
        await gate.waitForArrivals()
        #expect(held != nil)
        gate.open()
        await held?.debugWaitForEventsProcessed()
        #expect(journal.entries == ["1", "2"])
    }
}

extension UIStateManager {
    /// Waits for all events, independent of the clock.
    fileprivate func flushForTest() async {
        while eventsDispatched != eventsProcessed { await Task.yield() }
    }
}
