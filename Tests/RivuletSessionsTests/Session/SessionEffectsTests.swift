// Checks the effects of a session: their order relative to its events, their duration, and their end with the session.

import CounterFixture
import RivuletEngine
import RivuletObservation
import RivuletSessions
import RivuletTestClock
import Testing

@Suite struct SessionEffectsTests {
    // MARK: - Order

    @Test func `D-14, D-16: the next event waits for a work, and the work's events queue behind that event`() throws {
        let harness = try EffectHarness { event, _ in
            guard event == .mark(1) else { return .none }
            return .run(.beforeNextEvent) { dispatch in
                dispatch(.mark(2))
                try await dispatch.clock.sleep(for: .seconds(1))
                dispatch(.mark(3))
            }
        }
        harness.send(#"{"mark":1}"#)
        let next = harness.send(#"{"mark":9}"#)
        #expect(try harness.marks == "[1]")
        #expect(next.result == nil)
        harness.advance(by: .seconds(1))
        #expect(try harness.marks == "[1,2,9,3]")
    }

    @Test func `no event waits for a plain run`() throws {
        let harness = try EffectHarness { event, _ in
            guard event == .mark(1) else { return .none }
            return .run { dispatch in
                try await dispatch.clock.sleep(for: .seconds(100))
                dispatch(.mark(2))
            }
        }
        harness.send(#"[{"mark":1},{"mark":8}]"#)
        harness.send(#"{"mark":9}"#)
        #expect(try harness.marks == "[1,8,9]")
        harness.advance(by: .seconds(100))
        #expect(try harness.marks == "[1,8,9,2]")
        #expect(harness.errors.isEmpty)
    }

    @Test func `D-15: effects begin when their change is durable, and never begin if it could not be stored`() throws {
        let harness = try EffectHarness { event, state in
            event == .nothing ? .none : .merge(.run(.beforeNextEvent) { $0(.nothing) }, .dispatch(.quietAdd(1)))
        }
        harness.send(#""nothing""#)
        harness.storage.hold()
        let first = harness.send(#"{"mark":1}"#)
        #expect(try harness.value("/p/count") == "0")
        harness.storage.failNext(.unavailable(detail: "no disk"))
        harness.storage.release()
        harness.settle()
        guard case .failure(.storage) = first.result else {
            Issue.record("the dispatch did not fail: \(String(describing: first.result))")
            return
        }
        #expect(try harness.value("/p/count") == "0")
        // The queue does not wait for effects that never begin.
        guard case .success = harness.send(#""nothing""#).result else {
            Issue.record("the queue stands still")
            return
        }
    }

    @Test func `effects of a batch that is rejected never run`() throws {
        let harness = try EffectHarness { event, _ in event == .mark(1) ? .dispatch(.mark(2)) : .none }
        guard case .failure(.rejectedInArray) = harness.send(#"[{"mark":1},{"rename":""}]"#).result else {
            Issue.record("the batch was not rejected")
            return
        }
        #expect(try harness.marks == "[]")
    }

    // MARK: - Timers

    @Test func `a debounced effect runs once, after a pause in the events`() throws {
        let harness = try EffectHarness { event, state in
            guard case .quietAdd = event else { return .none }
            return .dispatch(.mark(state.p.count)).debounce(id: "save", for: .seconds(2))
        }
        for _ in 1...3 {
            harness.send(#"{"quietAdd":1}"#)
            harness.advance(by: .seconds(1))
        }
        #expect(try harness.marks == "[]")
        harness.advance(by: .seconds(1))
        #expect(try harness.marks == "[3]")
    }

    @Test func `a timer keeps its session in memory until it is cancelled`() throws {
        let harness = try EffectHarness { event, _ in
            switch event {
            case .add: .every(.seconds(60), id: "clock", .mark(1))
            case .nothing: .cancel(id: "clock")
            default: .none
            }
        }
        harness.send(#"{"add":1}"#)
        harness.advance(by: .seconds(600))
        harness.shard.evict()
        #expect(harness.shard.residentCount == 1)
        #expect(try harness.marks == "[1,1,1,1,1,1,1,1,1,1]")
        harness.send(#""nothing""#)
        harness.advance(by: .seconds(600))
        harness.shard.evict()
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `ticks do not accumulate behind a work that the queue waits for`() throws {
        let harness = try EffectHarness { event, _ in
            switch event {
            case .add: .every(.seconds(1), id: "clock", .mark(1))
            case .nothing: .run(.beforeNextEvent) { try await $0.clock.sleep(for: .milliseconds(5_500)) }
            default: .none
            }
        }
        harness.send(#"{"add":1}"#)
        harness.send(#""nothing""#)
        harness.advance(by: .milliseconds(5_500))
        #expect(try harness.marks == "[1]")
        harness.advance(by: .milliseconds(500))
        #expect(try harness.marks == "[1,1]")
    }

    @Test func `an alarm that was set for a later time still fires in time for an earlier timer`() throws {
        let harness = try EffectHarness { event, _ in
            guard case .add(let seconds) = event else { return .none }
            return .after(.seconds(seconds), .mark(seconds))
        }
        harness.send(#"[{"add":10},{"add":2},{"add":5}]"#)
        harness.advance(by: .seconds(5))
        #expect(try harness.marks == "[2,5]")
        harness.advance(by: .seconds(5))
        #expect(try harness.marks == "[2,5,10]")
        #expect(harness.clock.deadlines.isEmpty)
    }

    // MARK: - Faults

    private struct Broken: Error {}

    @Test func `an error of a work is logged with the session and the event, unless it is handled or a cancellation`()
        throws
    {
        let harness = try EffectHarness { event, _ in
            switch event {
            case .mark(1): .run(.beforeNextEvent) { _ in throw Broken() }
            case .mark(2):
                .run(.beforeNextEvent) { _ in
                    throw Broken()
                } catch: { _, dispatch in
                    dispatch(.mark(20))
                }
            case .mark(3): .run(.beforeNextEvent) { _ in throw CancellationError() }
            default: .none
            }
        }
        for mark in 1...3 { harness.send(#"{"mark":\#(mark)}"#) }
        #expect(try harness.marks == "[1,2,20,3]")
        #expect(harness.errors == ["an effect failed [scripted, mark, Broken]"])
    }

    @Test func `a work that takes too long is cancelled, the queue continues, and its later events are dropped`()
        throws
    {
        let harness = try EffectHarness { event, _ in
            guard event == .mark(1) else { return .none }
            return .run(.beforeNextEvent) { dispatch in
                do { try await dispatch.clock.sleep(for: .seconds(60)) } catch { dispatch(.mark(2)) }
            }
        }
        harness.send(#"{"mark":1}"#)
        harness.send(#"{"mark":9}"#)
        harness.advance(by: .milliseconds(29_999))
        #expect(try harness.marks == "[1]")
        harness.advance(by: .milliseconds(1))
        #expect(try harness.marks == "[1,9]")
        let line = "an effect took longer than effectTimeMax (30.0 seconds) and was cancelled [scripted, mark]"
        #expect(harness.errors == [line])
    }

    @Test func `an endless chain of effects is cut with one log line`() throws {
        var limits = EngineLimits()
        limits.chainedEventsMax = 5
        let app = ScriptedApp(effects: { event, _ in event == .nothing ? .none : .dispatch([event, event]) })
        let harness = try EffectHarness(app, limits: limits)
        harness.send(#"{"mark":1}"#)
        #expect(try harness.marks == "[1,1,1,1,1,1]")
        #expect(harness.errors.count == 1)
        #expect(harness.errors.first?.contains("chainedEventsMax (5)") == true)
        // Another event from outside has its own count.
        harness.send(#"{"mark":2}"#)
        #expect(try harness.marks == "[1,1,1,1,1,1,2,2,2,2,2,2]")
    }

    @Test func `an event for which the queue has no room is dropped and logged`() throws {
        var limits = EngineLimits()
        limits.queuedDispatchesMax = 2
        let app = ScriptedApp(effects: { event, _ in
            event == .mark(1) ? .dispatch([.mark(2), .mark(3), .mark(4)]) : .none
        })
        let harness = try EffectHarness(app, limits: limits)
        harness.send(#"{"mark":1}"#)
        #expect(try harness.marks == "[1,2,3]")
        let line = "an effect's event was dropped: queuedDispatchesMax (2) already wait [scripted, mark]"
        #expect(harness.errors == [line])
    }

    @Test func `a work that dispatches faster than its session reduces does not fill the loop's mailbox`() throws {
        var limits = EngineLimits()
        limits.queuedDispatchesMax = 3
        let app = ScriptedApp(effects: { event, _ in
            guard event == .mark(1) else { return .none }
            return .run { dispatch in
                for mark in 2...100 { dispatch(.mark(mark)) }
                try await dispatch.clock.sleep(for: .seconds(1))
                dispatch(.mark(101))
            }
        })
        let harness = try EffectHarness(app, limits: limits)
        harness.send(#"{"mark":1}"#)
        #expect(try harness.marks == "[1,2,3,4]")
        let line = "an effect's event was dropped: queuedDispatchesMax (3) already wait [scripted, mark]"
        #expect(harness.errors == [line])
        harness.advance(by: .seconds(1))
        #expect(try harness.marks == "[1,2,3,4,101]")
    }

    @Test func `the error of a failing reducer is logged, but is not in the answer, and nothing changes`() throws {
        let harness = try EffectHarness(ScriptedApp())
        harness.send(#"{"mark":1}"#)
        let answer = harness.send(#"[{"mark":2},{"retitle":{"id":"fault","title":"half"}}]"#)
        guard case .failure(.reducerFailed(eventName: "retitle")) = answer.result else {
            Issue.record("the dispatch did not fail: \(String(describing: answer.result))")
            return
        }
        #expect(try harness.marks == "[1]")
        #expect(try harness.value("/p/title") == #""Tally""#)
        #expect(harness.errors == ["a reducer failed; nothing has changed [scripted, retitle, Fault]"])
    }

    // MARK: - Leaving

    /// The ways in which a session can end.
    enum Leaving: CaseIterable {
        case deletion, doubt, drain
    }

    @Test(arguments: Leaving.allCases)
    func `effects end with their session, and their later events are dropped with one log line`(
        _ leaving: Leaving
    ) throws {
        let harness = try EffectHarness { event, _ in
            guard event == .mark(1) else { return .none }
            let stubborn = Effect<TallyEvent>.run { dispatch in
                do { try await dispatch.clock.sleep(for: .seconds(60)) } catch {
                    dispatch(.mark(2))
                    dispatch(.mark(3))
                }
            }
            return .merge(stubborn, stubborn, .every(.seconds(1), id: "clock", .mark(4)))
        }
        harness.send(#"{"mark":1}"#)
        #expect(harness.clock.deadlines.count == 3)
        switch leaving {
        case .deletion:
            harness.shard.resident(harness.key)?.delete { _ in }
        case .doubt:
            harness.storage.failNext(.indeterminate(detail: "lost"))
            harness.send(#"{"mark":9}"#)
        case .drain:
            harness.shard.drain()
        }
        harness.settle()
        #expect(harness.clock.deadlines.isEmpty)
        #expect(harness.shard.isQuiet)
        let late = harness.errors.filter { $0.contains("has left memory or is leaving") }
        #expect(
            late == ["an effect's event was dropped: its session has left memory or is leaving [scripted, mark]"]
        )
    }

    @Test
    func `a drain cancels the work that the queue waits for, and reduces accepted events without their effects`()
        throws
    {
        let harness = try EffectHarness { _, _ in
            .run(.beforeNextEvent) { try await $0.clock.sleep(for: .seconds(20)) }
        }
        harness.send(#"{"mark":1}"#)
        let waiting = harness.send(#"{"mark":2}"#)
        #expect(waiting.result == nil)
        harness.shard.drain()
        harness.settle()
        guard case .success(let answer) = waiting.result else {
            Issue.record("an accepted event was not reduced")
            return
        }
        #expect(answer.version == 2)
        #expect(harness.shard.isQuiet)
    }

    // MARK: - Coming into memory

    @Test func `D-11: the effect of loading begins when a session is created and each time that it is loaded`()
        throws
    {
        var app = ScriptedApp()
        app.loaded = { state in .after(.seconds(1), .mark(state.p.marks.count + 10)) }
        let harness = try EffectHarness(app)
        #expect(try harness.marks == "[]")
        harness.advance(by: .seconds(10))
        #expect(try harness.marks == "[]")
        #expect(harness.shard.residentCount == 0)
        harness.send(#"{"mark":1}"#)
        harness.advance(by: .seconds(1))
        #expect(try harness.marks == "[1,10]")
        harness.restart()
        #expect(try harness.marks == "[1,10]")
        harness.advance(by: .seconds(1))
        #expect(try harness.marks == "[1,10,12]")
    }

    @Test func `the first event of a loaded session waits for the work of the effect of loading`() throws {
        var app = ScriptedApp()
        app.loaded = { state in
            guard !state.p.marks.isEmpty else { return .none }
            return .run(.beforeNextEvent) { dispatch in
                try await dispatch.clock.sleep(for: .seconds(1))
                dispatch(.mark(5))
            }
        }
        let harness = try EffectHarness(app)
        harness.send(#"{"mark":1}"#)
        harness.restart()
        let waiting = harness.send(#"{"mark":2}"#)
        #expect(waiting.result == nil)
        harness.advance(by: .seconds(1))
        #expect(try harness.marks == "[1,2,5]")
    }

    // MARK: - Refusals and the end

    @Test func `repeated failures of effects' events are one log line a second, which counts the others`() throws {
        let harness = try EffectHarness { event, _ in
            event == .mark(1) ? .dispatch(Array(repeating: .rename(""), count: 4)) : .none
        }
        for _ in 1...2 { harness.send(#"{"mark":1}"#) }
        #expect(harness.errors.count == 1)
        #expect(harness.errors.first?.contains("leftOut") == false)
        harness.advance(by: .seconds(1))
        harness.send(#"{"mark":1}"#)
        #expect(harness.errors.count == 2)
        #expect(harness.errors.last?.contains("leftOut 7") == true)
    }

    @Test func `no effect begins after effects were stopped, and the queue continues`() throws {
        let harness = try EffectHarness { event, _ in
            event == .mark(1) ? .run(.beforeNextEvent) { $0(.mark(2)) } : .none
        }
        harness.send(#""nothing""#)
        harness.storage.hold()
        let boxes = [harness.send(#"{"mark":1}"#), harness.send(#"{"mark":3}"#)]
        harness.shard.drain()
        harness.storage.release()
        harness.settle()
        for box in boxes {
            guard case .success = box.result else {
                Issue.record("not done: \(String(describing: box.result))")
                return
            }
        }
        #expect(harness.shard.isQuiet)
        #expect(harness.errors.isEmpty)
    }
}
