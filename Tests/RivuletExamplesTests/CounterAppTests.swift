// Tests of the example app `counter`, event by event.

import Rivulet
import RivuletTesting
import Testing

@testable import RivuletExamples

@Suite
struct CounterAppTests {
    @Test
    func `an increment adds the step, and the history keeps the count`() async {
        let store = TestStore(CounterApp())
        await store.send(.setStep(3)) {
            $0.p.step = 3
            $0.t.lastEvent = "setStep"
        }
        await store.send(.increment) {
            $0.p.count = 3
            $0.p.history = [3]
            $0.t.lastEvent = "increment"
        }
        await store.send(.decrement) {
            $0.p.count = 0
            $0.p.history = [3, 0]
            $0.t.lastEvent = "decrement"
        }
        await store.finish()
    }

    @Test
    func `a count out of its range is set to the bound, and stays there`() async {
        let store = TestStore(CounterApp())
        await store.send(.setCount(-5)) { $0.t.lastEvent = "setCount" }
        await store.send(.setStep(99)) {
            $0.p.step = 10
            $0.t.lastEvent = "setStep"
        }
        await store.finish()
    }

    @Test
    func `the last ten counts are kept`() async {
        let store = TestStore(CounterApp())
        store.exhaustivity = .off
        for count in 1...12 { await store.send(.setCount(count)) }
        #expect(store.state.p.history == Array(3...12))
    }

    @Test
    func `a count that rises to the limit warns, and a dismissed warning does not return above the limit`() async {
        let store = TestStore(CounterApp())
        await store.send(.setLimits(warnAt: 10, label: "high")) {
            $0.p.limits.warnAt = 10
            $0.p.limits.label = "high"
            $0.t.lastEvent = "setLimits"
        }
        await store.send(.setCount(10)) {
            $0.p.count = 10
            $0.p.history = [10]
            $0.t.lastEvent = "setCount"
            $0.t.warning = Warning(text: "10 is high")
        }
        await store.send(.dismissWarning) {
            $0.t.warning = nil
            $0.t.lastEvent = "dismissWarning"
        }
        await store.send(.increment) {
            $0.p.count = 11
            $0.p.history = [10, 11]
            $0.t.lastEvent = "increment"
        }
        await store.finish()
    }

    @Test
    func `a counter at its limit renames itself`() async {
        let store = TestStore(CounterApp())
        store.exhaustivity = .off
        await store.send(.setCount(99))
        store.exhaustivity = .on
        await store.send(.increment) {
            $0.p.count = 100
            $0.p.history = [99, 100]
            $0.t.lastEvent = "increment"
        }
        await store.receive(.rename("Full")) {
            $0.p.title = "Full"
            $0.t.lastEvent = "rename"
        }
        await store.finish()
    }

    @Test
    func `an empty title is refused`() async {
        let store = TestStore(CounterApp())
        await store.send(.rename(""), expectRejection: "title must not be empty")
        await store.finish()
    }

    @Test
    func `a reset brings the default back, and noop changes nothing`() async {
        let store = TestStore(CounterApp())
        await store.send(.rename("Mine")) {
            $0.p.title = "Mine"
            $0.t.lastEvent = "rename"
        }
        await store.send(.noop)
        await store.send(.reset) {
            $0.p.title = "Counter"
            $0.t.lastEvent = "reset"
        }
        await store.finish()
    }

    @Test
    func `a touch is the only event that is not stored`() {
        #expect(!CounterEvent.touch.persist)
        #expect(CounterEvent.increment.persist && CounterEvent.noop.persist)
    }
}
