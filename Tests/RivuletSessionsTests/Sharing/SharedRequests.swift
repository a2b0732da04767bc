// Owns short forms of requests to shared resources for tests.

import Foundation
import RivuletAccess
import RivuletJSON
import RivuletSessions
import RivuletStores
import Testing

/// Waits for the reply to a request.
private func answer<Value: Sendable>(_ ask: (@escaping SharedReply<Value>) -> Void) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in ask { continuation.resume(with: $0) } }
}

extension HostedStore {
    func page(after: String? = nil, limit: Int = 100) async throws -> StorePage {
        try await answer { read(after: after, limit: limit, among: .all, reply: $0) }
    }

    func item(_ id: String) async throws -> ItemAnswer { try await answer { read(id, reply: $0) } }

    func insert(_ body: String, expected: [UInt64]? = nil) async throws -> StoreAnswer {
        try await answer { insert(Array(body.utf8), expected: expected, reply: $0) }
    }

    func put(
        _ body: String,
        under id: String,
        if condition: ItemCondition = ItemCondition()
    ) async throws -> StoreAnswer {
        try await answer { put(Array(body.utf8), under: id, if: condition, reply: $0) }
    }

    func remove(_ id: String) async throws -> StoreAnswer {
        try await answer { remove(id, if: ItemCondition(), reply: $0) }
    }

    func removeAll(expected: [UInt64]?) async throws -> StoreAnswer {
        try await answer { removeAll(expected: expected, reply: $0) }
    }

    func perform(_ body: String) async throws -> StoreAnswer {
        try await answer { perform(Array(body.utf8), expected: nil, reply: $0) }
    }

    /// A feed without a wake-up call.
    func feed() async throws -> any SharedFeed { makeFeed {} }
}

extension HostedValue {
    func current() async throws -> ValueAnswer { try await answer { read($0) } }

    func set(_ body: String, expected: [UInt64]? = nil) async throws -> ValueAnswer {
        try await answer { set(Array(body.utf8), expected: expected, reply: $0) }
    }

    func reset() async throws -> ValueAnswer { try await answer { reset(expected: nil, reply: $0) } }

    func toggled(expected: [UInt64]?) async throws -> ValueAnswer {
        try await answer { toggle(expected: expected, reply: $0) }
    }
}

extension HostedSecret {
    func presence() async throws -> SecretPresence { try await answer { read($0) } }

    func set(_ body: String) async throws { try await answer { set(Array(body.utf8), reply: $0) } }

    func removed() async throws { try await answer { remove($0) } }

    func resealed() async throws -> Bool { try await answer { reseal($0) } }
}

/// The parts of a document that tests read.
struct ReadDocument {
    let value: JSONValue?

    init(_ bytes: [UInt8]) { value = try? JSONValue(parsing: bytes) }

    var ids: [String] { value?["items"]?.elements?.compactMap { $0["id"]?.stringValue } ?? ["no items"] }
    var next: String? { value?["next"]?.stringValue }
    var reason: String? { value?["reason"]?.stringValue }
}

extension StorePage {
    var text: String { String(decoding: json, as: UTF8.self) }
    var document: ReadDocument { ReadDocument(json) }
}

extension StoreOutcome {
    /// The version, and the numbers of inserted, replaced and removed items.
    var line: String { "v\(version) +\(inserted) =\(replaced) -\(removed)" }
}

extension ValueAnswer {
    var text: String { "\(version) \(String(decoding: json, as: UTF8.self))" }
}

extension SharedEvent {
    var document: ReadDocument { ReadDocument(data) }
    var text: String { "\(name) \(version ?? 0) \(String(decoding: data, as: UTF8.self))" }

    /// The name, version, items and reason.
    var line: String {
        let words = [name, version.map(String.init) ?? "", document.ids.joined(separator: ","), document.reason ?? ""]
        return words.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension [SharedEvent] {
    var lines: [String] { map(\.line) }
}

/// Expects a request to be refused with these words.
func expect(
    refusal words: String,
    _ location: SourceLocation = #_sourceLocation,
    _ request: () async throws -> Void
) async {
    do {
        try await request()
        Issue.record("the request was not refused", sourceLocation: location)
    } catch {
        #expect("\(error)" == words, sourceLocation: location)
    }
}
