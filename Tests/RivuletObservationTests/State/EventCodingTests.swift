// This file owns the tests of events as JSON: every accepted form, the written form, and the errors.

import RivuletJSON
import RivuletObservation
import RivuletSchema
import Testing

@Suite
struct EventCodingTests {
    static let events: [(json: String, event: SampleEvent)] = [
        (#""increment""#, .increment),
        (#"{"setCount":5}"#, .setCount(5)),
        (#"{"setLimits":{"warnAt":1,"label":"x"}}"#, .setLimits(warnAt: 1, label: "x")),
        (#"{"select":{"id":"a","scroll":false}}"#, .select(id: "a", scroll: false)),
        (#"{"pair":{"_0":1,"_1":"b"}}"#, .pair(1, "b")),
        (#"{"setNote":null}"#, .setNote(nil)),
        (#"{"setNote":"n"}"#, .setNote("n")),
        (#"{"setAddress":{"city":"x","zip":1}}"#, .setAddress(Address(city: "x", zip: 1))),
        (#"{"setTable":{"a":1}}"#, .setTable(["a": 1])),
        (#"{"setTable":{"_0":{"_0":7}}}"#, .setTable(["_0": 7])),
        (#"{"setPlain":{"x":3}}"#, .setPlain(SamplePlain(x: 3))),
        (#""default""#, .default),
        (#"{"list":{"_0":[1],"last":null}}"#, .list([1], last: nil)),
    ]

    @Test(arguments: events)
    func `an event is written in its short form and reads back`(json: String, event: SampleEvent) throws {
        #expect(event.json == json)
        #expect(try SampleEvent(jsonBytes: [UInt8](json.utf8)) == event)
    }

    @Test(arguments: [
        (#"{"increment":{}}"#, SampleEvent.increment),
        (#"{"setCount":{"_0":5}}"#, .setCount(5)),
        (#"{"setNote":{"_0":"n"}}"#, .setNote("n")),
        (#"{"setNote":{"_0":null}}"#, .setNote(nil)),
        (#"{"setNote":{}}"#, .setNote(nil)),
        (#""setNote""#, .setNote(nil)),
        (#"{"setAddress":{"_0":{"city":"x"}}}"#, .setAddress(Address(city: "x"))),
        (#"{"setAddress":{}}"#, .setAddress(Address())),
        (#"{"setTable":{"_0":7}}"#, .setTable(["_0": 7])),
        (#"{"setPlain":{"_0":{"x":3}}}"#, .setPlain(SamplePlain(x: 3))),
        (#"{"select":{"id":"a"}}"#, .select(id: "a")),
        (#"{"list":{"_0":[]}}"#, .list([], last: nil)),
        (#" { "setLimits" : {"label":"x", "new":1, "warnAt":2} } "#, .setLimits(warnAt: 2, label: "x")),
    ])
    func `other forms are read too`(json: String, event: SampleEvent) throws {
        #expect(try SampleEvent(jsonBytes: [UInt8](json.utf8)) == event)
    }

    @Test(arguments: [
        (#""gone""#, "there is no event \"gone\"; use one of increment, setCount, setLimits", ""),
        (#"{"gone":1}"#, "there is no event \"gone\"", ""),
        ("5", "expected an event", ""),
        ("{}", "found 0 keys", ""),
        (#"{"setCount":1,"increment":{}}"#, "found 2 keys", ""),
        (#"{"increment":{"a":1}}"#, "has no values", "/increment"),
        (#"{"increment":1}"#, "has no values", "/increment"),
        (#""setCount""#, "needs a value", ""),
        (#"{"setCount":"x"}"#, "expected", "/setCount"),
        (#"{"setCount":{"_0":"x"}}"#, "expected", "/setCount/_0"),
        (#"{"setAddress":{"_0":{"zip":"x"}}}"#, "expected", "/setAddress/_0/zip"),
        (#"{"setTable":{"a":"x"}}"#, "expected", "/setTable/a"),
        (#"{"setPlain":{"x":"x"}}"#, "", "/setPlain/x"),
        (#"{"setCount":{}}"#, "expected", "/setCount"),
        (#"{"setLimits":{"warnAt":1}}"#, "needs the key \"label\"", "/setLimits"),
        (#"{"setLimits":{"warnAt":"x","label":"y"}}"#, "expected", "/setLimits/warnAt"),
        (#"{"setLimits":[1,"x"]}"#, "warnAt, label", "/setLimits"),
        (#""setLimits""#, "needs the key \"warnAt\"", ""),
    ])
    func `an error has a detail and a pointer`(json: String, detail: String, pointer: String) {
        let error = #expect(throws: JSONError.self) { try SampleEvent(jsonBytes: [UInt8](json.utf8)) }
        #expect(error?.isMalformed == false)
        #expect(error?.detail.contains(detail) == true, "\(error?.detail ?? "")")
        #expect(error?.pointer == pointer)
    }

    @Test
    func `malformed text is an error of the syntax, not a mismatch`() {
        let error = #expect(throws: JSONError.self) { try SampleEvent(jsonBytes: [UInt8](#"{"setCount":5"#.utf8)) }
        #expect(error?.isMalformed == true)
    }

    @Test
    func `a reader that refuses unknown keys refuses them in payloads`() {
        var reader = JSONReader([UInt8](#"{"setLimits":{"warnAt":1,"label":"x","new":1}}"#.utf8))
        reader.unknownKeys = .reject
        let error = #expect(throws: JSONError.self) { try SampleEvent(json: &reader) }
        #expect(error?.kind == .unknownKey)
        #expect(error?.pointer == "/setLimits/new")
    }

    static let envelopes: [(json: String, event: Envelope<SampleEvent>)] = [
        (#"{"inner":"increment"}"#, .inner(.increment)),
        (#"{"batch":["increment",{"setCount":1}]}"#, .batch([.increment, .setCount(1)])),
        (#"{"again":{"again":{"inner":{"setNote":null}}}}"#, .again(.again(.inner(.setNote(nil))))),
        (#"{"setMode":{"editing":{"city":"x","zip":1}}}"#, .setMode(.editing(Address(city: "x", zip: 1)))),
        (#"{"setModes":{"_0":["idle"],"default":null}}"#, .setModes([.idle], default: nil)),
        (#"{"step":5}"#, .step(5)),
        (#"{"init":{"by":{"ids":[1]}}}"#, .`init`(by: Envelope.Plainly(ids: [1]))),
    ]

    @Test(arguments: envelopes)
    func `events that hold events, states, enums and arrays read back`(
        json: String,
        event: Envelope<SampleEvent>
    ) throws {
        #expect(event.json == json)
        #expect(try Envelope<SampleEvent>(jsonBytes: [UInt8](json.utf8)) == event)
    }

    @Test(arguments: [
        (#""step""#, Envelope<SampleEvent>.step()),
        (#"{"step":{}}"#, .step()),
        (#"{"step":{"_0":2}}"#, .step(2)),
        (#"{"setModes":{"_0":[]}}"#, .setModes([])),
        (#"{"inner":{"_0":{"setCount":{"_0":5}}}}"#, .inner(.setCount(5))),
    ])
    func `absent payload values have their defaults, and Swift's form may be nested`(
        json: String,
        event: Envelope<SampleEvent>
    ) throws {
        #expect(try Envelope<SampleEvent>(jsonBytes: [UInt8](json.utf8)) == event)
    }

    @Test(arguments: [
        (#"["step",{"move":{"x":"1","y":2}}]"#, "/1/move/x", #""1""#),
        (#"["step",  {"move":{"x":1,"z":2}}]"#, "/1/move/z", "2}}]"),
        (#"["step",{"move":{"x":1}}]"#, "/1/move", #"{"x":1}"#),
        (#"["step",{"explode":{"x":1}}]"#, "/1", #"{"explode"#),
        (#"[{"batch":["increment",{"setLimits":{"warnAt":1,"label":2}}]}]"#, "/0/batch/1/setLimits/label", "2}}]}]"),
        (#"[{"again":{"setMode":{"editing":{"zip":[]}}}}]"#, "/0/again/setMode/editing/zip", "[]}"),
        (#"[{"setModes":{"_0":["idle","gone"]}}]"#, "/0/setModes/_0/1", #""gone""#),
        (#"[{"init":{"by":{"ids":["x"]}}}]"#, "/0/init/by/ids/0", #""x""#),
    ])
    func `an error has the pointer and offset in the whole body`(json: String, pointer: String, text: String) throws {
        var reader = JSONReader([UInt8](json.utf8))
        reader.unknownKeys = .reject
        let error = #expect(throws: JSONError.self) { try [Envelope<SampleEvent>](json: &reader) }
        #expect(error?.pointer == pointer)
        let rest = json.utf8.dropFirst(error?.offset ?? 0)
        #expect(rest.starts(with: text.utf8), "\(String(rest) ?? "")")
    }

    @Test
    func `an error lists 16 names at most, and shortens a long name`() {
        let name = String(repeating: "x", count: 1000)
        let error = #expect(throws: JSONError.self) { try SampleEvent(jsonBytes: [UInt8](#"{"\#(name)":1}"#.utf8)) }
        #expect(error?.detail.hasPrefix("there is no event \"\(name.prefix(64))…\"; use one of") == true)
        let many = #expect(throws: JSONError.self) { try ManyEvents(jsonBytes: [UInt8](#""x""#.utf8)) }
        #expect(many?.detail.hasSuffix("c14, c15, c16 and 2 more") == true)
    }

    @Test
    func `events that hold themselves have a schema`() {
        let schema = Envelope<SampleEvent>.jsonSchema
        #expect(schema.document["oneOf"]?[2]?["properties"]?["again"]?["$ref"] == "#")
        #expect(schema.accepts(path: ["again", "again", "move", "x"]))
    }

    @Test
    func `the cases describe themselves`() {
        let cases = SampleEvent.eventCases
        #expect(cases.count == 11)
        #expect(cases.filter(\.isSensitive).map(\.name) == ["setNote"])
        #expect(cases[2].payload.map(\.label) == ["warnAt", "label"])
        #expect(cases[3].payload.map(\.isRequired) == [true, false])
        #expect(cases[10].payload.map(\.label) == [nil, "last"])
    }

    @Test
    func `an event has its name, and a sensitive event is marked`() {
        #expect(SampleEvent.default.eventName == "default")
        #expect(SampleEvent.setCount(1).eventName == "setCount")
        #expect(SampleEvent.setNote("x").isSensitive)
        #expect(!SampleEvent.increment.isSensitive)
    }

    @Test
    func `the schema has one shape for each case`() {
        let shapes = SampleEvent.jsonSchema.document["oneOf"]
        #expect(shapes?.elements?.count == 11)
        #expect(shapes?[0]?["const"] == "increment")
        #expect(shapes?[1]?["properties"]?["setCount"]?["type"] == "integer")
        #expect(shapes?[2]?["properties"]?["setLimits"]?["required"] == ["warnAt", "label"])
    }

    @Test
    func `a number that JSON cannot carry is reported`() {
        var writer = JSONWriter()
        SampleEvent.list([], last: .nan).encodeJSON(into: &writer)
        #expect(writer.hasUnrepresentableNumber)
    }
}
