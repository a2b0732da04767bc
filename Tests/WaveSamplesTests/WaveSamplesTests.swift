// Checks that the samples of WAVE's guide run unchanged.

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation
public import Rivulet
import Testing

// The guide's code, with three changes. Imports are public, because this package imports internally by default. The
// right side of the type alias is qualified, because the compiler reports "type alias references itself" otherwise. An
// enum replaces the mode, which the guide does not show.

public enum MyMode: String, Codable, Sendable {
    case idle, busy
}

public struct MyPersistent: PersistentState {
    public var counter: Int = 0
    public var mode: MyMode = .idle

    public init() {}
}

public struct MyTransient: Equatable, Sendable {
    public init() {}
}

public typealias AppState = RivuletEngine.AppState<MyPersistent, MyTransient>
public typealias AppStateHolder = StateHolder<MyPersistent, MyTransient>
public typealias AppUIStateManager = UIStateManager<MyPersistent, MyTransient>

public enum MyEvent: AppEvent, Codable, Equatable {
    case incrementCounter
    case decrementCounter
    case setCounter(Int)

    public var persist: Bool {
        switch self {
        case .incrementCounter, .decrementCounter, .setCounter:
            return true
        }
    }

    public var isUIEvent: Bool {
        switch self {
        case .incrementCounter, .decrementCounter, .setCounter:
            return true
        }
    }
}

struct MyReducer: EventReducer {
    func reduce(state: AppState, queuedEvent: QueuedEvent) -> AppState {
        var newState = state
        let event = queuedEvent.event
        if let myEvent = event as? MyEvent {
            switch myEvent {
            case .incrementCounter:
                newState.p.counter += 1
            case .decrementCounter:
                newState.p.counter -= 1
            case .setCounter(let value):
                newState.p.counter = value
            }
        }
        return newState
    }
}

@Suite(.serialized) struct WaveSamplesTests {
    /// The guide's function, with a separate folder for the test.
    private func initializeStateManager() async -> AppUIStateManager {
        let stateManager = await AppUIStateManager(
            defaultState: { @Sendable in
                AppState(t: MyTransient(), p: MyPersistent())
            },
            persistenceKey: "myAppState"  // Optional: enables state persistence
        )
        await stateManager.addReducer(
            AnyReducer<AppState>(MyReducer())
        )
        return stateManager
    }

    private func inDataFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rivulet-\(UUID())").path
        defer {
            do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
        }
        _ = unsafe setenv("RIVULET_DATA", folder, 1)
        defer { _ = unsafe unsetenv("RIVULET_DATA") }
        try await body(folder)
    }

    @Test func `the guide's app counts, and its state outlives its manager`() async throws {
        try await inDataFolder { folder in
            let stateManager = await initializeStateManager()
            let appDispatch: @Sendable (any AppEvent) -> Void = { @Sendable event in stateManager.dispatch(event) }
            appDispatch(MyEvent.incrementCounter)
            appDispatch(MyEvent.setCounter(7))
            appDispatch(MyEvent.decrementCounter)
            await stateManager.debugWaitForEventsProcessed()
            #expect(stateManager.getState().p.counter == 6)
            try await stateManager.flushPendingSaves()
            #expect(FileManager.default.fileExists(atPath: folder + "/states/rivulet.db"))
            #expect(await initializeStateManager().getState().p.counter == 6)
        }
    }

    // The samples of Documentation/Engine.md that the guide does not have.

    @Test func `an effect feeds events back`() async throws {
        try await inDataFolder { _ in
            let stateManager = await initializeStateManager()
            await stateManager.setEffects { [weak stateManager] event, newState in
                guard event as? MyEvent == .setCounter(0) else { return }
                await stateManager?.dispatch(MyEvent.incrementCounter)
            }
            await stateManager.dispatch(MyEvent.setCounter(0))
            await stateManager.debugWaitForEventsProcessed()
            #expect(stateManager.getState().p.counter == 1)
            try await stateManager.flushPendingSaves()  // All requested saves are on disk.
            try await stateManager.saveStateImmediately()  // The present p is on disk, requested or not.
            #expect(await stateManager.loadState()?.counter == 1)
        }
    }

    @Test func `a reducer returns its follow-up effects`() async throws {
        try await inDataFolder { _ in
            let stateManager = await initializeStateManager()
            await stateManager.addReducer(
                AnyReducer<AppState>(effectsOf: MyEvent.self) { _, event in
                    event == .setCounter(0) ? .dispatch(.incrementCounter) : .none
                }
            )
            await stateManager.dispatch(MyEvent.setCounter(0))
            await stateManager.debugWaitForEventsProcessed()
            #expect(stateManager.getState().p.counter == 1)
            try await stateManager.flushPendingSaves()
        }
    }

    @Test func `an unreadable document is set aside`() async throws {
        try await inDataFolder { folder in
            try await DataFolderStates(folder: folder).save(Array(#"{"counter":"many"}"#.utf8), under: "myAppState")
            let stateManager = await initializeStateManager()
            await stateManager.dispatch(MyEvent.incrementCounter)
            await stateManager.debugWaitForEventsProcessed()
            await #expect(throws: StatePersistenceError.self) { try await stateManager.flushPendingSaves() }
            if case .unreadable = stateManager.persistenceError {
                let place = try await stateManager.setAsideUnreadableState()  // "myAppState.unreadable-1"
                #expect(place == "myAppState.unreadable-1")
            }
            try await stateManager.flushPendingSaves()
            #expect(await stateManager.loadState()?.counter == 1)
        }
    }

    @Test func `a recorder replays the events that it recorded`() async {
        let recorder = EventRecorder()
        let stateManager = await AppUIStateManager(
            defaultState: { AppState(t: MyTransient(), p: MyPersistent()) },
            dispatchFilter: recorder.dispatchFilter
        )
        await stateManager.addReducer(AnyReducer<AppState>(MyReducer()))
        await stateManager.dispatch(MyEvent.incrementCounter)
        await recorder.replay { event, isLast in
            await stateManager.dispatch(event, withoutFilter: true)
        }
        await stateManager.debugWaitForEventsProcessed()
        // The first event was the restore of the initial state.
        #expect(stateManager.getState().p.counter == 1)
        #expect(await stateManager.eventsProcessed == 4)
    }

    @Test func `without a key no file is opened`() async throws {
        try await inDataFolder { folder in
            let stateManager = await AppUIStateManager(
                defaultState: { @Sendable in
                    AppState(t: MyTransient(), p: MyPersistent())
                }
            )
            await stateManager.dispatch(MyEvent.incrementCounter)
            await stateManager.debugWaitForEventsProcessed()
            #expect(!FileManager.default.fileExists(atPath: folder))
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
    }

    @Test func `nothing is saved in a data folder that another engine uses`() async throws {
        try await inDataFolder { folder in
            let other = SQLiteStorageEngine(folder: folder + "/states")
            try other.start()
            let stateManager = await initializeStateManager()
            #expect(stateManager.persistenceError != nil)
            await #expect(throws: StatePersistenceError.self) { try await stateManager.saveStateImmediately() }
            other.close()
        }
    }
}
