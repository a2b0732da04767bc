// Checks the event log that a state contains, and its replay.

import CounterFixture
import RivuletEngine
import RivuletInProcess
import Testing

@Suite struct EventLoggingReducerTests {
    private struct Traced: Equatable, Sendable {
        var log = EventLoggingState()
    }

    private typealias State = AppState<Saved, Traced>

    @Test func `D-31: the log keeps the newest events but not its own, and clear empties it`() {
        let reducer = EventLoggingReducer(maxEntries: 3)
        var state = EventLoggingState()
        for number in 1...5 { state = reducer.reduce(state: state, queuedEvent: QueuedEvent(event: Deed.add(number))) }
        #expect(state.events.compactMap { $0.event as? Deed } == [.add(3), .add(4), .add(5)])
        state = reducer.reduce(state: state, queuedEvent: QueuedEvent(event: EventLoggingEvent.replay))
        #expect(state.events.count == 3)
        state = reducer.reduce(state: state, queuedEvent: QueuedEvent(event: EventLoggingEvent.clear))
        #expect(state.events.isEmpty)
    }

    @Test func `D-31: the log keeps 200 entries by default`() {
        var state = EventLoggingState()
        for number in 0..<201 {
            EventLoggingReducer().reduce(into: &state, queuedEvent: QueuedEvent(event: Deed.add(number)))
        }
        #expect(state.events.count == 200)
        #expect(state.events.first?.event as? Deed == .add(1))
    }

    @Test func `D-31: an entry describes the event, and a sensitive event by its name only`() {
        let entry = EventEntry(queuedEvent: QueuedEvent(event: Deed.say("hi"), timestamp: 7))
        #expect(entry.timestamp == 7 && entry.id == 7)
        #expect(entry.typeName == "RivuletInProcessTests.Deed" && entry.description == #"say("hi")"#)
        #expect(entry.persist && entry.isUIEvent)
        let secret = EventEntry(queuedEvent: QueuedEvent(event: TallyEvent.note("secret"), timestamp: 7))
        #expect(secret.description == "note")
    }

    @Test func `a full log is not equal to the log after the next event`() {
        // The WAVE library compares only the numbers of entries, so a full log notifies no listener there.
        let reducer = EventLoggingReducer(maxEntries: 1)
        let first = reducer.reduce(state: EventLoggingState(), queuedEvent: QueuedEvent(event: Deed.add(1)))
        let second = reducer.reduce(state: first, queuedEvent: QueuedEvent(event: Deed.add(2)))
        #expect(first != second)
    }

    @Test func `D-31: a replay clears the log, then dispatches its events half a second apart`() async throws {
        let clock = ScriptedClock(passing: .seconds(60))
        let manager = await UIStateManager(
            defaultState: { State(t: Traced(), p: Saved()) },
            storage: MemoryStateStorage(),
            reducers: [AnyReducer(EventLoggingAppReducer<State>(keyPath: \.t.log))],
            clock: ScriptedClock()
        )
        let (replays, replay) = AsyncStream.makeStream(of: Task<Void, Never>.self)
        let processor = EventEffectsProcessor(stateManager: manager, clock: clock)
        await manager.setEffects { event, state in
            if let task = await processor.process(event: event, events: state.t.log.events) { replay.yield(task) }
        }
        for event in [EventLoggingEvent.clear as any AppEvent, Deed.add(1), Deed.add(2), EventLoggingEvent.replay] {
            await manager.dispatch(event)
        }
        var tasks = replays.makeAsyncIterator()
        await tasks.next()?.value
        await manager.debugWaitForEventsProcessed()
        #expect(manager.getState().t.log.events.compactMap { $0.event as? Deed } == [.add(1), .add(2)])
        #expect(clock.slept == [.milliseconds(500), .milliseconds(500)])
    }
}
