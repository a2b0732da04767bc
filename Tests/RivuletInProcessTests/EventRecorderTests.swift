// Checks the recorder before a state manager.

import RivuletEngine
import RivuletInProcess
import Testing

@Suite struct EventRecorderTests {
    @Test func `D-32: a recorder records the events that pass, and replays them at their intervals`() async {
        let clock = ScriptedClock(passing: .seconds(60))
        let recorder = EventRecorder(clock: clock)
        let manager = await DeedManager.deeds(filter: recorder.dispatchFilter)
        recorder.clear()
        for (number, pause) in [(1, 0), (2, 3), (3, 0), (4, 7)] {
            clock.advance(by: .seconds(pause))
            await manager.dispatch(Deed.add(number))
        }
        await manager.debugWaitForEventsProcessed()
        let journal = Journal()
        await recorder.replay { event, isLast in
            journal.note("\(event) \(isLast)")
            await manager.dispatch(event, withoutFilter: true)
        }
        await manager.debugWaitForEventsProcessed()
        #expect(journal.entries == ["add(1) false", "add(2) false", "add(3) false", "add(4) true"])
        #expect(clock.slept == [.seconds(3), .seconds(7)])
        #expect(manager.getState().p.count == 20)
    }

    @Test func `D-32: a recorder refuses events and another replay while it replays`() async {
        let recorder = EventRecorder(clock: ScriptedClock(passing: .seconds(60)))
        let manager = await DeedManager.deeds(filter: recorder.dispatchFilter)
        #expect(recorder.getAndClear().count == 1)
        recorder.record(Deed.add(1))
        let journal = Journal()
        await recorder.replay { event, _ in
            journal.note("\(recorder.isReplaying) \(await manager.dispatch(event))")
            await recorder.replay { _, _ in journal.note("again") }
        }
        #expect(journal.entries == ["true filtered"])
        #expect(!recorder.isReplaying)
        #expect(await manager.dispatch(Deed.add(1)) == .queued)
        #expect(recorder.getAndClear().count == 1)
        #expect(recorder.getAndClear().isEmpty)
    }

    @Test func `a recorder keeps the newest events`() {
        let recorder = EventRecorder(eventsMax: 2, clock: ScriptedClock())
        for number in 1...3 { recorder.record(Deed.add(number)) }
        #expect(recorder.getAndClear().compactMap { $0.event as? Deed } == [.add(2), .add(3)])
    }
}
