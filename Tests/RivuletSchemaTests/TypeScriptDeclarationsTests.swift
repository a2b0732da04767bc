// This file owns the tests of schemas as TypeScript.

import RivuletJSON
import RivuletSchema
import Testing

struct TypeScriptDeclarationsTests {
    private struct Tree {
        static var schema: JSONSchema {
            .object(title: "Tree", identity: ObjectIdentifier(Tree.self)) {
                [
                    JSONSchema.Field(name: "value", schema: Int.jsonSchema),
                    JSONSchema.Field(name: "children", schema: .keyed(Tree.schema), isRequiredToRead: false),
                ]
            }
        }
    }

    private struct Other {
        static var schema: JSONSchema {
            .object(title: "Tree", identity: ObjectIdentifier(Other.self)) {
                [JSONSchema.Field(name: "tree", schema: .optional(Tree.schema))]
            }
        }
    }

    /// The text of one declaration, without the module's comment.
    private func text(_ schema: JSONSchema, direction: JSONSchema.Direction = .written) -> String {
        var types = TypeScriptDeclarations(comment: "x", names: ["T"])
        types.declare("T", schema, comment: "c", direction: direction)
        return String(types.text.dropFirst("/** x */\n\n/** c */\n".count))
    }

    /// The type of a schema: the right side of its declaration.
    private func type(_ schema: JSONSchema) -> String {
        let line = text(schema).split(separator: ";")[0]
        return String(line.dropFirst("export type T = ".count))
    }

    private func object(_ fields: JSONSchema.Field...) -> JSONSchema {
        .object(title: "T") { fields }
    }

    private func paths(_ schema: JSONSchema) -> [String] {
        var types = TypeScriptDeclarations(comment: "x", names: [])
        types.declareKeyPaths("K", of: schema, comment: "c")
        let lines = types.text.split(separator: "\n").drop { !$0.hasPrefix("    | ") }
        return lines.map { String($0.dropFirst("    | ".count)) }.map { $0.hasSuffix(";") ? String($0.dropLast()) : $0 }
    }

    @Test func `plain shapes have their types`() {
        #expect(type(.any) == "unknown")
        #expect(type(.null) == "null")
        #expect(type(.boolean) == "boolean")
        #expect(type(Int32.jsonSchema) == "number")
        #expect(type(Double.jsonSchema) == "number")
        #expect(type(.string()) == "string")
        #expect(type(.array(.integer(values: [-1, 2]))) == "(-1 | 2)[]")
        #expect(type(.constant("a\"b")) == #""a\"b""#)
        #expect(type(.array(.boolean)) == "boolean[]")
        #expect(type(.keyed(.string())) == "string[]")
        #expect(type(.dictionary(.array(.boolean))) == "Record<string, boolean[]>")
        #expect(type(.annotated(.boolean, [])) == "boolean")
        #expect(type(.array(.object(title: "") { [] })) == "Record<string, never>[]")
    }

    @Test func `unions have a line for each member and parentheses in arrays`() {
        #expect(text(.optional(.boolean)) == "export type T =\n    | boolean\n    | null;\n")
        #expect(type(.array(.optional(.boolean))) == "(boolean | null)[]")
        #expect(type(.array(.string(values: ["a", "b"]))) == #"("a" | "b")[]"#)
        #expect(type(.array(.optional(.optional(.boolean)))) == "(boolean | null)[]")
        #expect(type(.array(.oneOf([.boolean, .anyOf([.null, .boolean])]))) == "(boolean | null)[]")
        #expect(type(.array(.optional(.any))) == "unknown[]")
        #expect(type(.oneOf([])) == "never")
    }

    @Test func `a named shape is an alias that may contain itself`() {
        let expected = """
            export type T = Branch[];

            export type Branch =
                | "leaf"
                | Branch[];
            """
        #expect(text(.array(Self.branch)) == expected + "\n")
        #expect(text(Self.branch) == "export type T =\n    | \"leaf\"\n    | T[];\n")
    }

    private static var branch: JSONSchema {
        let identity = ObjectIdentifier(TypeScriptDeclarationsTests.self)
        return .named(title: "Branch", identity: identity) { .oneOf([.constant("leaf"), .array(Self.branch)]) }
    }

    @Test func `integers of 64 bits are marked by an alias that is declared once`() {
        let schema = object(
            JSONSchema.Field(name: "a", schema: Int.jsonSchema),
            JSONSchema.Field(name: "b", schema: .array(Int64.jsonSchema)),
            JSONSchema.Field(name: "c", schema: UInt64.jsonSchema)
        )
        let expected = """
            export interface T {
                a: Int64;
                b: Int64[];
                /** at least 0 */
                c: UInt64;
            }

            /** A signed integer of 64 bits: exact in JSON, but a `number` is exact only up to 2^53. */
            export type Int64 = number;

            /** An unsigned integer of 64 bits: exact in JSON, but a `number` is exact only up to 2^53. */
            export type UInt64 = number;

            """
        #expect(text(schema) == expected)
    }

    @Test func `keywords that TypeScript does not have are in comments`() {
        let bounds = [JSONSchema.Annotation("minimum", 0), JSONSchema.Annotation("maximum", 100)]
        let schema = object(
            JSONSchema.Field(name: "a", schema: .annotated(.integer(), bounds), defaultValue: { 5 }),
            JSONSchema.Field(
                name: "b",
                schema: .optional(.annotated(.string(), [JSONSchema.Annotation("maxLength", 3)]))
            ),
            JSONSchema.Field(name: "c", schema: .string(format: "date-time")),
            JSONSchema.Field(name: "d", schema: .keyed(.boolean), defaultValue: { [] }),
            JSONSchema.Field(
                name: "e",
                schema: .annotated(.any, [JSONSchema.Annotation("description", "one\n*/ two")])
            ),
            JSONSchema.Field(
                name: "f",
                schema: .annotated(.null, [JSONSchema.Annotation("x-rivulet-transient", true)])
            ),
            JSONSchema.Field(
                name: "g",
                schema: .integer(maximum: 9),
                defaultValue: { .string(String(repeating: "x", count: 99)) }
            )
        )
        let expected = #"""
            export interface T {
                /** 0...100; default 5 */
                a: number;
                /** maxLength 3 */
                b: string | null;
                /** date-time */
                c: string;
                /** addressed by id; default [] */
                d: boolean[];
                /** one *\/ two */
                e: unknown;
                /** in memory only */
                f: null;
                /** at most 9 */
                g: number;
            }

            """#
        #expect(text(schema) == expected)
    }

    @Test func `keys that are no identifiers are quoted`() {
        let names = ["a", "$b_1", "class", "1a", "a-b", "ä", "", "a\"b"]
        let schema = JSONSchema.object(title: "T") { names.map { JSONSchema.Field(name: $0, schema: .null) } }
        let keys = text(schema).split(separator: "\n").dropFirst().dropLast().map {
            $0.dropFirst(4).dropLast(": null;".count)
        }
        #expect(keys == ["a", "$b_1", "class", "\"1a\"", "\"a-b\"", "\"ä\"", "\"\"", "\"a\\\"b\""])
    }

    @Test func `each type of a nested object is an interface of its own`() {
        let expected = """
            export interface T {
                a: Tree;
                b: Tree2[];
            }

            export interface Tree {
                value: Int64;
                /** addressed by id */
                children: Tree[];
            }

            export interface Tree2 {
                tree: Tree | null;
            }

            """
        let schema = object(
            JSONSchema.Field(name: "a", schema: Tree.schema),
            JSONSchema.Field(name: "b", schema: .array(Other.schema))
        )
        #expect(text(schema).hasPrefix(expected))
    }

    @Test func `an interface's name is neither a used name nor a word of TypeScript`() {
        let titles = ["T", "Record", "Int64", "string", "Pair<Int, T>"]
        let schema = JSONSchema.oneOf(titles.map { title in .array(.object(title: title) { [] }) })
        let expected = """
            export type T =
                | T2[]
                | Record2[]
                | Int642[]
                | _string[]
                | Pair_Int_T[];
            """
        #expect(text(schema).hasPrefix(expected))
        #expect(text(schema).contains("export interface T2 {}\n"))
    }

    @Test func `the types of reading have their own interfaces with optional keys`() {
        let expected = """
            export type T = { tree: TreeInput };

            export interface TreeInput {
                value: Int64;
                /** addressed by id */
                children?: TreeInput[];
            }

            """
        let schema = JSONSchema.object(title: "") { [JSONSchema.Field(name: "tree", schema: Tree.schema)] }
        #expect(text(.annotated(schema, []), direction: .read).hasPrefix(expected))
    }

    @Test func `key paths lead through every kind of collection`() {
        let schema = object(
            JSONSchema.Field(name: "n", schema: .integer()),
            JSONSchema.Field(name: "list", schema: .array(.optional(Other.schema))),
            JSONSchema.Field(name: "map", schema: .annotated(.dictionary(.boolean), [])),
            JSONSchema.Field(name: "free", schema: .any),
            JSONSchema.Field(name: "a/`$\\~", schema: .array(.null))
        )
        #expect(
            paths(schema) == [
                #""""#, #""/n""#, #""/list""#, "`/list/${number}`", "`/list/${number}/tree`",
                "`/list/${number}/tree/value`", "`/list/${number}/tree/children`",
                "`/list/${number}/tree/children/${string}`", "`/list/${number}/tree/children/${string}/${string}`",
                #""/map""#, "`/map/${string}`", #""/free""#, "`/free/${string}`", #""/a~1`$\\~0""#,
                #"`/a~1\`\$\\~0/${number}`"#,
            ]
        )
    }

    @Test func `over 1,000 key paths become one type for any pointer`() {
        func names(_ count: Int) -> JSONSchema {
            .object(title: "T") { (0..<count).map { JSONSchema.Field(name: "f\($0)", schema: .null) } }
        }
        #expect(paths(names(999)).count == 1_000)
        #expect(paths(names(1_000)) == [#""""#, "`/${string}`"])
    }
}
