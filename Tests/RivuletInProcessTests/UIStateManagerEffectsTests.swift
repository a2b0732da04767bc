// Checks the effects of reducers in the in-process engine, on a clock that the test moves.

import InMemoryLogging
import RivuletEngine
import RivuletInProcess
import RivuletTestClock
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct UIStateManagerEffectsTests {
    /// A manager of deeds with a second reducer that returns effects, and the words that its listener got.
    private struct Scene {
        let clock = ManualClock()
        let log = InMemoryLogHandler()
        let manager: DeedManager
        /// The words after each event.
        let told: Told

        init(
            limits: EngineLimits = EngineLimits(),
            filter: DeedManager.DispatchFilter? = nil,
            _ effects: @escaping @Sendable (Deed) -> Effect<Deed>
        ) async {
            manager = await .deeds(filter: filter, limits: limits, clock: clock, log: log)
            await manager.addReducer(AnyReducer(effectsOf: Deed.self) { _, event in effects(event) })
            let told = Told()
            self.told = told
            await manager.addListener(CountListener { told.note($0.p.words) })
        }

        func say(_ word: String) { manager.dispatch(Deed.say(word)) }

        /// Moves the clock as soon as a task sleeps until a time within the duration.
        func advance(by duration: Duration) async {
            let end = clock.now.advanced(by: duration)
            while clock.deadlines.first.map({ $0 > end }) ?? true { await Task.yield() }
            clock.advance(by: duration)
        }
    }

    /// The words that a listener got, for tests that wait for certain words.
    private final class Told: Sendable {
        private struct Waiter {
            let words: [String]
            let go: CheckedContinuation<Void, Never>
        }

        private let states = Mutex((words: [String](), waiting: [Waiter]()))

        func note(_ words: [String]) {
            let ready = states.withLock { states in
                states.words = words
                let ready = states.waiting.filter { $0.words == words }
                states.waiting.removeAll { $0.words == words }
                return ready
            }
            for waiter in ready { waiter.go.resume() }
        }

        /// Returns as soon as the state has these words.
        func wait(for words: String...) async {
            await withCheckedContinuation { go in
                let isThere = states.withLock { states in
                    if states.words != words { states.waiting.append(Waiter(words: words, go: go)) }
                    return states.words == words
                }
                if isThere { go.resume() }
            }
        }
    }

    @Test func `the next event waits for a reducer's effect, and the effect's events queue behind it`() async {
        let scene = await Scene { event in
            guard event == .say("a") else { return .none }
            return .run(.beforeNextEvent) { dispatch in
                dispatch(.say("b"))
                try await dispatch.clock.sleep(for: .seconds(1))
                dispatch(.say("c"))
            }
        }
        scene.say("a")
        scene.say("next")
        await scene.advance(by: .seconds(1))
        await scene.told.wait(for: "a", "next", "b", "c")
    }

    @Test func `events that a reducer dispatches at once queue behind earlier events, and go to all reducers`() async {
        let scene = await Scene { event in
            event == .say("a") ? .merge(.dispatch([.say("b"), .say("c")]), .dispatch(.add(5))) : .none
        }
        scene.say("a")
        await scene.told.wait(for: "a", "b", "c")
        await scene.manager.debugWaitForEventsProcessed()
        #expect(scene.manager.getState().p.count == 5)
    }

    @Test func `timers of reducers use the manager's clock, and end when they are cancelled`() async {
        let scene = await Scene { event in
            switch event {
            case .say("start"): .every(.seconds(60), id: "clock", .say("tick"))
            case .say("stop"): .cancel(id: "clock")
            default: .none
            }
        }
        scene.say("start")
        await scene.advance(by: .seconds(60))
        await scene.told.wait(for: "start", "tick")
        await scene.advance(by: .seconds(60))
        await scene.told.wait(for: "start", "tick", "tick")
        scene.say("stop")
        await scene.told.wait(for: "start", "tick", "tick", "stop")
        scene.clock.advance(by: .seconds(600))
        scene.say("end")
        await scene.told.wait(for: "start", "tick", "tick", "stop", "end")
    }

    @Test func `a debounced effect of a reducer starts once, after a quiet time`() async {
        let scene = await Scene { event in
            guard case .add = event else { return .none }
            return .dispatch(.say("saved")).debounce(id: "save", for: .seconds(2))
        }
        for _ in 1...3 { await scene.manager.dispatch(Deed.add(1)) }
        await scene.manager.debugWaitForEventsProcessed()
        await scene.advance(by: .seconds(2))
        await scene.told.wait(for: "saved")
        #expect(scene.manager.getState().p.count == 3)
    }

    @Test func `the ids of effects are shared by reducers of different event types`() async {
        struct Quiet: AppEvent {
            var persist: Bool { false }
            var isUIEvent: Bool { false }
        }
        let scene = await Scene { $0 == .say("a") ? .after(.seconds(1), .say("late")).cancellable(id: "x") : .none }
        await scene.manager.addReducer(AnyReducer<DeedState>(effectsOf: Quiet.self) { _, _ in .cancel(id: "x") })
        scene.say("a")
        await scene.manager.dispatch(Quiet())
        await scene.manager.debugWaitForEventsProcessed()
        scene.clock.advance(by: .seconds(2))
        scene.say("end")
        await scene.told.wait(for: "a", "end")
    }

    @Test func `a refused event has no effect`() async {
        let scene = await Scene { _ in .dispatch(.say("never")) }
        await scene.manager.dispatch(Deed.fail)
        await scene.manager.debugWaitForEventsProcessed()
        #expect(scene.manager.getState().p.words.isEmpty)
    }

    @Test func `the filter checks the events of effects, and a timer continues after a refusal`() async {
        let isOpen = Mutex(false)
        let scene = await Scene(filter: { $0 as? Deed != .say("tick") || isOpen.withLock { $0 } }) { event in
            event == .say("start") ? .every(.seconds(1), id: "clock", .say("tick")) : .none
        }
        scene.say("start")
        await scene.advance(by: .seconds(1))
        // The next deadline is set after the tick was refused.
        await scene.advance(by: .seconds(1))
        isOpen.withLock { $0 = true }
        await scene.advance(by: .seconds(1))
        await scene.told.wait(for: "start", "tick")
    }

    @Test func `an effect that takes too long is cancelled, and an effect that fails is logged`() async {
        struct Fault: Error {}
        let scene = await Scene(limits: EngineLimits(effectTimeMax: .seconds(3))) { event in
            switch event {
            case .say("slow"): .run(.beforeNextEvent) { _ in for await _ in AsyncStream(Never.self, { _ in }) {} }
            case .say("bad"): .run(.beforeNextEvent) { _ in throw Fault() }
            default: .none
            }
        }
        scene.say("slow")
        scene.say("bad")
        await scene.advance(by: .seconds(3))
        await scene.told.wait(for: "slow", "bad")
        await scene.manager.debugWaitForEventsProcessed()
        #expect(
            scene.log.entries.map { "\($0.message)" } == [
                "an effect took longer than effectTimeMax (3.0 seconds) and was cancelled, after Deed",
                "an effect failed, after Deed: Fault",
            ]
        )
    }

    @Test func `stopEffects ends the running effects, and no other effect begins`() async {
        let journal = Journal()
        let scene = await Scene { event in
            guard event == .say("a") else { return .none }
            return .run(.beforeNextEvent) { _ in
                for await _ in AsyncStream(Never.self, { _ in }) {}
                journal.note("cancelled: \(Task.isCancelled)")
            }
        }
        scene.say("a")
        scene.say("b")
        while scene.clock.deadlines.isEmpty { await Task.yield() }
        await scene.manager.stopEffects()
        await scene.told.wait(for: "a", "b")
        scene.say("a")
        await scene.told.wait(for: "a", "b", "a")
        while journal.entries.isEmpty { await Task.yield() }
        #expect(journal.entries == ["cancelled: true"])
    }

    @Test func `effects end with their manager, and do not retain it`() async {
        let journal = Journal()
        weak var gone: DeedManager?
        do {
            let scene = await Scene { event in
                guard event == .say("a") else { return .every(.seconds(1), id: 1, .add(1)) }
                return .run { dispatch in
                    for await _ in AsyncStream(Never.self, { _ in }) {}
                    dispatch(.say("late"))
                    journal.note("cancelled: \(Task.isCancelled)")
                }
            }
            scene.say("a")
            scene.say("b")
            await scene.told.wait(for: "a", "b")
            await scene.manager.debugWaitForEventsProcessed()
            gone = scene.manager
        }
        while gone != nil || journal.entries.isEmpty { await Task.yield() }
        #expect(journal.entries == ["cancelled: true"])
    }
}
