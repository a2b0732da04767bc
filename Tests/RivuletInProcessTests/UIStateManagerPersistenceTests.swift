// Checks the documents that the in-process engine stores and the times of the saves, and that no stored data is lost.

import CounterFixture
import InMemoryLogging
import Logging
import RivuletEngine
import RivuletInProcess
import RivuletObservation
import Testing

@Suite struct UIStateManagerPersistenceTests {
    private static func document(_ count: Int) -> String { #"{"count":\#(count),"ratio":0.5,"words":[]}"# }

    // MARK: - Rows

    @Test func `D-11: the stored half replaces its default, and the other half has its default`() async throws {
        let storage = ScriptedStorage()
        do {
            let manager = await DeedManager.deeds(key: "a", storage: storage)
            await manager.dispatch(Deed.say("x"))
            await manager.debugWaitForEventsProcessed()
            try await manager.flushPendingSaves()
        }
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        #expect(manager.getState() == DeedState(t: Shown(), p: Saved(words: ["x"])))
        #expect(await DeedManager.deeds(key: "b", storage: storage).getState() == DeedState(t: Shown(), p: Saved()))
    }

    @Test func `D-12: without a key nothing is stored`() async throws {
        let storage = ScriptedStorage()
        let manager = await DeedManager.deeds(storage: storage)
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        try await manager.flushPendingSaves()
        #expect(storage.saves.isEmpty)
        #expect(await manager.loadState() == nil)
        await #expect(throws: StatePersistenceError.noKey) { try await manager.saveStateImmediately() }
    }

    @Test func `D-20: an event with persist saves all of p, and an event without it saves nothing`() async throws {
        let storage = ScriptedStorage()
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        await manager.dispatch(Deed.quietAdd(3))
        await manager.debugWaitForEventsProcessed()
        try await manager.flushPendingSaves()
        #expect(storage.saves.isEmpty)
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        try await manager.flushPendingSaves()
        #expect(storage.saves == [Self.document(4)])
    }

    @Test func `D-21: requests during a save become one later save, and an equal value is not saved`() async throws {
        let gate = Gate()
        let storage = ScriptedStorage(gate: gate)
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        await manager.dispatch(Deed.add(1))
        await gate.waitForArrivals()
        for _ in 0..<50 { await manager.dispatch(Deed.add(1)) }
        await manager.debugWaitForEventsProcessed()
        gate.open()
        try await manager.flushPendingSaves()
        #expect(storage.saves == [Self.document(1), Self.document(51)])
        await manager.dispatch(Deed.add(0))
        await manager.debugWaitForEventsProcessed()
        try await manager.flushPendingSaves()
        #expect(storage.saves.count == 2)
    }

    @Test func `D-22: an immediate save can be requested, and the stored value can be read`() async throws {
        let storage = ScriptedStorage()
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        #expect(await manager.loadState() == nil)
        await manager.dispatch(Deed.quietAdd(3))
        await manager.debugWaitForEventsProcessed()
        try await manager.saveStateImmediately()
        #expect(storage.saves == [Self.document(3)])
        #expect(await manager.loadState() == Saved(count: 3))
    }

    @Test func `D-23: a tracked half is stored as its JSON form, without transient and omitted fields`() async throws {
        let storage = MemoryStateStorage(["a": Array(#"{"count":250,"title":"old"}"#.utf8)])
        let manager = await UIStateManager(
            defaultState: { TallyApp().defaultState },
            persistenceKey: "a",
            storage: storage,
            clock: ScriptedClock()
        )
        // Wrappers are also enforced when a document is read. Fields that the document lacks have their defaults.
        #expect(manager.getState().p.count == 100)
        #expect(manager.getState().p.ratio == 0.5)
        await manager.addReducer(AnyReducer<TallyApp.State>(TallyEvent.self, TallyApp().reduce))
        for event in [TallyEvent.note("secret"), .insert(id: "i", at: 0), .open("i")] { await manager.dispatch(event) }
        await manager.debugWaitForEventsProcessed()
        try await manager.flushPendingSaves()
        let text = String(decoding: try #require(storage.documents["a"]), as: UTF8.self)
        #expect(text.hasPrefix(#"{"count":100,"title":"old","#))
        #expect(text.contains(#"{"id":"i","title":""}"#) && !text.contains("secret"))
    }

    // MARK: - Saves that the WAVE library loses

    @Test func `an event without a save does not cancel a pending save`() async throws {
        // The WAVE library cancels the pending save, and takes the value of that save for the stored one.
        let gate = Gate()
        let storage = ScriptedStorage(gate: gate)
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        await manager.dispatch(Deed.add(1))
        await gate.waitForArrivals()
        await manager.dispatch(Deed.add(1))
        await manager.dispatch(Deed.quietAdd(0))
        await manager.dispatch(Deed.add(0))
        await manager.debugWaitForEventsProcessed()
        gate.open()
        try await manager.flushPendingSaves()
        #expect(storage.documents == ["a": Self.document(2)])
    }

    @Test func `a steady stream of events does not delay saves`() async {
        // The WAVE library waits for half a second without events, which may never happen.
        let storage = ScriptedStorage()
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        var events = 0
        while storage.saves.isEmpty, events < 100_000 {
            await manager.dispatch(Deed.add(1))
            events += 1
            await Task.yield()
        }
        #expect(!storage.saves.isEmpty)
    }

    @Test func `saves are written in their order`() async throws {
        // In the WAVE library, a cancelled save can still write its old value after a newer value.
        let gate = Gate()
        let storage = ScriptedStorage(gate: gate)
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        await manager.dispatch(Deed.add(1))
        await gate.waitForArrivals()
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        let saved = Task { try await manager.saveStateImmediately() }
        await Task.yield()
        #expect(storage.saves.isEmpty)
        gate.open()
        try await saved.value
        #expect(storage.saves == [Self.document(1), Self.document(2)])
    }

    @Test func `a failed save is logged and retried`() async throws {
        let log = InMemoryLogHandler()
        let clock = ScriptedClock(passing: .seconds(60))
        let storage = ScriptedStorage(failures: 2)
        let manager = await DeedManager.deeds(key: "a", storage: storage, clock: clock, log: log)
        await #expect(throws: ScriptedStorage.Broken.self) { try await manager.saveStateImmediately() }
        while storage.saves.isEmpty { await Task.yield() }
        #expect(storage.saves == [Self.document(0)])
        #expect(log.entries.map(\.level) == [.error, .error])
        #expect(clock.slept.filter { $0 == .seconds(1) }.count == 2)
        try await manager.flushPendingSaves()
    }

    @Test func `a value that JSON cannot carry is refused, and the stored document stays`() async throws {
        let storage = ScriptedStorage(["a": Self.document(4)])
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        await manager.dispatch(Deed.ratio(.nan))
        await manager.debugWaitForEventsProcessed()
        await #expect(throws: StatePersistenceError.unrepresentable) { try await manager.flushPendingSaves() }
        #expect(storage.documents == ["a": Self.document(4)])
        await manager.dispatch(Deed.ratio(0.5))
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        try await manager.flushPendingSaves()
        #expect(storage.documents == ["a": Self.document(5)])
    }

    @Test func `a document that cannot be read is logged, and never overwritten`() async throws {
        let log = InMemoryLogHandler()
        let storage = ScriptedStorage(["a": #"{"count":"many"}"#])
        let manager = await DeedManager.deeds(key: "a", storage: storage, log: log)
        #expect(manager.getState().p == Saved())
        guard case .unreadable("a", let detail) = manager.persistenceError else {
            Issue.record("the error is \(String(describing: manager.persistenceError))")
            return
        }
        #expect(detail.contains("count"))
        #expect(log.entries.map(\.level) == [.error])
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        await #expect(throws: StatePersistenceError.self) { try await manager.flushPendingSaves() }
        await #expect(throws: StatePersistenceError.self) { try await manager.saveStateImmediately() }
        #expect(storage.documents == ["a": #"{"count":"many"}"#])
        #expect(await manager.loadState() == nil)

        #expect(try await manager.setAsideUnreadableState() == "a.unreadable-1")
        #expect(manager.persistenceError == nil)
        try await manager.flushPendingSaves()
        #expect(storage.documents == ["a": Self.document(1), "a.unreadable-1": #"{"count":"many"}"#])
        #expect(try await manager.setAsideUnreadableState() == nil)
    }

    @Test func `a storage that cannot be read is not written to`() async {
        let storage = ScriptedStorage(["a": Self.document(4)], loadFails: true)
        let manager = await DeedManager.deeds(key: "a", storage: storage)
        #expect(manager.persistenceError == .unavailable(key: "a", detail: "Broken()"))
        await manager.dispatch(Deed.add(1))
        await manager.debugWaitForEventsProcessed()
        await #expect(throws: StatePersistenceError.self) { try await manager.flushPendingSaves() }
        await #expect(throws: StatePersistenceError.self) { try await manager.setAsideUnreadableState() }
        #expect(storage.documents == ["a": Self.document(4)])
    }

    @Test func `a requested save is written even if the manager is freed before`() async {
        let gate = Gate()
        let storage = ScriptedStorage(gate: gate)
        do {
            let manager = await DeedManager.deeds(key: "a", storage: storage)
            await manager.dispatch(Deed.add(1))
            await manager.debugWaitForEventsProcessed()
        }
        gate.open()
        while storage.saves.isEmpty { await Task.yield() }
        #expect(storage.documents == ["a": Self.document(1)])
    }
}
