// Checks the sample values of shapes.

import RivuletJSON
import RivuletSchema
import Testing

@Suite struct JSONSchemaExampleTests {
    private enum Endless {}
    private enum Tree {}

    @Test func `a number lies within its bounds`() {
        #expect(JSONSchema.integer().example == 1)
        #expect(JSONSchema.integer(minimum: 5).example == 5)
        #expect(JSONSchema.integer(maximum: 0).example == 0)
        #expect(JSONSchema.integer(values: [7, 8]).example == 7)
        #expect(JSONSchema.annotated(.integer(), [JSONSchema.Annotation("minimum", 10)]).example == 10)
    }

    @Test func `the example of a text has the text's format, or is one of its words`() {
        #expect(JSONSchema.string().example == "text")
        #expect(JSONSchema.string(values: ["open", "done"]).example == "open")
        #expect(JSONSchema.string(format: "date-time").example == "2026-01-01T00:00:00Z")
    }

    @Test func `the example of an object has its fields, and of a collection no elements`() {
        let object = JSONSchema.object(title: "Pair") {
            [
                JSONSchema.Field(name: "list", schema: .keyed(.boolean)),
                JSONSchema.Field(name: "word", schema: .optional(.string()), isRequired: false),
            ]
        }
        #expect(object.example == ["list": [], "word": "text"])
    }

    @Test func `the example of a recursive type ends at the first optional`() {
        @Sendable func tree() -> JSONSchema {
            .object(title: "Tree", identity: ObjectIdentifier(Tree.self)) {
                [JSONSchema.Field(name: "left", schema: .optional(tree()))]
            }
        }
        #expect(tree().example == ["left": .null])
    }

    @Test func `an enum's example is its first finite case, and an endless type has no example`() {
        @Sendable func endless() -> JSONSchema {
            .named(title: "Endless", identity: ObjectIdentifier(Endless.self)) {
                .object(title: "") { [JSONSchema.Field(name: "next", schema: endless())] }
            }
        }
        #expect(endless().example == nil)
        #expect(JSONSchema.oneOf([endless(), .constant("end")]).example == "end")
    }
}
