// Checks the scheduling of effects: starts, waits, cancellations, and the times of timers.

import RivuletEngine
import RivuletObservation
import Testing

private let tick = EffectMarbles.tick
private let work = Effect<Marble>.run(.beforeNextEvent) { _ in }

private func mark(_ text: String) -> Effect<Marble> { .dispatch(.mark(text)) }

@Suite struct EffectSchedulerTests {
    private var marbles = EffectMarbles()

    // MARK: - Rates

    @Test mutating func `debounce passes the last effect after a quiet time`() {
        let (input, expected) = (
            "a-bc----d---e-f------",
            "------c----d-----f---"
        )
        let output = marbles.play(input) { mark($0).debounce(id: "d", for: tick * 3) }
        #expect(output == expected)
        #expect(marbles.scheduler.isIdle)
    }

    @Test mutating func `debounce cancels a work that has begun`() {
        #expect(marbles.play("a---b---") { _ in work.debounce(id: 1, for: tick * 2) } == "--------")
        #expect(marbles.cancelled.count == 1)
        #expect(marbles.works.count == 1)
    }

    @Test mutating func `throttle passes the first effect, and the latest at the end of the interval`() {
        let (input, expected) = (
            "ab-c---d----ef----",
            "a---c---d---e---f-"
        )
        let output = marbles.play(input) { mark($0).throttle(id: "t", for: tick * 4, latest: true) }
        #expect(output == expected)
    }

    @Test mutating func `throttle without latest passes only the first effect of an interval`() {
        let (input, expected) = (
            "ab-c---d----ef----",
            "a---b---d---e---f-"
        )
        let output = marbles.play(input) { mark($0).throttle(id: "t", for: tick * 4, latest: false) }
        #expect(output == expected)
    }

    @Test mutating func `cancelling a throttle drops the waiting effect, and the interval continues`() {
        let (input, expected) = (
            "abx-c----",
            "a-----c--"
        )
        let output = marbles.play(input) { character in
            character == "x" ? .cancel(id: "t") : mark(character).throttle(id: "t", for: tick * 6, latest: true)
        }
        #expect(output == expected)
    }

    // MARK: - Timers

    @Test mutating func `an event comes after its delay`() {
        #expect(marbles.play("ab---") { .after(tick * 2, .mark($0)) } == "--ab-")
    }

    @Test mutating func `a repeating timer ticks until it is cancelled`() {
        let (input, expected) = (
            "a-----x----",
            "--t-t-t----"
        )
        let output = marbles.play(input) { character in
            character == "x" ? .cancel(id: "clock") : .every(tick * 2, id: "clock", .mark("t"))
        }
        #expect(output == expected)
        #expect(marbles.scheduler.isIdle)
    }

    @Test mutating func `a timer with the same id replaces the earlier timer`() {
        let (input, expected) = (
            "a-b------",
            "-aa--b--b"
        )
        let output = marbles.play(input) { character in
            .every(tick * (character == "a" ? 1 : 3), id: "clock", .mark(character))
        }
        #expect(output == expected)
    }

    @Test mutating func `a timer with .keep starts only if no timer with its id runs`() {
        let (input, expected) = (
            "a-aa--x-a----",
            "--t-t-t---t-t"
        )
        let output = marbles.play(input) { character in
            character == "x" ? .cancel(id: "clock") : .every(tick * 2, id: "clock", ifRunning: .keep, .mark("t"))
        }
        #expect(output == expected)
    }

    @Test mutating func `a kept timer keeps its interval and its event, and a concatenation with .keep ends there`() {
        let (input, expected) = (
            "a-b---c----",
            "--a-a-a---c"
        )
        let output = marbles.play(input) { character in
            switch character {
            case "a": .every(tick * 2, id: "clock", ifRunning: .keep, .mark("a"))
            case "b":
                .concatenate(
                    .every(tick, id: "clock", ifRunning: .keep, .mark("b")),
                    .after(tick, .mark("e"))
                )
            default: .every(tick * 4, id: "clock", .mark("c"))
            }
        }
        #expect(output == expected)
    }

    @Test mutating func `a timer with .keep starts within an effect with its id`() {
        marbles.begin(.every(tick, id: "clock", ifRunning: .keep, .mark("t")).cancellable(id: "clock"))
        #expect(marbles.advance(by: tick) == "t")
    }

    @Test mutating func `a timer with .keep does not start beside a task with its id`() {
        marbles.begin(Effect<Marble>.run { _ in }.cancellable(id: "clock"))
        marbles.begin(.every(tick, id: "clock", ifRunning: .keep, .mark("t")))
        marbles.finish(marbles.works[0])
        #expect(marbles.advance(by: tick * 3).isEmpty)
        marbles.begin(.every(tick, id: "clock", ifRunning: .keep, .mark("t")))
        #expect(marbles.advance(by: tick) == "t")
    }

    @Test mutating func `missed ticks are left out, and later ticks keep the rhythm`() {
        marbles.begin(.every(tick * 2, id: "clock", .mark("t")))
        #expect(marbles.advance(by: tick * 7) == "t")
        #expect(marbles.scheduler.nextDeadline == tick * 8)
    }

    @Test mutating func `a tick is left out while the previous tick waits in the queue`() {
        marbles.takesTicks = false
        marbles.begin(.every(tick, id: "clock", .mark("t")))
        #expect(marbles.advance(by: tick) == "t")
        #expect(marbles.advance(by: tick).isEmpty)
        #expect(marbles.scheduler.nextDeadline == tick * 3)
    }

    @Test mutating func `an interval of zero is the shortest allowed interval`() {
        marbles.begin(.every(.zero, id: "clock", .mark("t")))
        #expect(marbles.scheduler.nextDeadline == EngineLimits().timerIntervalMin)
    }

    @Test mutating func `timers of one moment fire in the order in which they were set`() {
        marbles.begin(.merge(.after(tick, .mark("a")), .after(tick, .mark("b")), .after(.zero, .mark("c"))))
        #expect(marbles.advance(by: tick) == "cab")
    }

    // MARK: - Waiting

    @Test mutating func `the queue waits only for tasks that hold it, not for timers or other tasks`() {
        marbles.begin(.merge(.run { _ in }, .after(tick, .mark("a")), mark("b"), .every(tick, id: 1, .mark("t"))))
        #expect(!marbles.scheduler.isHoldingQueue)
        marbles.begin(work)
        #expect(marbles.scheduler.isHoldingQueue)
        marbles.finish(marbles.works[1])
        #expect(!marbles.scheduler.isHoldingQueue)
        #expect(marbles.works.count == 1)
    }

    @Test mutating func `a task for which no event waits has no time limit, and later effects do not hold the queue`() {
        let free = Effect<Marble>.run { _ in }
        marbles.begin(.concatenate(free, mark("a"), work))
        #expect(!marbles.scheduler.isHoldingQueue)
        #expect(marbles.scheduler.nextDeadline == nil)
        #expect(marbles.finish(marbles.works[0]) == "a")
        #expect(!marbles.scheduler.isHoldingQueue)
        marbles.begin(.concatenate(work, free, mark("b")))
        #expect(marbles.scheduler.isHoldingQueue)
        marbles.finish(marbles.works[1])
        #expect(!marbles.scheduler.isHoldingQueue)
    }

    @Test mutating func `merged tasks run at the same time, and the queue waits for the last`() {
        marbles.begin(.merge(work, work))
        #expect(marbles.works.count == 2)
        marbles.finish(marbles.works[0])
        #expect(marbles.scheduler.isHoldingQueue)
        marbles.finish(marbles.works[0])
        #expect(!marbles.scheduler.isHoldingQueue)
    }

    @Test mutating func `concatenated effects run one after the other`() {
        #expect(marbles.begin(.concatenate(mark("a"), work, mark("b"), work, mark("c"))) == "a")
        #expect(marbles.finish(marbles.works[0]) == "b")
        #expect(marbles.scheduler.isHoldingQueue)
        #expect(marbles.finish(marbles.works[0]) == "c")
        #expect(!marbles.scheduler.isHoldingQueue)
        #expect(marbles.scheduler.isIdle)
    }

    @Test mutating func `concatenated effects continue after the last effect of a merge`() {
        marbles.begin(.concatenate(.merge(work, .after(tick, .none), .after(tick * 2, .mark("a"))), mark("b")))
        #expect(marbles.finish(marbles.works[0]).isEmpty)
        #expect(marbles.advance(by: tick * 2) == "ab")
    }

    @Test(arguments: ["throws", "is cancelled", "takes too long"])
    mutating func `effects after a task that did not finish do not run`(_ how: String) {
        marbles.begin(.concatenate(.merge(work.cancellable(id: 1), .after(tick, .cancel(id: 1))), mark("b")))
        switch how {
        case "throws": #expect(marbles.finish(marbles.works[0], isDone: false).isEmpty)
        case "is cancelled": #expect(marbles.advance(by: tick).isEmpty)
        default: #expect(marbles.advance(by: .seconds(30)).isEmpty)
        }
        #expect(!marbles.scheduler.isHoldingQueue)
        #expect(marbles.advance(by: tick).isEmpty)
        #expect(marbles.scheduler.isIdle)
    }

    @Test mutating func `the queue does not wait for the effects of a timer`() {
        marbles.begin(.after(tick, .concatenate(work, mark("b"))))
        marbles.advance(by: tick)
        #expect(marbles.works.count == 1)
        #expect(!marbles.scheduler.isHoldingQueue)
        #expect(marbles.finish(marbles.works[0]) == "b")
    }

    @Test mutating func `D-15: the effects of a dispatch's events run one after the other`() {
        let effects = [work, .every(tick, id: 1, .mark("t")), .concatenate(work, mark("b"))].enumerated()
        #expect(marbles.begin(effects.map { EventEffect(eventName: "\($0)", effect: $1) }).isEmpty)
        #expect(marbles.works.count == 1)
        #expect(marbles.scheduler.nextDeadline == .seconds(30))
        marbles.finish(marbles.works[0])
        #expect(marbles.works.count == 1)
        #expect(marbles.scheduler.isHoldingQueue)
        #expect(marbles.scheduler.nextDeadline == tick)
        #expect(marbles.finish(marbles.works[0]) == "b")
    }

    // MARK: - Cancelling

    @Test mutating func `cancelling by id ends the tasks, delays and concatenations with that id, and no others`() {
        marbles.begin(
            .merge(
                work.cancellable(id: "a"),
                work.cancellable(id: "b"),
                .after(tick, .mark("x")).cancellable(id: "a"),
                .concatenate(.after(tick, .mark("y")), mark("z")).cancellable(id: "a"),
                .after(tick, .mark("w"))
            ).detached()
        )
        let works = marbles.works
        marbles.begin(.cancel(id: "a"))
        #expect(marbles.cancelled == [works[0]])
        #expect(marbles.works == [works[1]])
        #expect(marbles.advance(by: tick) == "w")
    }

    @Test mutating func `ids of different types are different`() {
        marbles.begin(.merge(work.cancellable(id: 1), work.cancellable(id: "1")).detached())
        marbles.begin(.cancel(id: 1))
        #expect(marbles.works.count == 1)
    }

    @Test mutating func `cancelInFlight ends the effects with its id that run already, and no others`() {
        marbles.begin(work.cancellable(id: 1).detached())
        marbles.begin(work.cancellable(id: 1, cancelInFlight: true).detached())
        #expect(marbles.cancelled.count == 1)
        #expect(marbles.works.count == 1)
        marbles.begin(.merge(work.cancellable(id: 1), work.cancellable(id: 1)).detached())
        #expect(marbles.works.count == 3)
    }

    @Test mutating func `an effect that cancels its own id ends at that point`() {
        let inner = Effect<Marble>.concatenate(mark("a"), .cancel(id: 1), mark("b"), work)
        #expect(marbles.begin(.concatenate(inner.cancellable(id: 1), mark("c"))) == "a")
        #expect(marbles.begin(.merge(work.cancellable(id: 1), .cancel(id: 1), mark("d"))) == "d")
        let again = Effect<Marble>.concatenate(work.cancellable(id: 1, cancelInFlight: true), mark("e"))
        #expect(marbles.begin(again.cancellable(id: 1)).isEmpty)
        #expect(marbles.works.isEmpty)
        #expect(marbles.scheduler.isIdle)
        #expect(!marbles.scheduler.isHoldingQueue)
    }

    @Test mutating func `a throttled effect that cancels its own id ends its concatenation once`() {
        let inner = Effect<Marble>.concatenate(.cancel(id: "t"), mark("x"))
        marbles.begin(mark("a").throttle(id: "t", for: tick, latest: true))
        marbles.begin(.concatenate(inner.throttle(id: "t", for: tick, latest: true), mark("y")))
        #expect(marbles.advance(by: tick).isEmpty)
        #expect(marbles.advance(by: tick).isEmpty)
        #expect(marbles.scheduler.isIdle)
    }

    @Test mutating func `a stop cancels all tasks, and nothing begins afterwards`() {
        marbles.begin(
            .merge(work, .run { _ in }, .every(tick, id: 1, .mark("t")), mark("a").debounce(id: 2, for: tick))
        )
        marbles.begin([EventEffect(eventName: "later", effect: work)])
        marbles.stop()
        #expect(marbles.cancelled.count == 2)
        #expect(marbles.scheduler.isIdle)
        #expect(!marbles.scheduler.isHoldingQueue)
        #expect(marbles.scheduler.nextDeadline == nil)
        #expect(marbles.begin(mark("b")).isEmpty)
        marbles.finish(marbles.cancelled[0])
    }

    // MARK: - Limits

    @Test mutating func `only the task that takes too long is cancelled, and the log names the event and the limit`() {
        marbles.begin(.merge(work, .run { _ in }, .every(.seconds(20), id: 1, .mark("t"))), of: "save")
        let works = marbles.works
        #expect(marbles.advance(by: .seconds(29)) == "t")
        #expect(marbles.scheduler.isHoldingQueue)
        marbles.advance(by: .seconds(1))
        #expect(marbles.cancelled == [works[0]])
        #expect(marbles.faults == ["save: an effect took longer than effectTimeMax (30.0 seconds) and was cancelled"])
        #expect(!marbles.scheduler.isHoldingQueue)
        #expect(marbles.advance(by: .seconds(10)) == "t")
    }

    @Test mutating func `a task that finishes in time is not cancelled later`() {
        marbles.begin(work)
        marbles.finish(marbles.works[0])
        #expect(marbles.scheduler.nextDeadline == nil)
        marbles.advance(by: .seconds(60))
        #expect(marbles.faults.isEmpty)
    }

    @Test mutating func `tasks beyond the limit are not started, and a cancelled task is counted until it returns`() {
        var limits = EngineLimits()
        limits.effectsUnderWayMax = 2
        marbles = EffectMarbles(limits: limits)
        marbles.begin(.merge(work.cancellable(id: 1), work).detached())
        let first = marbles.works[0]
        marbles.begin(.cancel(id: 1))
        marbles.begin(work.detached(), of: "third")
        #expect(marbles.works.count == 1)
        #expect(marbles.faults == ["third: an effect was not started: effectsUnderWayMax (2) others still run"])
        marbles.finish(first)
        marbles.begin(work.detached(), of: "fourth")
        #expect(marbles.works.count == 2)
    }

    @Test mutating func `timers beyond the limit are not started`() {
        var limits = EngineLimits()
        limits.timersMax = 2
        marbles = EffectMarbles(limits: limits)
        marbles.begin(.merge(.after(tick, .mark("a")), .every(tick, id: 1, .mark("b")), .after(tick, .mark("c"))))
        #expect(marbles.faults == ["e: a timer was not started: the session already has timersMax (2)"])
        #expect(marbles.advance(by: tick) == "ab")
        #expect(marbles.begin(mark("d").throttle(id: 1, for: tick, latest: true)) == "d")
        #expect(marbles.begin(mark("f").throttle(id: 2, for: tick, latest: true)).isEmpty)
        #expect(marbles.faults.count == 2)
    }

    @Test mutating func `events dispatched at once are limited per chain, and one log line reports the rest`() {
        var limits = EngineLimits()
        limits.chainedEventsMax = 3
        marbles = EffectMarbles(limits: limits)
        let chain = EffectChain()
        #expect(marbles.begin(.dispatch([.mark("a"), .mark("b")]), chain: chain) == "ab")
        #expect(marbles.begin(.dispatch([.mark("c"), .mark("d"), .mark("e")]), of: "ping", chain: chain) == "c")
        #expect(marbles.begin(mark("f"), chain: chain).isEmpty)
        #expect(
            marbles.faults == [
                "ping: one event caused more than chainedEventsMax (3) events by .dispatch alone; the rest is dropped"
            ]
        )
        #expect(marbles.begin(.after(tick, .mark("g")), chain: chain).isEmpty)
        #expect(marbles.advance(by: tick) == "g")
    }
}
