// Owns the items that the tests of this room store.

import Foundation
import RivuletJSON
import RivuletStores

/// An item that is only Codable, and not Equatable.
struct Note: Codable, Sendable, Identifiable {
    var id: String
    var text: String

    init(_ id: String, _ text: String = "") {
        self.id = id
        self.text = text
    }

    /// Id and text.
    var line: String { text.isEmpty ? id : "\(id)=\(text)" }
}

/// An item that a UUID tells apart.
struct Token: Codable, Sendable, Identifiable {
    var id: UUID
}

/// An item that JSON cannot always carry.
struct Measure: Codable, Sendable, Identifiable {
    var id: String
    var value: Double
}

extension [Note] {
    /// What tests compare.
    var lines: [String] { map(\.line) }
}

extension StoreEvent<Note> {
    /// What tests compare.
    var line: String { "\(operation.rawValue) \(items.lines.joined(separator: ","))" }
}

extension Store<Note> {
    /// A store that loads in the background: within an asynchronous function the compiler takes the other initialiser.
    static func loading(_ storage: any ItemStorage, limits: StoreLimits = StoreLimits()) -> Store<Note> {
        Store(storage: storage.collection("notes"), limits: limits)
    }

    /// Every event from now on.
    func laterEvents() async -> AsyncStream<StoreEvent<Note>> {
        let events = events
        _ = await events.lines(1)
        return events
    }

    /// What a process finds that starts now.
    static func lines(in storage: any ItemStorage) async throws -> [String] {
        try await Store(storage: storage.collection("notes")).items.lines
    }
}

extension AsyncStream<StoreEvent<Note>> {
    /// The next events.
    func lines(_ count: Int) async -> [String] {
        var lines: [String] = []
        var events = makeAsyncIterator()
        while lines.count < count, let event = await events.next() { lines.append(event.line) }
        return lines
    }
}
