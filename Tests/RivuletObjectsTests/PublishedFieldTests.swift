// Part of Rivulet. See README.md for the architecture.
// Owns the tests of what a session sees of an object's fields.

import RivuletJSON
import RivuletObjects
import Testing

@Suite struct PublishedFieldTests {
    private struct Place: Codable, Equatable, Sendable {
        var street = "Elm"
        var number = 3
    }

    /// Compares nothing, and is no JSON.
    private struct Token: Sendable {}

    private class Named: ObservableObject, @unchecked Sendable {
        @Published var name: String = "a"
    }

    private final class View: Named, @unchecked Sendable {
        @Published var count: Int? = 1
        @Published var place: Place = Place()
        @Published var tags: [String] = []
        @Published var token: Token = Token()

        override init() {
            super.init()
            setupPublished()
        }
    }

    private func json(_ value: PublishedValue, at path: [String] = []) -> String? {
        var writer = JSONWriter()
        return value.encodeJSON(at: path[...], into: &writer) ? String(decoding: writer.bytes, as: UTF8.self) : nil
    }

    @Test func `fields have names, superclasses first, shapes and JSON`() {
        let view = View()
        let fields = view.trackPublished()
        #expect(fields.map(\.name) == ["name", "count", "place", "tags", "token"])
        #expect(fields.map { $0.jsonSchema != nil } == [true, true, true, true, false])
        #expect(fields[1].jsonSchema.map { "\($0)" } == "\(Int?.jsonSchema)")
        let texts = fields.map { json($0.current) }
        #expect(texts == ["\"a\"", "1", "{\"number\":3,\"street\":\"Elm\"}", "[]", nil])
        view.count = nil
        view.tags = ["x"]
        #expect(json(fields[1].current) == "null")
        #expect(json(fields[3].current, at: ["0"]) == "\"x\"")
        #expect(json(fields[3].current, at: ["1"]) == nil)
    }

    @Test func `a change has the value before the first write and the last one, once`() throws {
        let view = View()
        let count = view.trackPublished()[1]
        #expect(!count.isWritten)
        view.count = 2
        view.count = 3
        #expect(count.isWritten)
        let change = try #require(count.takeChange())
        #expect(change.before.value as? Int == 1 && change.now.value as? Int == 3)
        #expect(json(change.before) == "1" && json(change.now) == "3")
        #expect(!count.isWritten)
        #expect(count.takeChange() == nil)
    }

    @Test func `what is written back, or equal, is no change`() {
        let view = View()
        let fields = view.trackPublished()
        view.count = nil
        view.count = 1
        view.tags.append("x")
        view.tags.removeLast()
        view.name = "a"
        #expect(fields.map(\.isWritten) == [true, true, false, true, false])
        #expect(fields.allSatisfy { $0.takeChange() == nil })
        view.token = Token()
        #expect(fields[4].takeChange() != nil, "values that nobody can compare count as different")
    }

    @Test func `an optional that becomes nil is a change, and one that was nil too`() throws {
        let view = View()
        let count = view.trackPublished()[1]
        view.count = nil
        #expect(json(try #require(count.takeChange()).now) == "null")
        view.count = 4
        #expect(json(try #require(count.takeChange()).before) == "null")
    }

    @Test func `fields without a session keep nothing of the past`() {
        final class Large: Sendable {}
        final class Holder: ObservableObject {
            @Published var large: Large?
        }
        let holder = Holder()
        weak var first: Large?
        do {
            let large = Large()
            first = large
            holder.large = large
        }
        #expect(first != nil)
        holder.large = nil
        #expect(first == nil)
    }
}
