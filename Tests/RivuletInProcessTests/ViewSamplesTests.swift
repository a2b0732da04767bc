// Owns the samples of Documentation/Views.md, compiled and run. They are the samples of the WAVE document in their
// server form.

import RivuletEngine
import RivuletInProcess
import RivuletObservation
import Synchronization
import Testing

// DocumentationTests checks that this file has every sample of that page, line by line.

final class Counter: ObservableObject {
    @Published var count: Int = 0
    @Published var name: String = "Counter"

    init() {
        setupPublished()
    }

    func increment() {
        count += 1
    }
}

extension WaveApp {
    @StateForwarder(
        for: MyStateObject.self,
        mapping: [
            (\AppState.p.counter, \MyStateObject.counter),
            (\AppState.p.mode, \MyStateObject.mode),
        ]
    )
    final class MyForwarder: StateListener {}
}

enum MyEvent: AppEvent {
    case incrementCounter
    case setCounter(Int)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct MyView {
    @StateObject var stateObject: MyStateObject
    let appDispatch: AppDispatch

    init(stateObject: MyStateObject, appDispatch: @escaping AppDispatch) {
        self._stateObject = StateObject(wrappedValue: stateObject)
        self.appDispatch = appDispatch
    }

    var body: String { "Counter: \(stateObject.counter)" }

    func increment() {
        appDispatch(MyEvent.incrementCounter)
    }
}

struct MySliderView {
    @ObservedObject var stateObject: MyStateObject
    let appDispatch: AppDispatch

    var sliderBinding: Binding<Float> {
        makeBinding(
            get: { Float(stateObject.counter) },
            send: { appDispatch(MyEvent.setCounter(Int($0))) }
        )
    }
}

extension MySliderView {
    func onUpdate(_ action: @escaping @Sendable () -> Void) {
        _stateObject.onUpdate(action)
    }
}

@StateForwarder(
    for: LimitView.self,
    from: MyPersistent.self,
    mapping: [
        (\MyPersistent.isNearLimit, \LimitView.isNearLimit),
        (\MyPersistent.counter, \LimitView.count),
    ]
)
struct LimitViewForwarder {}

/// The names that a forwarder needs may be declared around it.
enum ManagedForwarder {
    typealias AppState = WaveApp.AppState
    typealias AppStateHolder = WaveApp.AppStateHolder
    typealias AppUIStateManager = UIStateManager<MyPersistent, EmptyTransient>

    @StateForwarder(for: MyStateObject.self, mapping: [(\AppState.p.counter, \MyStateObject.counter)])
    final class Forwarder: StateListener {}
}

@Suite struct ViewSamplesTests {
    private typealias AppState = WaveApp.AppState
    private typealias AppUIStateManager = WaveApp.AppUIStateManager
    private typealias MyForwarder = WaveApp.MyForwarder

    private let manager = AppUIStateManager(AppState(t: EmptyTransient(), p: MyPersistent()))

    /// A registry as the WAVE document's app creates it at its start.
    private func start() -> ViewRegistry {
        let stateManager = manager
        let registry = ViewRegistry(appDispatch: { event in stateManager.dispatch(event) })
        registry.register { MyForwarder(stateManager: stateManager).getStateObject() }
        return registry
    }

    @Test func `D-28, D-29: a view shows the state and sends events, and its binding sends only a new value`() throws {
        let registry = start()
        let stateObject: MyStateObject = try #require(registry.makeStateObject())
        let view = MyView(stateObject: stateObject, appDispatch: registry.appDispatch)
        view.increment()
        #expect(view.body == "Counter: 1")
        let slider = MySliderView(stateObject: stateObject, appDispatch: registry.appDispatch)
        let updates = CallCount()
        slider.onUpdate { updates.add() }
        slider.sliderBinding.wrappedValue = 7
        #expect(slider.sliderBinding.wrappedValue == 7 && view.body == "Counter: 7")
        slider.sliderBinding.wrappedValue = 7
        #expect(updates.count == 1)
    }

    @Test func `D-24, D-26: a forwarder follows a state manager until its object is freed`() async {
        typealias Manager = UIStateManager<MyPersistent, EmptyTransient>
        let manager = await Manager(
            defaultState: { AppState(t: EmptyTransient(), p: MyPersistent()) },
            storage: MemoryStateStorage()
        )
        await manager.addReducer(
            AnyReducer<AppState>(MyEvent.self) { state, event in
                if case .setCounter(let value) = event { state.p.counter = value }
            }
        )
        let forwarder = ManagedForwarder.Forwarder(stateManager: manager)
        var object: MyStateObject? = forwarder.getStateObject()
        await manager.dispatch(MyEvent.setCounter(5))
        await manager.debugWaitForEventsProcessed()
        #expect(object?.counter == 5)
        object = nil
        #expect(forwarder.zombie)
        await manager.dispatch(MyEvent.setCounter(6))
        await manager.debugWaitForEventsProcessed()
        #expect(forwarder.receiver == nil)
    }

    @Test func `C-08: an object of the sample notifies when a field changes`() {
        let counter = Counter()
        let tally = CallCount()
        counter.objectWillChange.subscribe { tally.add() }
        counter.increment()
        counter.name = "x"
        #expect(counter.count == 1 && tally.count == 2)
    }

    @Test func `C-16: a view keeps the object with which it was created`() {
        let object = MyForwarder(stateManager: manager).getStateObject()
        let view = MyView(stateObject: object, appDispatch: { _ in })
        #expect(view.stateObject === object)
    }

    @Test func `a forwarder of a named state follows it`() {
        var state = MyPersistent()
        let object = LimitViewForwarder.makeObject(from: state)
        state.counter = 9
        LimitViewForwarder.forward(state, to: object)
        #expect(object.isNearLimit && object.count == 9)
    }
}

extension ManagerDouble where P == MyPersistent {
    fileprivate func dispatch(_ event: any AppEvent) {
        guard let event = event as? MyEvent else { return }
        change { state in
            switch event {
            case .incrementCounter: state.p.counter += 1
            case .setCounter(let value): state.p.counter = value
            }
        }
    }
}
