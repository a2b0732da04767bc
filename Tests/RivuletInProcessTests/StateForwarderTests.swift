// Owns the tests of forwarders: the sample of the WAVE document, and forwarding to a hosted session's objects.

public import RivuletEngine
import RivuletInProcess
public import RivuletObservation
import Synchronization
import Testing

/// A replacement for a state manager: one state, its listeners, and the calls that a forwarder makes.
final class ManagerDouble<P: PersistentState & ObservableState, T: ObservableState & Equatable & Sendable>: Sendable {
    private struct Contents {
        var state: RivuletEngine.AppState<P, T>
        var listeners: [any StateListener] = []
    }

    private let contents: Mutex<Contents>

    init(_ state: RivuletEngine.AppState<P, T>) {
        contents = Mutex(Contents(state: state))
    }

    var listenerCount: Int { contents.withLock { $0.listeners.count } }

    func getState() -> RivuletEngine.AppState<P, T> { contents.withLock { $0.state } }

    func addListener(_ listener: any StateListener) {
        contents.withLock { $0.listeners.append(listener) }
        listener.updateState(StateHolder(state: getState()))
    }

    /// Changes the state, removes zombies, and notifies the other listeners.
    func change(_ body: @Sendable (inout RivuletEngine.AppState<P, T>) -> Void) {
        let listeners = contents.withLock { contents in
            body(&contents.state)
            contents.listeners.removeAll { $0.zombie }
            return contents.listeners
        }
        for listener in listeners { listener.updateState(StateHolder(state: getState())) }
    }
}

/// The activity of the app.
public enum MyMode: String, CaseIterable, JSONCodable, Codable, Sendable {
    case idle, busy
}

@ObservableState
struct MyPersistent: PersistentState {
    var counter: Int = 0
    var mode: MyMode = .idle
    var isNearLimit: Bool { counter > 8 }
}

/// The data of the view.
public final class MyStateObject: ObservableObject {
    /// The count.
    @Published public var counter: Int
    /// The mode.
    @Published public var mode: MyMode

    init(counter: Int = 0, mode: MyMode = .idle) {
        self.counter = counter
        self.mode = mode
        setupPublished()
    }
}

final class LimitView: ObservableObject {
    @Published var isNearLimit: Bool
    @Published var count: Int

    init(isNearLimit: Bool, count: Int) {
        self.isNearLimit = isNearLimit
        self.count = count
        setupPublished()
    }
}

/// The WAVE document's names, declared around the forwarders.
///
/// An alias may not name itself, so the first one is qualified.
enum WaveApp {
    typealias AppState = RivuletEngine.AppState<MyPersistent, EmptyTransient>
    typealias AppStateHolder = StateHolder<MyPersistent, EmptyTransient>
    typealias AppUIStateManager = ManagerDouble<MyPersistent, EmptyTransient>

    @StateForwarder(
        LimitView.self,
        [(\AppState.p.isNearLimit, \LimitView.isNearLimit), (\AppState.p.counter, \LimitView.count)]
    )
    final class LimitForwarder: StateListener {}
}

@Suite struct StateForwarderTests {
    private typealias AppState = WaveApp.AppState
    private typealias AppStateHolder = WaveApp.AppStateHolder
    private typealias AppUIStateManager = WaveApp.AppUIStateManager
    private typealias MyForwarder = WaveApp.MyForwarder
    private typealias LimitForwarder = WaveApp.LimitForwarder

    private let manager = AppUIStateManager(AppState(t: EmptyTransient(), p: MyPersistent()))

    private func counted(_ object: some ObservableObject) -> CallCount {
        let tally = CallCount()
        object.objectWillChange.subscribe { tally.add() }
        return tally
    }

    @Test func `D-04: a holder keeps its state`() {
        let holder = AppStateHolder(state: manager.getState())
        manager.change { $0.p.counter = 5 }
        #expect(holder.state.p.counter == 0)
    }

    @Test func `D-24, D-25: a forwarder makes an object from the state, returns it again, and listens to the state`() {
        manager.change { state in
            state.p.counter = 3
            state.p.mode = .busy
        }
        let forwarder = MyForwarder(stateManager: manager)
        #expect(forwarder.receiver == nil)
        let object = forwarder.getStateObject()
        #expect(object.counter == 3 && object.mode == .busy)
        #expect(forwarder.receiver === object)
        #expect(manager.listenerCount == 1)
        #expect(forwarder.stateManager === manager)
    }

    @Test func `D-26: a forwarder assigns only the values that differ`() {
        let object = MyForwarder(stateManager: manager).getStateObject()
        let tally = counted(object)
        manager.change { $0.p.counter = 1 }
        #expect(object.counter == 1 && tally.count == 1)
        manager.change { _ in }
        #expect(tally.count == 1)
        manager.change { state in
            state.p.counter = 2
            state.p.mode = .busy
        }
        #expect(object.counter == 2 && object.mode == .busy && tally.count == 3)
    }

    @Test func `D-26: a forwarder reads all values before it assigns the first`() {
        let first = AppState(t: EmptyTransient(), p: MyPersistent())
        let object = LimitForwarder.makeObject(from: first)
        let reads = Reads()
        object.objectWillChange.subscribe { [weak object] in reads.add(object?.count) }
        var next = first
        next.p.counter = 9
        LimitForwarder.forward(next, to: object)
        #expect(object.isNearLimit && object.count == 9)
        #expect(reads.counts == [0, 0])
    }

    @Test func `D-26: a state of another type changes nothing, and neither does a state after the object is freed`() {
        let forwarder = MyForwarder(stateManager: manager)
        var object: MyStateObject? = forwarder.getStateObject()
        forwarder.updateState(StateHolder(state: RivuletEngine.AppState(t: EmptyTransient(), p: OtherPersistent())))
        forwarder.updateState(manager)
        #expect(object?.counter == 0)
        object = nil
        #expect(forwarder.receiver == nil)
        forwarder.updateState(AppStateHolder(state: manager.getState()))
    }

    @Test func `D-24: a forwarder is a zombie after its object is freed, or after it is marked as a zombie`() {
        let forwarder = MyForwarder(stateManager: manager)
        var object: MyStateObject? = forwarder.getStateObject()
        #expect(!forwarder.zombie)
        withExtendedLifetime(object) {}
        object = nil
        #expect(forwarder.zombie)
        manager.change { _ in }
        #expect(manager.listenerCount == 0)
        let other = MyForwarder(stateManager: manager)
        let kept = other.getStateObject()
        other.zombie = true
        #expect(other.zombie)
        manager.change { $0.p.counter = 4 }
        #expect(manager.listenerCount == 0 && kept.counter == 0)
    }

    @Test func `D-24: a forwarder that listens before its object exists is not removed`() {
        let forwarder = MyForwarder(stateManager: manager)
        manager.addListener(forwarder)
        manager.change { $0.p.counter = 1 }
        #expect(manager.listenerCount == 1)
        let object = forwarder.getStateObject()
        manager.change { $0.p.counter = 2 }
        #expect(object.counter == 2)
    }

    @Test func `D-25: an outdated object is updated when its forwarder begins to listen`() {
        let forwarder = MyForwarder(stateManager: manager)
        let object = forwarder.getStateObject()
        object.counter = -1
        manager.addListener(forwarder)
        #expect(object.counter == 0)
    }

    @Test func `D-27: a mapping uses the app's names, and computed properties are forwarded`() {
        let object = LimitForwarder(stateManager: manager).getStateObject()
        let tally = counted(object)
        manager.change { $0.p.counter = 8 }
        #expect(!object.isNearLimit && tally.count == 1)
        manager.change { $0.p.counter = 9 }
        #expect(object.isNearLimit && tally.count == 3)
    }

    @Test func `a hosted session needs only the forwarder's type`() {
        func follow<Forwarder: StateForwarding>(
            _ forwarder: Forwarder.Type,
            _ states: [Forwarder.ForwardedState]
        ) -> Forwarder.ViewObject? {
            guard let first = states.first else { return nil }
            let object = forwarder.makeObject(from: first)
            for state in states.dropFirst() { forwarder.forward(state, to: object) }
            return object
        }
        var state = MyPersistent()
        state.counter = 9
        let hosted = follow(LimitViewForwarder.self, [MyPersistent(), state])
        #expect(hosted?.isNearLimit == true && hosted?.count == 9)
        let other = follow(MyForwarder.self, [AppState(t: EmptyTransient(), p: state)])
        #expect(other?.counter == 9)
    }

    @Test func `D-28: a registry of one session makes objects that follow its state`() {
        let registry = ViewRegistry()
        registry.register { [manager] in MyForwarder(stateManager: manager).getStateObject() }
        let object: MyStateObject? = registry.makeStateObject()
        manager.change { $0.p.counter = 6 }
        #expect(object?.counter == 6)
    }

    @Test func `D-30: an import of the engine exports the views' module`() {
        // This file does not import RivuletObjects.
        let dispatch: AppDispatch = { _ in }
        #expect(ViewRegistry(appDispatch: dispatch).objectFactory == nil)
    }
}

@ObservableState
struct OtherPersistent: PersistentState {
    var counter = 7
}

/// A counter for any thread.
final class CallCount: Sendable {
    private let stored = Mutex(0)

    var count: Int { stored.withLock { $0 } }

    func add() {
        stored.withLock { $0 += 1 }
    }
}

/// The counts that callbacks read.
final class Reads: Sendable {
    private let stored = Mutex<[Int?]>([])

    var counts: [Int?] { stored.withLock { $0 } }

    func add(_ count: Int?) {
        stored.withLock { $0.append(count) }
    }
}
