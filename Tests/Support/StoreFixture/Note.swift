// Owns the items of the stores' tests.

package import Foundation
package import RivuletStores

/// An item that is Codable, but not Equatable.
package struct Note: Codable, Sendable, Identifiable {
    package var id: String
    package var text: String

    package init(_ id: String, _ text: String = "") {
        self.id = id
        self.text = text
    }

    /// Id and text.
    package var line: String { text.isEmpty ? id : "\(id)=\(text)" }
}

/// An item that a UUID identifies.
package struct Token: Codable, Sendable, Identifiable {
    package var id: UUID

    package init(id: UUID) { self.id = id }
}

/// An item with values that JSON cannot always represent.
package struct Measure: Codable, Sendable, Identifiable {
    package var id: String
    package var value: Double

    package init(id: String, value: Double) {
        self.id = id
        self.value = value
    }
}

extension [Note] {
    /// One line of text for each note, in order, for comparisons.
    package var lines: [String] { map(\.line) }
}

extension StoreEvent<Note> {
    /// The operation and the lines of its items, for comparisons.
    package var line: String { "\(operation.rawValue) \(items.lines.joined(separator: ","))" }
}

extension Store<Note> {
    /// A store that loads in the background.
    ///
    /// Within an asynchronous function, the compiler would choose the other initialiser.
    package static func loading(_ storage: any ItemStorage, limits: StoreLimits = StoreLimits()) -> Store<Note> {
        Store(storage: storage.collection("notes"), limits: limits)
    }

    /// Every event from now on.
    package func laterEvents() async -> AsyncStream<StoreEvent<Note>> {
        let events = events
        _ = await events.lines(1)
        return events
    }

    /// The lines of the items that a new store reads from storage.
    package static func lines(in storage: any ItemStorage) async throws -> [String] {
        try await Store(storage: storage.collection("notes")).items.lines
    }
}

extension AsyncStream<StoreEvent<Note>> {
    /// The next events.
    package func lines(_ count: Int) async -> [String] {
        var lines: [String] = []
        var events = makeAsyncIterator()
        while lines.count < count, let event = await events.next() { lines.append(event.line) }
        return lines
    }
}
