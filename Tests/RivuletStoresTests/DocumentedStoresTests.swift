// Owns the samples of Documentation/Stores.md, which are compiled and run here.

import Foundation
import Observation
import RivuletStores
import Testing

private struct Todo: Codable, Sendable, Identifiable {
    var id: String
    var title: String
    var isDone = false
}

private func open(_ storage: any ItemStorage) async throws -> Store<Todo> {
    let store = try await Store<Todo>(storage: storage.collection("todos"), cacheIdentifier: \.id)
    return store
}

private func use(_ store: Store<Todo>) async throws {
    try await store.insert(Todo(id: "milk", title: "Buy milk"))
    try await store.insert([Todo(id: "milk", title: "Buy oat milk"), Todo(id: "tea", title: "Drink tea")])
    try await store.remove(Todo(id: "tea", title: ""))
    for todo in store.items { print(todo.title) }
}

private func replace(_ store: Store<Todo>, by fresh: [Todo]) async throws {
    try await store.removeAll().insert(fresh).run()
}

private func follow(_ store: Store<Todo>) async {
    for await event in store.events {
        switch event.operation {
        case .initialized: print("not loaded yet")
        case .loaded: print("the list is", event.items)
        case .insert: print("came", event.items)
        case .remove: print("went", event.items)
        }
    }
}

@Observable
private final class TodoList {
    @ObservationIgnored
    @Stored var todos: [Todo]

    init(store: Store<Todo>) {
        self._todos = Stored(in: store)
    }

    func add(_ todo: Todo) async throws {
        try await $todos.insert(todo)
    }
}

@Suite(.timeLimit(.minutes(1))) struct DocumentedStoresTests {
    @Test func `the samples do what the page says`() async throws {
        let storage = MemoryItemStorage { 0 }
        let store = try await open(storage)
        try await use(store)
        #expect(try await open(storage).items.map(\.title) == ["Buy oat milk"])
        try await replace(store, by: [Todo(id: "a", title: "A")])
        try await TodoList(store: store).add(Todo(id: "b", title: "B"))
        #expect(TodoList(store: store).todos.map(\.id) == ["a", "b"])
        let reader = Task { await follow(store) }
        reader.cancel()
        await reader.value
    }
}
