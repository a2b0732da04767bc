// This file owns the tests of the schemas of states and events: shapes, defaults, and accepted forms.

import RivuletJSON
import RivuletObservation
import RivuletSchema
import Testing

@Suite
struct StateSchemaTests {
    private typealias Generic = PublicState<Int>

    /// Two instances of one generic type, and values without a fixed default.
    @ObservableState
    struct Mixture: Sendable {
        var numbers = PublicState(value: 1)
        var texts = PublicState(value: "a")
        var serial = Serial.next()
        var infinite = Double.infinity
        var text: String? = "x"
        var required: Int
        var table = ["a": [1]]
        var chosen = if Bool(true) { 1 } else { 2 }
    }

    /// A generic state with a parameter that may not be Sendable.
    @ObservableState
    struct Loose<Value: JSONCodable & Codable> {
        var value: Value
        var values: [Value] = []
    }

    private func properties<State: ObservableState>(_ state: State.Type) -> JSONValue? {
        state.jsonSchema.document["properties"]
    }

    private func defaults<State: ObservableState>(_ state: State.Type) -> [String: JSONValue] {
        let members = properties(state)?.members ?? []
        return Dictionary(
            uniqueKeysWithValues: members.compactMap { member in
                member.value["default"].map { (member.name, $0) }
            }
        )
    }

    @Test
    func `a default is the value of the initialiser after the wrapper`() {
        #expect(
            defaults(Wrapped.self) == [
                "percent": 100, "alert": .null, "name": "",
            ]
        )
    }

    @Test
    func `the schema has a default for every kind of type`() {
        #expect(
            defaults(Profile.self) == [
                "role": "guest", "visits": 0, "address": ["city": "Bern", "zip": 3000], "default": false,
                "nickname": .null,
            ]
        )
        #expect(
            defaults(Generic.self) == [
                "values": [], "passing": .null, "plain": ["x": 1, "y": ["a": 2, "b": 1]],
                "boxed": ["x": 1, "y": ["a": 2, "b": 1]], "many": [],
            ]
        )
    }

    @Test
    func `a default that differs each time, or that JSON cannot carry, is not in the schema`() {
        let defaults = defaults(Mixture.self)
        #expect(Set(defaults.keys) == ["numbers", "texts", "text", "table", "chosen"])
        #expect(defaults["text"] == "x")
        #expect(defaults["table"] == ["a": [1]])
        #expect(defaults["chosen"] == 1)
    }

    @Test
    func `a generic state has defaults with any parameter`() {
        #expect(defaults(Loose<Int>.self) == ["values": []])
    }

    @Test
    func `two instances of one generic type are two definitions`() {
        let document = Mixture.jsonSchema.document
        #expect(document["$defs"]?.members?.map(\.name) == ["PublicState_Int", "PublicState_String"])
        #expect(document["properties"]?["texts"]?["$ref"] == "#/$defs/PublicState_String")
        #expect(document["$defs"]?["PublicState_String"]?["properties"]?["value"] == ["type": "string"])
        #expect(document["$defs"]?["PublicState_Int"]?["title"] == "PublicState<Int>")
    }

    @Test
    func `the schema has no omitted field, and marks a transient field`() {
        #expect(properties(Wrapped.self)?["secrets"] == nil)
        #expect(properties(Generic.self)?["passing"]?["x-rivulet-transient"] == true)
        #expect(properties(Generic.self)?["values"]?["x-rivulet-transient"] == nil)
    }

    @Test
    func `a type that is only Codable has any shape`() {
        #expect(properties(Generic.self)?["plain"] == ["default": ["x": 1, "y": ["a": 2, "b": 1]]])
    }

    @Test
    func `a state is valid as it is written, and every part of it is required`() throws {
        func check(_ state: some ObservableState, required: [JSONValue]) throws {
            let schema = type(of: state).jsonSchema.document
            #expect(SchemaValidator(document: schema).accepts(try JSONValue(encoding: state)))
            #expect(schema["required"] == .array(required))
            for member in try JSONValue(encoding: state).members ?? [] {
                let rest = try JSONValue(encoding: state).members?.filter { $0.name != member.name }
                #expect(!SchemaValidator(document: schema).accepts(.object(rest ?? [])), "\(member.name)")
            }
        }
        try check(Wrapped(), required: ["percent", "share", "address", "alert", "name"])
        var tree = Tree()
        tree.children = [Tree(), Tree()]
        tree.shown = Tree()
        try check(tree, required: ["name", "isOpen", "children", "shown", "ratio"])
        try check(Generic(value: 1), required: ["value", "values", "passing", "plain", "boxed", "many"])
        try check(CounterState(), required: ["p", "t"])
    }

    @Test
    func `the schema for reading requires only fields without a default, and has no bounds of wrappers`() {
        let document = Wrapped.jsonSchema.document(.read)
        #expect(document["required"] == ["share", "address"])
        #expect(document["properties"]?["percent"] == ["type": "integer", "format": "int64", "default": 100])
        #expect(Wrapped.jsonSchema.document["properties"]?["percent"]?["maximum"] == 100)
        #expect(Address.jsonSchema.document(.read)["required"] == nil)
        #expect(Profile.jsonSchema.document(.read)["required"] == ["id"])
    }

    /// Reads an event as dispatch does: unknown keys are refused.
    private func strictly(_ text: String) throws -> SampleEvent {
        var reader = JSONReader([UInt8](text.utf8))
        reader.unknownKeys = .reject
        let event = try SampleEvent(json: &reader)
        try reader.finish()
        return event
    }

    @Test(arguments: [
        #""increment""#, #"{"increment":{}}"#, #"{"increment":1}"#, #"{"increment":null}"#, #"{"increment":{"a":1}}"#,
        #""gone""#, #"{"gone":1}"#, "5", "null", "{}", "[]", #"{"setCount":1,"increment":{}}"#,
        #""setCount""#, #"{"setCount":5}"#, #"{"setCount":{"_0":5}}"#, #"{"setCount":"x"}"#, #"{"setCount":{}}"#,
        #"{"setCount":{"_0":"x"}}"#, #"{"setCount":{"_0":5,"_1":6}}"#, #"{"setCount":null}"#, #"{"setCount":1.5}"#,
        #""setNote""#, #"{"setNote":"n"}"#, #"{"setNote":null}"#, #"{"setNote":{}}"#, #"{"setNote":{"_0":null}}"#,
        #"{"setNote":{"_0":"n"}}"#, #"{"setNote":5}"#, #"{"setNote":{"_0":5}}"#,
        #"{"setAddress":{}}"#, #"{"setAddress":{"city":"x"}}"#, #"{"setAddress":{"_0":{"city":"x"}}}"#,
        #"{"setAddress":{"city":1}}"#, #"{"setAddress":"x"}"#, #""setAddress""#,
        #"{"setTable":{"a":1}}"#, #"{"setTable":{"_0":7}}"#, #"{"setTable":{"_0":{"a":7}}}"#,
        #"{"setTable":{"a":"x"}}"#,
        #"{"setLimits":{"warnAt":1,"label":"x"}}"#, #"{"setLimits":{"label":"x","new":1,"warnAt":2}}"#,
        #"{"setLimits":{"warnAt":1}}"#, #"{"setLimits":[1,"x"]}"#, #""setLimits""#,
        #"{"setLimits":{"warnAt":"x","label":"y"}}"#,
        #"{"select":{"id":"a"}}"#, #"{"select":{"id":"a","scroll":false}}"#, #"{"select":{"scroll":true}}"#,
        #""select""#,
        #"{"pair":{"_0":1,"_1":"x"}}"#, #"{"pair":{"_0":1}}"#, #"{"list":{"_0":[]}}"#,
        #"{"list":{"_0":[],"last":null}}"#,
        #"{"list":{"_0":[],"last":1.5}}"#, #"{"list":{"last":1}}"#, #"{"list":[]}"#, #""default""#, #"{"default":{}}"#,
    ])
    func `the schema of events accepts the same texts as the reader`(text: String) throws {
        let isRead =
            switch Result(catching: { try strictly(text) }) {
            case .success: true
            case .failure: false
            }
        let validator = SchemaValidator(document: SampleEvent.acceptedSchema.document(.read))
        #expect(validator.accepts(try JSONValue(parsing: text)) == isRead)
    }

    @Test(arguments: [
        SampleEvent.increment, .setCount(1), .setLimits(warnAt: 1, label: "x"), .select(id: "a"), .pair(1, "x"),
        .setNote(nil), .setAddress(Address()), .setTable(["a": 1]), .setPlain(SamplePlain()), .default,
        .list([1], last: nil),
    ])
    func `an event is valid as it is written`(event: SampleEvent) throws {
        let value = try JSONValue(encoding: event)
        #expect(SchemaValidator(document: SampleEvent.jsonSchema.document).accepts(value))
        #expect(SchemaValidator(document: SampleEvent.acceptedSchema.document(.read)).accepts(value))
    }
}

/// A number that differs each time.
enum Serial {
    static func next() -> Int { Int.random(in: .min ... .max) }
}
