// Checks that a test store accepts the asserted changes, and fails a test on all others, with helpful messages.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletTesting
import Synchronization
import Testing

@ObservableState
struct Basket: PersistentState {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...100) @ObservationStateIgnored
    var count: Int = 0
    @ObservableStateWrapper(OmitCoding<String?>.self) @ObservationStateIgnored
    var note: String?
    var size = Size()
    var fruits: Keyed<Fruit> = []
    var weight = 0.5
}

@ObservableState
struct Size: Equatable, Sendable {
    var width = 1
    var height = 2
}

@ObservableState
struct Fruit: Equatable, Sendable, Identifiable {
    var id = ""
    var isRipe = false
}

@AppEvent
enum BasketEvent {
    case add(Int)
    case weigh(Double)
    case note(String)
    case resize(width: Int, height: Int)
    case put(String)
    case ripen(String)
    case fail
    case nothing
    case chain(Int)
    case restless
    case slow
    case fetch
    case elsewhere
    case broken
    case refusedLater

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct BasketApp: AppDefinition {
    typealias State = AppState<Basket, EmptyTransient>
    private struct Broken: Error {}

    let name = "basket"
    let defaultState = State(t: EmptyTransient(), p: Basket())

    func reduce(into state: inout State, event: BasketEvent) throws {
        switch event {
        case .add(let amount):
            guard amount != 0 else { throw RejectionError("zero") }
            state.p.count += amount
        case .weigh(let weight): state.p.weight = weight
        case .note(let note): state.p.note = note
        case .resize(let width, let height):
            state.p.size.width = width
            state.p.size.height = height
        case .put(let id):
            var fruit = Fruit()
            fruit.id = id
            state.p.fruits.append(fruit)
        case .ripen(let id): state.p.fruits[id: id]?.isRipe = true
        case .fail: throw Broken()
        case .chain(let count): state.p.count = count
        case .nothing, .restless, .slow, .fetch, .elsewhere, .broken, .refusedLater: break
        }
    }

    func effect(of event: BasketEvent, state: State) -> Effect<BasketEvent> {
        switch event {
        case .chain(let count) where count > 0: .dispatch(.chain(count - 1))
        case .restless: .run { dispatch in dispatch(.restless) }
        case .slow:
            .run(.beforeNextEvent) { dispatch in
                try await dispatch.clock.sleep(for: .seconds(2))
                dispatch(.add(1))
            }
        case .fetch:
            .run { dispatch in
                try await dispatch.clock.sleep(for: .seconds(2))
                dispatch(.add(1))
            }
        case .elsewhere:
            .run { dispatch in
                await Task.detached { await Task.yield() }.value
                dispatch(.add(1))
            }
        case .broken: .run { _ in throw Broken() }
        case .refusedLater: .dispatch(.add(0))
        default: .none
        }
    }

    func effect(whenLoaded state: State) -> Effect<BasketEvent> { .dispatch(.add(7)) }
}

@Suite struct TestStoreTests {
    private func makeStore() -> TestStore<BasketApp> { TestStore(BasketApp()) }

    /// Returns the messages of the issues that a closure records.
    private func issues(_ body: () async -> Void) async -> [String] {
        let texts = Mutex<[String]>([])
        await withKnownIssue {
            await body()
        } matching: { issue in
            texts.withLock { $0.append(issue.comments.map(\.rawValue).joined()) }
            return true
        }
        return texts.withLock { $0 }
    }

    // MARK: - Sending

    @Test func `asserted changes pass, also changes by wrappers and of elements`() async {
        let store = makeStore()
        await store.send(.add(5)) { $0.p.count = 5 }
        await store.send(.add(500)) { $0.p.count = 100 }
        await store.send(atomically: [.put("a"), .ripen("a")]) { state in
            var fruit = Fruit()
            fruit.id = "a"
            fruit.isRipe = true
            state.p.fruits.append(fruit)
        }
        await store.send(.nothing)
        #expect(store.state.p.count == 100)
        await store.finish()
    }

    @Test func `a wrong change is named by its key path`() async {
        let texts = await issues {
            let store = makeStore()
            await store.send(.resize(width: 7, height: 9)) { $0.p.size.width = 8 }
        }
        #expect(
            texts == [
                """
                the state after {"resize":{"width":7,"height":9}} is not the expected one
                  /p/size/width: expected 8, was 7
                  /p/size/height: expected 2, was 9
                """
            ]
        )
    }

    @Test func `elements that were added, removed and changed are named`() async {
        let texts = await issues {
            let store = makeStore()
            await store.send(.put("a"))
            await store.send(.ripen("a")) { $0.p.fruits.remove(id: "a") }
            await store.send(.nothing) { $0.p.fruits[id: "a"]?.isRipe = false }
        }
        #expect(
            texts.map { $0.split(separator: "\n").dropFirst().joined(separator: "\n") } == [
                #"  /p/fruits/a: expected no element, was {"id":"a","isRipe":false}"#,
                #"  /p/fruits/a: expected no element, was {"id":"a","isRipe":true}"#,
                "  /p/fruits/a/isRipe: expected false, was true",
            ]
        )
    }

    @Test func `a change without an assertion and an assertion without a change fail`() async {
        let texts = await issues {
            let store = makeStore()
            await store.send(.add(1))
            await store.send(.note("x"))
            await store.send(.nothing) { _ in }
        }
        #expect(
            texts == [
                "the state after {\"add\":1} is not the expected one\n  /p/count: expected 0, was 1",
                """
                the state after {"note":"x"} is not the expected one
                  /p/note: expected nil, was Optional("x")
                """,
                "\"nothing\" changed nothing; leave the closure out",
            ]
        )
    }

    @Test func `rejections are asserted by their message, and change nothing`() async {
        let store = makeStore()
        await store.send(.add(0), expectRejection: "zero")
        let texts = await issues {
            await store.send(.add(0), expectRejection: "null")
            await store.send(.add(0))
            await store.send(.nothing, expectRejection: "zero")
            await store.send(.fail)
            await store.send(.weigh(.nan))
        }
        #expect(texts.count == 6)
        #expect(texts.first == "{\"add\":0} was rejected with another message: expected \"null\", was \"zero\"")
        #expect(texts.dropFirst().first == "{\"add\":0} was rejected: zero")
        #expect(texts.contains("\"nothing\" was accepted; expected the rejection \"zero\""))
        #expect(texts.contains("a reducer failed at fail: Broken()"))
        #expect(texts.last?.hasSuffix("was rejected: the state would have a number that JSON cannot carry") == true)
        #expect(store.state == BasketApp().defaultState)
    }

    // MARK: - Receiving

    @Test func `events of effects are received in order, each with its change`() async {
        let store = makeStore()
        await store.send(.chain(2)) { $0.p.count = 2 }
        #expect(store.state.p.count == 2)
        await store.receive(.chain(1)) { $0.p.count = 1 }
        await store.receive(.chain(0)) { $0.p.count = 0 }
        await store.finish()
    }

    @Test func `a sleeping effect dispatches at its deadline, and the queue waits until then`() async {
        let store = makeStore()
        await store.send(.slow)
        let texts = await issues { await store.send(.nothing) }
        #expect(
            texts == [
                "\"nothing\" was not sent: the session still waits for an effect (of slow)"
            ]
        )
        await store.advance(by: .milliseconds(1_999))
        #expect(store.state.p.count == 0)
        await store.receive(.add(1), within: .milliseconds(1)) { $0.p.count = 1 }
        #expect(store.clock.now.offset == .seconds(2))
        await store.finish()
    }

    @Test func `a store sends events while an effect that does not hold the queue sleeps`() async {
        let store = makeStore()
        await store.send(.fetch)
        await store.send(.add(5)) { $0.p.count = 5 }
        await store.advance(by: .milliseconds(1_999))
        await store.send(.nothing)
        await store.receive(.add(1), within: .milliseconds(1)) { $0.p.count = 6 }
        await store.finish()
    }

    @Test func `a store waits for an effect that works on other threads`() async {
        let store = makeStore()
        // The work needs a thread of the pool. All other tests of the run may be queued before it.
        store.patience = .seconds(600)
        await store.send(.elsewhere)
        await store.receive(where: { if case .add = $0 { true } else { false } }) { $0.p.count = 1 }
        await store.finish()
    }

    @Test func `a rejection of an effect's event is asserted like one of a client's`() async {
        let store = makeStore()
        await store.send(.refusedLater)
        await store.receive(.add(0), expectRejection: "zero")
        await store.send(.refusedLater)
        #expect(
            await issues { await store.receive(.add(0)) } == [
                "{\"add\":0}, which an effect dispatched, was rejected: zero"
            ]
        )
    }

    @Test func `load begins the effects of a session that comes into memory`() async {
        let store = makeStore()
        await store.load()
        await store.receive(.add(7)) { $0.p.count = 7 }
        await store.finish()
    }

    @Test func `an unexpected event, a missing event and a wrong change fail`() async {
        let texts = await issues {
            let store = makeStore()
            await store.receive(.nothing)
            await store.send(.chain(2)) { $0.p.count = 2 }
            await store.receive(.chain(9))
            await store.receive(.chain(0)) { $0.p.count = 5 }
        }
        #expect(
            texts == [
                "\"nothing\" was not received: no effect has dispatched anything",
                "{\"chain\":9} was expected, {\"chain\":1} was received",
                "the state after {\"chain\":0} is not the expected one\n  /p/count: expected 5, was 0",
            ]
        )
    }

    @Test func `events must be received before others are sent, or skipped`() async {
        let store = makeStore()
        await store.send(.chain(1)) { $0.p.count = 1 }
        let texts = await issues { await store.send(.nothing) }
        #expect(texts == ["before \"nothing\" is sent, receive the events of effects: {\"chain\":0}"])
        await store.send(.chain(1)) { $0.p.count = 1 }
        store.skipReceivedEvents()
        #expect(store.state.p.count == 0)
        await store.finish()
    }

    // MARK: - The end

    @Test func `the end fails on events that were not received and on effects under way`() async {
        let texts = await issues {
            let store = makeStore()
            store.patience = .zero
            await store.send(.chain(1)) { $0.p.count = 1 }
            await store.finish()
            await store.send(.slow)
            await store.finish(within: .milliseconds(1_999))
        }
        #expect(
            texts == [
                "events of effects were not received: {\"chain\":0}",
                "effects of these events still run: slow; cancel them, advance the clock or call skipEffects()",
            ]
        )
    }

    @Test func `a store that is freed without finish reports the same`() async {
        func leave() async {
            let store = makeStore()
            await store.send(.chain(1)) { $0.p.count = 1 }
        }
        #expect(await issues { await leave() } == ["events of effects were not received: {\"chain\":0}"])
    }

    @Test func `an effect that fails is reported, and so is an effect that never ends`() async {
        let texts = await issues {
            let store = makeStore()
            await store.send(.broken)
            await store.send(.restless)
            store.skipReceivedEvents()
        }
        #expect(
            texts == [
                "the effect of broken: an effect failed: Broken()",
                "effects have dispatched 10000 events that were not received; all effects are ended",
            ]
        )
    }

    @Test func `without exhaustivity only the assertions are checked`() async {
        let store = makeStore()
        store.exhaustivity = .off
        await store.send(.resize(width: 7, height: 9)) { $0.p.size.width = 7 }
        await store.send(.chain(3))
        await store.receive(.chain(1)) { $0.p.count = 1 }
        await store.send(.slow)
        let texts = await issues {
            store.skipEffects()
            await store.send(.add(2)) { $0.p.count = 9 }
            await store.receive(.nothing)
        }
        #expect(
            texts == [
                "the state after {\"add\":2} is not the expected one\n  /p/count: expected 9, was 2",
                "\"nothing\" was not received: no effect has dispatched anything",
            ]
        )
    }

    @Test @MainActor func `a store may be used on an actor`() async {
        let store = TestStore(BasketApp())
        await store.send(.add(1)) { $0.p.count = 1 }
        await store.finish()
    }
}
