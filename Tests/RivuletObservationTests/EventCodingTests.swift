// Part of Rivulet. See README.md for the architecture.
// This file owns the tests of events as JSON: every form that is read, the form that is written, and the errors.

import RivuletJSON
import RivuletObservation
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
        (#""gone""#, "there is no event \"gone\"; known are increment, setCount, setLimits", ""),
        (#"{"gone":1}"#, "there is no event \"gone\"", ""),
        ("5", "expected an event", ""),
        ("{}", "found 0 keys", ""),
        (#"{"setCount":1,"increment":{}}"#, "found 2 keys", ""),
        (#"{"increment":{"a":1}}"#, "has no values", "/increment"),
        (#"{"increment":1}"#, "has no values", "/increment"),
        (#""setCount""#, "needs a value", ""),
        (#"{"setCount":"x"}"#, "expected", "/setCount"),
        (#"{"setCount":{"_0":"x"}}"#, "expected", "/setCount"),
        (#"{"setCount":{}}"#, "expected", "/setCount"),
        (#"{"setLimits":{"warnAt":1}}"#, "needs the key \"label\"", "/setLimits"),
        (#"{"setLimits":{"warnAt":"x","label":"y"}}"#, "expected", "/setLimits/warnAt"),
        (#"{"setLimits":[1,"x"]}"#, "warnAt, label", "/setLimits"),
        (#""setLimits""#, "needs the key \"warnAt\"", ""),
    ])
    func `an error says what is wrong and where`(json: String, detail: String, pointer: String) {
        let error = #expect(throws: JSONError.self) { try SampleEvent(jsonBytes: [UInt8](json.utf8)) }
        #expect(error?.isMalformed == false)
        #expect(error?.detail.contains(detail) == true, "\(error?.detail ?? "")")
        #expect(error?.pointer == pointer)
    }

    @Test
    func `malformed text is not taken for a mismatch`() {
        let error = #expect(throws: JSONError.self) { try SampleEvent(jsonBytes: [UInt8](#"{"setCount":5"#.utf8)) }
        #expect(error?.isMalformed == true)
    }

    @Test
    func `a reader that refuses unknown keys refuses them in payloads`() {
        var reader = JSONReader([UInt8](#"{"setLimits":{"warnAt":1,"label":"x","new":1}}"#.utf8))
        reader.unknownKeys = .reject
        let error = #expect(throws: JSONError.self) { try SampleEvent(json: &reader) }
        #expect(error?.kind == .unknownKey)
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
    func `an event knows its name and whether its payload is for logs`() {
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
    func `a number that JSON cannot carry is told`() {
        var writer = JSONWriter()
        SampleEvent.list([], last: .nan).encodeJSON(into: &writer)
        #expect(writer.hasUnrepresentableNumber)
    }
}
