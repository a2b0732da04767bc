// This file owns the tests of the standard types' JSON.

import RivuletJSON
import RivuletSchema
import Testing

struct JSONCodableTests {
    private enum Colour: String, CaseIterable, JSONCodable {
        case red
        case green
    }

    private enum Grade: Int8, CaseIterable, JSONCodable {
        case low = -1
        case high = 1
    }

    private enum Letter: String, CaseIterable, JSONCodable {
        case a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r
    }

    private struct Level: RawRepresentable, JSONCodable, Equatable {
        let rawValue: Int

        init?(rawValue: Int) {
            guard rawValue >= 0 else { return nil }
            self.rawValue = rawValue
        }
    }

    private func text(_ value: some JSONCodable) -> String {
        String(decoding: value.jsonBytes(), as: UTF8.self)
    }

    private func at<Value: JSONCodable>(_ path: String, of value: Value) throws -> String? {
        var writer = JSONWriter()
        let pointer = try JSONPointer(parsing: path)
        guard value.encodeJSON(at: pointer.tokens[...], into: &writer) else {
            #expect(writer.bytes.isEmpty)
            return nil
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `a value that is written and read again is equal`() throws {
        func check<Value: JSONCodable & Equatable>(_ value: Value, _ expected: String) throws {
            #expect(text(value) == expected)
            #expect(try Value(jsonBytes: Array(expected.utf8)) == value)
        }
        try check(true, "true")
        try check("x", #""x""#)
        try check(2.5, "2.5")
        try check(Float(0.1), "0.1")
        try check(Int?.none, "null")
        try check(Int?.some(3), "3")
        try check([[1], [], [2, 3]], "[[1],[],[2,3]]")
        try check([String: Int](), "{}")
        try check(["a": ["b": [nil, true]]] as [String: [String: [Bool?]]], #"{"a":{"b":[null,true]}}"#)
        try check(Colour.green, #""green""#)
        try check([Level(rawValue: 4)], "[4]")
    }

    @Test func `dictionaries are written in the order of their keys`() {
        let keys = (0..<50).map { "k\($0)" }
        let value = Dictionary(uniqueKeysWithValues: keys.shuffled().map { ($0, 0) })
        #expect(text(value) == "{" + keys.sorted().map { "\"\($0)\":0" }.joined(separator: ",") + "}")
    }

    @Test func `the error of a raw value lists the known values`() {
        func detail(_ text: String, _ type: any JSONCodable.Type) -> String? {
            #expect(throws: JSONError.self) { _ = try type.init(jsonBytes: Array(text.utf8)) }?.detail
        }
        #expect(detail("[3]", [Grade].self) == "there is no Grade for 3; use one of -1, 1")
        #expect(detail("[-1]", [Level].self) == "there is no Level for -1")
        let letters = "abcdefghijklmnop".map { #""\#($0)""# }.joined(separator: ", ")
        #expect(detail(#""x""#, Letter.self) == #"there is no Letter for "x"; use one of \#(letters) and 2 more"#)
    }

    @Test func `the schema of raw values lists the cases' values`() {
        func schema(_ type: any JSONCodable.Type) -> String {
            type.jsonSchema.document.members?.dropFirst().map { "\($0.name) \($0.value)" }.joined(separator: ", ") ?? ""
        }
        #expect(schema(Colour.self) == #"type "string", enum ["red","green"]"#)
        #expect(schema(Grade.self) == #"type "integer", enum [-1,1]"#)
        #expect(schema(Grade?.self) == #"anyOf [{"type":"integer","enum":[-1,1]},{"type":"null"}]"#)
        #expect(schema(Level.self) == #"type "integer", format "int64""#)
    }

    @Test func `a raw value without a case is a mismatch`() {
        let colour = JSONError(
            kind: .mismatch,
            offset: 7,
            pointer: "/1",
            detail: #"there is no Colour for "blue"; use one of "red", "green""#
        )
        #expect(throws: colour) { _ = try [Colour](jsonBytes: Array(#"["red","blue"]"#.utf8)) }
        #expect(throws: JSONError(kind: .mismatch, detail: "there is no Level for -1")) {
            _ = try Level(jsonBytes: Array("-1".utf8))
        }
    }

    @Test func `the value at a path is written alone`() throws {
        let value: [String: [[String: Int]?]] = ["a": [["x": 1], nil, ["y": 2]], "": []]
        #expect(try at("", of: value) == #"{"":[],"a":[{"x":1},null,{"y":2}]}"#)
        #expect(try at("/", of: value) == "[]")
        #expect(try at("/a/0", of: value) == #"{"x":1}"#)
        #expect(try at("/a/1", of: value) == "null")
        #expect(try at("/a/2/y", of: value) == "2")
    }

    @Test(arguments: ["/b", "/a/3", "/a/-", "/a/00", "/a/x", "/a/1/x", "/a/0/z", "/a/0/x/0"])
    func `a path without a value writes nothing`(path: String) throws {
        let value: [String: [[String: Int]?]] = ["a": [["x": 1], nil, ["y": 2]]]
        #expect(try at(path, of: value) == nil)
    }

    @Test func `only optionals may be absent`() {
        #expect(Int?.jsonAbsent == .some(nil))
        #expect(Int.jsonAbsent == nil)
        #expect([Int].jsonAbsent == nil)
    }

    @Test func `text after the value is malformed`() {
        #expect(throws: JSONError(kind: .malformed, offset: 2, detail: #"expected nothing more, found "2""#)) {
            _ = try Int(jsonBytes: Array("1 2".utf8))
        }
    }
}
