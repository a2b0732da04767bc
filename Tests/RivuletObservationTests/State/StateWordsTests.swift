// This file owns the tests of enums with raw values in states and events: their words in schemas, types, key paths and
// errors.

import RivuletJSON
import RivuletObservation
import RivuletSchema
import Testing

@Suite
struct StateWordsTests {
    /// The simplest form of an enum: only Codable.
    enum Drink: String, Codable, CaseIterable, Sendable { case tea, coffee }

    enum Size: Int, JSONCodable, Codable, CaseIterable, Sendable { case small = 1, large }

    /// An enum with words that no code can list.
    enum Mood: String, Codable, Sendable { case calm, wild }

    @ObservableState
    struct Order: Equatable, Sendable {
        var drink = Drink.tea
        var size = Size.small
        var mood = Mood.calm
        var second: Drink?
        var all: [Drink] = [.tea, .coffee]
        var byGuest: [String: Drink] = ["ann": .coffee]
        @ObservableStateWrapper(Box<Drink>.self)
        @ObservationStateIgnored
        var boxed: Drink = .tea
        @ObservableStateWrapper(Box<[Size]>.self)
        @ObservationStateIgnored
        var sizes: [Size] = []
        var stage = Stage.open
    }

    @ObservableState
    enum Stage: Equatable, Sendable {
        case open
        case made(Drink)
        case served(Drink, at: Size)
    }

    @AppEvent
    enum Event: Equatable {
        case pick(Drink)
        case resize(Size, drink: Drink? = nil)
        case feel(Mood)
    }

    private static let drinks: JSONValue = ["type": "string", "enum": ["tea", "coffee"]]
    private static let sizes: JSONValue = ["type": "integer", "enum": [1, 2]]

    private func schema(_ field: String) -> JSONValue? {
        let members = Order.jsonSchema.document["properties"]?[field]?.members?.filter { $0.name != "default" }
        return members.map(JSONValue.object)
    }

    @Test
    func `fields of all kinds list the words in their schema`() {
        let drinks = Self.drinks
        #expect(schema("drink") == drinks)
        #expect(schema("boxed") == drinks)
        #expect(schema("size") == Self.sizes)
        #expect(schema("mood") == ["type": "string"])
        #expect(schema("second") == ["anyOf": [drinks, ["type": "null"]]])
        #expect(schema("all") == ["type": "array", "items": drinks])
        #expect(schema("byGuest") == ["type": "object", "additionalProperties": drinks])
        #expect(schema("sizes") == ["type": "array", "items": Self.sizes])
        #expect(Order.jsonSchema.document["$defs"]?["Stage"]?["oneOf"]?[1]?["properties"]?["made"] == drinks)
    }

    @Test
    func `events list the words in their schema`() {
        let schemas = Event.eventCases.map { $0.schema.document["properties"] }
        #expect(schemas[0] == ["pick": Self.drinks])
        #expect(schemas[1]?["resize"]?["properties"]?["_0"] == Self.sizes)
        #expect(schemas[1]?["resize"]?["properties"]?["drink"] == ["anyOf": [Self.drinks, ["type": "null"]]])
        #expect(schemas[2] == ["feel": ["type": "string"]])
    }

    @Test
    func `TypeScript has the words as unions, and no path leads below a word`() {
        var types = TypeScriptDeclarations(comment: "x", names: ["Order", "KeyPath"])
        types.declare("Order", Order.jsonSchema, comment: "o")
        types.declareKeyPaths("KeyPath", of: Order.jsonSchema, comment: "k")
        let lines = types.text.split(separator: "\n").map { $0.drop { $0 == " " } }
        for line in [
            #"drink: "tea" | "coffee";"#, "size: 1 | 2;", "mood: string;", #"second: "tea" | "coffee" | null;"#,
            #"all: ("tea" | "coffee")[];"#, #"byGuest: Record<string, "tea" | "coffee">;"#,
            #"boxed: "tea" | "coffee";"#,
        ] {
            #expect(lines.contains(line[...]), "\(line)")
        }
        let paths = lines.filter { $0.contains(#"| "/"#) || $0.contains("| `/") }.map { $0.dropFirst(3).dropLast() }
        #expect(
            paths.map { $0.hasSuffix("\"") || $0.hasSuffix("`") ? $0.dropLast() : $0 } == [
                "/drink", "/size", "/mood", "/second", "/all", "/all/${number}", "/byGuest", "/byGuest/${string}",
                "/boxed", "/sizes", "/sizes/${number}", "/stage", "/stage/made", "/stage/served", "/stage/served/_0",
                "/stage/served/at",
            ]
        )
    }

    @Test(arguments: [
        ("/drink", #""tea""#), ("/second", "null"), ("/all/1", #""coffee""#), ("/byGuest/ann", #""coffee""#),
        ("/boxed", #""tea""#), ("/stage/served/at", "2"), ("/all/2", nil), ("/byGuest/bob", nil),
        ("/stage/made", nil),
    ])
    func `a path that the schema accepts leads to its value, or to no value`(path: String, value: String?) throws {
        let order = Order(stage: .served(.tea, at: .large))
        let tokens = try JSONPointer(parsing: path).tokens
        #expect(Order.jsonSchema.accepts(path: tokens[...]))
        var writer = JSONWriter()
        #expect(order.encodeJSON(at: tokens[...], into: &writer) == (value != nil))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == value ?? "")
    }

    @Test(arguments: ["/drink/x", "/mood/x", "/size/0", "/boxed/x", "/all/0/x", "/stage/made/x"])
    func `the schema refuses a path below a word`(path: String) throws {
        #expect(!Order.jsonSchema.accepts(path: try JSONPointer(parsing: path).tokens[...]))
    }

    @Test(arguments: [
        (#"{"pick":"juice"}"#, #"use one of "tea", "coffee""#, "/pick"),
        (#"{"pick":{"_0":"juice"}}"#, #"use one of "tea", "coffee""#, "/pick/_0"),
        (#"{"resize":{"_0":3}}"#, "there is no Size for 3; use one of 1, 2", "/resize/_0"),
        (#"{"resize":{"_0":1,"drink":"juice"}}"#, #"use one of "tea", "coffee""#, "/resize/drink"),
    ])
    func `the error of an event lists the words`(json: String, detail: String, pointer: String) {
        let error = #expect(throws: JSONError.self) { try Event(jsonBytes: [UInt8](json.utf8)) }
        #expect(error?.detail.hasSuffix(detail) == true, "\(error?.detail ?? "")")
        #expect(error?.pointer == pointer)
    }

    @Test
    func `the error of a state lists the words`() {
        for json in [#"{"drink":"juice"}"#, #"{"boxed":"juice"}"#, #"{"all":["juice"]}"#, #"{"second":"juice"}"#] {
            let error = #expect(throws: JSONError.self) { try Order(jsonBytes: [UInt8](json.utf8)) }
            #expect(error?.detail.hasSuffix(#"; use one of "tea", "coffee""#) == true, "\(json)")
        }
    }
}
