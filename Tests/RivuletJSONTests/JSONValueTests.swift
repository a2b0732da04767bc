// This file owns the tests of JSON as a value and of its bridge to other coders.

import FoundationEssentials
import RivuletJSON
import SeededRandom
import Testing

struct JSONValueTests {
    private let sample: JSONValue = ["a": [1, true, .null, .number("1.50")], "b": ["c": "x\n"], "a/b": []]

    @Test func `a text and its value convert to each other`() throws {
        let text = #"{"a":[1,true,null,1.50],"b":{"c":"x\n"},"a/b":[]}"#
        #expect(sample.description == text)
        #expect(try JSONValue(parsing: text) == sample)
        #expect(try JSONValue(parsing: Array(text.utf8)) == sample)
    }

    @Test func `equality compares the order of members and the text of numbers`() throws {
        #expect(try JSONValue(parsing: #"{"a":1,"b":2}"#) != JSONValue(parsing: #"{"b":2,"a":1}"#))
        #expect(JSONValue.number("1") != JSONValue.number("1.0"))
    }

    @Test func `parts are found by key, index and pointer`() throws {
        #expect(sample["b"]?["c"] == "x\n")
        #expect(sample["a"]?[1] == true)
        #expect(sample["a"]?[4] == nil)
        #expect(sample["a"]?[-1] == nil)
        #expect(sample["z"] == nil)
        #expect(sample[0] == nil)
        #expect(sample[try JSONPointer(parsing: "/a/0")] == 1)
        #expect(sample[try JSONPointer(parsing: "/a~1b")] == [])
        #expect(sample[try JSONPointer(parsing: "")] == sample)
        #expect(sample[try JSONPointer(parsing: "/a/x")] == nil)
        #expect(sample[try JSONPointer(parsing: "/b/c/d")] == nil)
    }

    @Test func `a JSON value gives its plain values`() {
        #expect(JSONValue.bool(true).boolValue == true)
        #expect(JSONValue("x").stringValue == "x")
        #expect(JSONValue.number("12.0").integerValue == 12)
        #expect(JSONValue.number("1.5").integerValue == nil)
        #expect(JSONValue.number("1.5").doubleValue == 1.5)
        #expect(sample["a"]?.elements?.count == 4)
        #expect(sample.members?.map(\.name) == ["a", "b", "a/b"])
        #expect(sample.boolValue == nil)
        #expect(sample.stringValue == nil)
        #expect(sample.doubleValue == nil)
        #expect(sample.integerValue == nil)
        #expect(sample.elements == nil)
        #expect(JSONValue.null.members == nil)
    }

    @Test func `random values read back equal`() throws {
        for seed in 0..<2_000 {
            var random = SeededGenerator(seed: UInt64(seed))
            let value = Self.value(levels: 5, using: &random)
            #expect(try JSONValue(parsing: value.description) == value, "seed \(seed)")
        }
    }

    private static func value(levels: Int, using random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: levels > 0 ? 0...6 : 0...3, using: &random) {
        case 0: return [.null, true, false].randomElement(using: &random) ?? .null
        case 1: return .number(["0", "-1", "1.50", "2E+9"].randomElement(using: &random) ?? "7")
        case 2, 3: return .string(text(using: &random))
        case 4, 5:
            return .array(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in value(levels: levels - 1, using: &random) }
            )
        default:
            let names = Set((0..<Int.random(in: 0...20, using: &random)).map { _ in text(using: &random) })
            return .object(
                names.sorted().map { JSONValue.Member(name: $0, value: value(levels: levels - 2, using: &random)) }
            )
        }
    }

    private static func text(using random: inout SeededGenerator) -> String {
        let parts = [
            "a", "\"", "\\", "\n", "\u{0}", "/", "é", "\u{301}", "👍", "\u{FFFF}", "a longer run of plain text",
        ]
        return (0..<Int.random(in: 0...6, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
            .joined()
    }

    @Test func `any Codable value converts to a JSON value`() throws {
        #expect(try JSONValue(encoding: ["a": [1, nil]]) == ["a": [1, .null]])
    }

    @Test func `other coders read and write a JSON value`() throws {
        let text = #"{"a":[1,true,null,1.5,-2,18446744073709551615,""],"b":{"c":"x","d":{}}}"#
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(value.description == text)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == text)
    }

    @Test func `a number that no coder can hold is an encoding error`() {
        #expect(throws: EncodingError.self) { _ = try JSONEncoder().encode(JSONValue.number("1e999")) }
    }
}
