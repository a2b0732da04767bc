// Checks the paths of a schema that are marked as transient.

import RivuletJSON
import RivuletSessions
import Synchronization
import Testing

@Suite struct JSONSchemaTransientTests {
    /// A stand-in for a type.
    private final class Layer: Sendable {}

    /// The number of requests for a type's fields.
    private final class Count: Sendable {
        let asked = Mutex(0)
    }

    private let transient = JSONSchema.annotated(.boolean, [JSONSchema.Annotation("x-rivulet-transient", true)])

    /// A type that contains the next type twice.
    ///
    /// The field of the last type is `end`.
    private func layers(_ layers: ArraySlice<Layer>, end: JSONSchema, _ count: Count) -> JSONSchema {
        guard let layer = layers.first else { return end }
        let next = layers.dropFirst()
        return .object(title: "Layer", identity: ObjectIdentifier(layer)) {
            count.asked.withLock { $0 += 1 }
            return ["first", "second"].map { name in
                JSONSchema.Field(name: name, schema: .optional(self.layers(next, end: end, count)))
            }
        }
    }

    @Test func `a type that occurs in two others is visited once`() {
        let types = (0..<12).map { _ in Layer() }
        let none = Count()
        #expect(JSONSchema.keyed(layers(types[...], end: .boolean, none)).transientPaths.isEmpty)
        #expect(none.asked.withLock(\.self) == 12)
        let some = Count()
        #expect(JSONSchema.keyed(layers(types[...], end: transient, some)).transientPaths == [""])
        #expect(some.asked.withLock(\.self) == 12)
    }

    @Test func `a transient field beside a repeated type is found`() {
        let type = Layer()
        let inner = JSONSchema.object(title: "Inner", identity: ObjectIdentifier(type)) { [] }
        let outer = JSONSchema.object(title: "") {
            [inner, inner, transient].enumerated().map { JSONSchema.Field(name: "\($0)", schema: $1) }
        }
        #expect(JSONSchema.array(outer).transientPaths == [""])
        #expect(outer.transientPaths == ["/2"])
    }

    @Test func `a transient object without fields is always the same`() {
        let mark = JSONSchema.Annotation("x-rivulet-transient", true)
        let empty = JSONSchema.annotated(.object(title: "Empty") { [] }, [mark])
        let state = JSONSchema.object(title: "") {
            [JSONSchema.Field(name: "t", schema: empty), JSONSchema.Field(name: "u", schema: transient)]
        }
        #expect(state.transientPaths == ["/u"])
    }
}
