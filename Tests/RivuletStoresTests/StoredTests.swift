// Tests properties that are stores, also in the sample class of system E's article (its seed).
// Source: <Tests/Rows/Systems.md#libraries>

import Foundation
import Observation
import RivuletStores
import StoreFixture
import Synchronization
import Testing

/// The seed's class, unchanged.
///
/// Its server is a list.
@Observable
private final class NotesController {
    @ObservationIgnored
    @Stored var notes: [Note]

    @ObservationIgnored
    let server = Mutex<[Note]>([])

    init(store: Store<Note>) {
        self._notes = Stored(in: store)
    }

    // The seed's function inserts its own array and returns nothing. Here it does what its comments describe.
    func fetchNotesFromAPI() async throws -> [Note] {
        let notes = server.withLock { $0 }
        try await self.$notes.insert(notes)
        return notes
    }

    func addNote(note: Note) async throws {
        server.withLock { $0.append(note) }
        try await self.$notes.insert(note)
    }

    func removeNote(note: Note) async throws {
        server.withLock { $0.removeAll { $0.id == note.id } }
        try await self.$notes.remove(note)
    }

    func clearAllNotes() async throws {
        server.withLock { $0 = [] }
        try await self.$notes.removeAll()
    }

    func monitorNotesEvents(until count: Int) async -> [String] {
        var lines: [String] = []
        for await event in self.$notes.events {
            switch event.operation {
            case .initialized: lines.append("initialized")
            case .loaded: lines.append("loaded \(event.items.count)")
            case .insert: lines.append("inserted \(event.items.count)")
            case .remove: lines.append("removed \(event.items.count)")
            }
            if lines.count == count { break }
        }
        return lines
    }
}

@Suite(.timeLimit(.minutes(1))) struct StoredTests {
    private let storage = ScriptedItemStorage()

    private func controller() async throws -> NotesController {
        NotesController(store: try await Store(storage: storage.collection("notes")))
    }

    @Test func `E-17: the seed's class saves its notes, and another instance reads them`() async throws {
        let controller = try await controller()
        try await controller.addNote(note: Note("a"))
        try await controller.addNote(note: Note("b"))
        try await controller.removeNote(note: Note("a"))
        #expect(controller.notes.lines == ["b"])
        #expect(try await self.controller().notes.lines == ["b"])
        #expect(try await controller.fetchNotesFromAPI().lines == ["b"])
        try await controller.clearAllNotes()
        #expect(controller.notes.isEmpty)
        #expect(try await self.controller().notes.isEmpty)
    }

    @Test func `E-17: the property is read-only and observed, and its projected value is the store`() async throws {
        let controller = try await controller()
        let path: AnyKeyPath = \NotesController.notes
        #expect(!(path is ReferenceWritableKeyPath<NotesController, [Note]>))
        let isTold = Mutex(false)
        withObservationTracking {
            _ = controller.notes
        } onChange: {
            isTold.withLock { $0 = true }
        }
        try await controller.$notes.insert(Note("a"))
        #expect(isTold.withLock { $0 })
    }

    @Test func `E-10, E-17: the seed's loop over the events gets each operation`() async throws {
        let controller = try await controller()
        try await controller.addNote(note: Note("a"))
        #expect(await controller.monitorNotesEvents(until: 1) == ["inserted 1"])
    }

    @Test func `E-25: onStoreDidLoad runs its closure after the load, with the items`() async throws {
        try await Store<Note>(storage: storage.collection("notes")).insert(Note("a"))
        let store = Store.loading(storage)
        var lines: [String] = []
        await onStoreDidLoad(store) { lines = store.items.lines }
        #expect(lines == ["a"])
        var hasLoaded = false
        await onStoreDidLoad(store, update: { hasLoaded = $0 })
        #expect(hasLoaded)
    }

    @Test func `E-25: onStoreDidLoad reports a failed load, and does not run its closure`() async throws {
        storage.failRead(.corrupt(detail: "page"))
        let store = Store.loading(storage)
        var (hasLoaded, errors): (Bool, [String]) = (false, [])
        await onStoreDidLoad(store, onLoad: { hasLoaded = true }, onError: { errors.append("\($0)") })
        await onStoreDidLoad(store, update: { hasLoaded = $0 }, onError: { errors.append("\($0)") })
        await onStoreDidLoad(store) { hasLoaded = true }
        #expect(!hasLoaded)
        #expect(errors == Array(repeating: "\(ItemStorageError.corrupt(detail: "page"))", count: 2))
    }
}
