// This file owns the tests of schemas: their documents and the paths that they accept.

import RivuletJSON
import RivuletSchema
import Testing

struct JSONSchemaTests {
    private struct Tree {
        static var schema: JSONSchema {
            .object(title: "Tree", identity: ObjectIdentifier(Tree.self)) {
                [
                    JSONSchema.Field(name: "value", schema: Int.jsonSchema),
                    JSONSchema.Field(name: "children", schema: .array(Tree.schema), isRequired: false),
                ]
            }
        }
    }

    private struct Other {
        static var schema: JSONSchema {
            .object(title: "Tree", identity: ObjectIdentifier(Other.self)) {
                [JSONSchema.Field(name: "name", schema: .string())]
            }
        }
    }

    private func keywords(_ schema: JSONSchema) -> String {
        var definitions = JSONSchemaDefinitions()
        return definitions.value(of: schema).description
    }

    @Test func `plain shapes have their keywords`() {
        #expect(keywords(.any) == "{}")
        #expect(keywords(.null) == #"{"type":"null"}"#)
        #expect(keywords(Bool.jsonSchema) == #"{"type":"boolean"}"#)
        #expect(keywords(String.jsonSchema) == #"{"type":"string"}"#)
        #expect(keywords(Double.jsonSchema) == #"{"type":"number","format":"double"}"#)
        #expect(keywords(Int.jsonSchema) == #"{"type":"integer","format":"int64"}"#)
        #expect(keywords(Int8.jsonSchema) == #"{"type":"integer","minimum":-128,"maximum":127,"format":"int8"}"#)
        #expect(keywords(UInt64.jsonSchema) == #"{"type":"integer","minimum":0,"format":"uint64"}"#)
        #expect(keywords(UInt128.jsonSchema) == #"{"type":"integer","minimum":0}"#)
        #expect(keywords(.constant("x")) == #"{"type":"string","const":"x"}"#)
        #expect(keywords(.string(values: ["a", "b"])) == #"{"type":"string","enum":["a","b"]}"#)
        #expect(keywords([Bool].jsonSchema) == #"{"type":"array","items":{"type":"boolean"}}"#)
        #expect(keywords(.keyed(.any)) == #"{"type":"array","items":{},"x-rivulet-keyed":true}"#)
        #expect(keywords([String: Bool].jsonSchema) == #"{"type":"object","additionalProperties":{"type":"boolean"}}"#)
        #expect(keywords(.oneOf([.null, .boolean])) == #"{"oneOf":[{"type":"null"},{"type":"boolean"}]}"#)
        #expect(keywords(.anyOf([.null, .boolean])) == #"{"anyOf":[{"type":"null"},{"type":"boolean"}]}"#)
    }

    @Test func `a named shape is written once and may contain itself`() {
        let document = JSONSchema.array(Self.tree).document
        #expect(document["items"]?["$ref"] == "#/$defs/Branch")
        let branch = document["$defs"]?["Branch"]
        #expect(branch?["title"] == "Branch")
        #expect(branch?["oneOf"]?[0]?["const"] == "leaf")
        #expect(branch?["oneOf"]?[1]?["items"]?["$ref"] == "#/$defs/Branch")
        #expect(Self.tree.document["oneOf"]?[1]?["items"]?["$ref"] == "#")
        #expect(keywords(.optional(.named(title: "A", identity: Self.identity) { .boolean })).contains("anyOf"))
        #expect(Self.tree.accepts(path: ["0", "12"]))
        #expect(!Self.tree.accepts(path: ["0", "leaf"]))
    }

    private static let identity = ObjectIdentifier(JSONSchemaTests.self)

    private static var tree: JSONSchema {
        .named(title: "Branch", identity: identity) { .oneOf([.constant("leaf"), .array(Self.tree)]) }
    }

    @Test func `an optional adds null in the shortest way`() {
        #expect(keywords(Int?.jsonSchema) == #"{"type":["integer","null"],"format":"int64"}"#)
        #expect(keywords(Int??.jsonSchema) == #"{"type":["integer","null"],"format":"int64"}"#)
        #expect(keywords(.optional(.constant("x"))) == #"{"anyOf":[{"type":"string","const":"x"},{"type":"null"}]}"#)
        #expect(keywords(.optional(.any)) == "{}")
    }

    @Test func `annotations add keywords or replace them`() {
        let schema = JSONSchema.annotated(
            Int8.jsonSchema,
            [JSONSchema.Annotation("minimum", 0), JSONSchema.Annotation("x-rivulet-wrapper", "Clamped")]
        )
        #expect(
            keywords(schema)
                == #"{"type":"integer","maximum":127,"format":"int8","minimum":0,"x-rivulet-wrapper":"Clamped"}"#
        )
    }

    @Test func `the schema of reading may differ from the schema of writing`() {
        let schema = JSONSchema.object(title: "") {
            [
                JSONSchema.Field(
                    name: "a",
                    schema: .integer(maximum: 9),
                    accepted: .integer(),
                    isRequiredToRead: false
                ),
                JSONSchema.Field(name: "b", schema: .boolean),
            ]
        }
        #expect(schema.document(.written)["properties"]?["a"] == ["type": "integer", "maximum": 9])
        #expect(schema.document(.written)["required"] == ["a", "b"])
        #expect(schema.document(.read)["properties"]?["a"] == ["type": "integer"])
        #expect(schema.document(.read)["required"] == ["b"])
    }

    @Test func `a default is written beside the shape, also beside a reference`() {
        let fields = [
            JSONSchema.Field(name: "n", schema: .integer(), defaultValue: { 5 }),
            JSONSchema.Field(name: "tree", schema: Tree.schema, defaultValue: { ["value": 1] }),
            JSONSchema.Field(name: "none", schema: .boolean, defaultValue: { nil }),
            JSONSchema.Field(name: "null", schema: .null, defaultValue: { .null }),
        ]
        let properties = JSONSchema.object(title: "") { fields }.document["properties"]
        #expect(properties?["n"] == ["type": "integer", "default": 5])
        #expect(properties?["tree"] == ["$ref": "#/$defs/Tree", "default": ["value": 1]])
        #expect(properties?["none"] == ["type": "boolean"])
        #expect(properties?["null"] == ["type": "null", "default": .null])
    }

    @Test func `annotations of a root are written in the root`() {
        let document = JSONSchema.annotated(Tree.schema, [JSONSchema.Annotation("readOnly", true)]).document
        #expect(document["title"] == "Tree")
        #expect(document["readOnly"] == true)
        #expect(document["properties"]?["children"]?["items"] == ["$ref": "#"])
    }

    @Test(arguments: [
        ("Pair<Int, Tag>", "Pair_Int_Tag"), ("AppState<A<B>, C>", "AppState_A_B_C"), ("Größe", "Gr_e"), ("1", "_1"),
        ("<>", "_"), ("a/b~c", "a_b_c"),
    ])
    func `a definition's name needs no escapes`(title: String, name: String) {
        let schema = JSONSchema.array(.object(title: title) { [] })
        #expect(schema.document["items"] == ["$ref": .string("#/$defs/\(name)")])
        #expect(schema.document["$defs"]?[name]?["title"] == .string(title))
    }

    @Test func `a recursive root refers to itself`() {
        var writer = JSONWriter()
        Tree.schema.encodeJSON(into: &writer)
        let expected = #"""
            {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Tree","type":"object","properties":\#
            {"value":{"type":"integer","format":"int64"},"children":{"type":"array","items":{"$ref":"#"}}},"required":["value"]}
            """#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
    }

    @Test func `objects with titles are defined once for each type`() {
        let schema = JSONSchema.object(title: "") {
            [
                JSONSchema.Field(name: "a", schema: Tree.schema), JSONSchema.Field(name: "b", schema: Other.schema),
                JSONSchema.Field(name: "c", schema: .optional(Tree.schema)),
            ]
        }
        let document = schema.document
        #expect(document["properties"]?["a"] == ["$ref": "#/$defs/Tree"])
        #expect(document["properties"]?["b"] == ["$ref": "#/$defs/Tree2"])
        #expect(document["properties"]?["c"] == ["anyOf": [["$ref": "#/$defs/Tree"], ["type": "null"]]])
        #expect(document["$defs"]?.members?.map(\.name) == ["Tree", "Tree2"])
        #expect(
            document["$defs"]?["Tree"]?["properties"]?["children"] == [
                "type": "array", "items": ["$ref": "#/$defs/Tree"],
            ]
        )
        #expect(document["$defs"]?["Tree2"]?["required"] == ["name"])
    }

    @Test func `several schemas can share definitions under a prefix`() {
        var definitions = JSONSchemaDefinitions(referencePrefix: "#/components/schemas/")
        #expect(definitions.value(of: Tree.schema) == ["$ref": "#/components/schemas/Tree"])
        #expect(
            definitions.value(of: .array(Tree.schema)) == [
                "type": "array", "items": ["$ref": "#/components/schemas/Tree"],
            ]
        )
        #expect(definitions.members.count == 1)
    }

    private static let state = JSONSchema.object(title: "State") {
        [
            JSONSchema.Field(name: "tree", schema: .optional(Tree.schema)),
            JSONSchema.Field(name: "todos", schema: .keyed(Tree.schema)),
            JSONSchema.Field(name: "counts", schema: .annotated(.dictionary(.integer()), [])),
            JSONSchema.Field(name: "choice", schema: .oneOf([.string(), .anyOf([.array(.boolean)])])),
            JSONSchema.Field(name: "free", schema: .any),
        ]
    }

    @Test(arguments: [
        "", "/tree", "/tree/value", "/tree/children/0/children/12345678901/value", "/todos/some id/value", "/counts/x",
        "/choice/0",
        "/free/a/b/c",
    ])
    func `a path that the shape can have is accepted`(path: String) throws {
        #expect(Self.state.accepts(path: try JSONPointer(parsing: path).tokens[...]))
        #expect(Self.state.accepts(path: try JSONPointer(parsing: path).tokens[...], wildcards: true))
    }

    @Test(arguments: [
        "/x", "/tree/x", "/tree/value/0", "/tree/children/01", "/tree/children/*", "/todos/a/b", "/counts/x/y",
        "/choice/a", "/*",
    ])
    func `a path that the shape cannot have is refused`(path: String) throws {
        #expect(!Self.state.accepts(path: try JSONPointer(parsing: path).tokens[...]))
    }

    @Test(arguments: [
        ("/tree/children/*", true), ("/todos/*/value", true), ("/counts/*", true), ("/*", true), ("/*/value", true),
        ("/*/value/x", true),
        ("/tree/*", true), ("/todos/*/x", false), ("/counts/*/*", false), ("/tree/value/*", false),
    ])
    func `a wildcard stands for any one token`(path: String, accepted: Bool) throws {
        #expect(Self.state.accepts(path: try JSONPointer(parsing: path).tokens[...], wildcards: true) == accepted)
    }
}
