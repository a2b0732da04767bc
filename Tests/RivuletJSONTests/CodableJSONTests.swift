// This file owns the tests of types that are only Codable, and of dates and data.

import FoundationEssentials
import RivuletJSON
import RivuletSchema
import SeededRandom
import Testing

struct CodableJSONTests {
    private struct Note: Codable, Equatable {
        var text: String
        var size: Double
        var created: Date
        var data: Data?
    }

    private enum Kind: String, Codable, CaseIterable { case tea, coffee }

    private enum Size: UInt64, Codable, CaseIterable { case small = 1, huge = 18_446_744_073_709_551_615 }

    private enum Bare: String, Codable { case one }

    /// An enum that writes a text other than its raw value.
    private enum Loud: String, Codable, CaseIterable {
        case a, b

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rawValue.uppercased())
        }
    }

    private enum Shape: Codable, CaseIterable { case round, square }

    private enum Command: Codable { case go, speed(Int) }

    private struct Mix: Codable {
        var text: String?
        var flag: Bool?
        var small: UInt8?
        var size: Double?
        var amount: Decimal?
        var list: [[Int]]?
        var map: [String: Command]?
        var range: ClosedRange<Int>?
        var own: Own?
        var dated: [Date]?
        var parts: Parts?
    }

    /// A struct with coding keys that also have numbers.
    ///
    /// The numbers are not in the text.
    private struct Parts: Codable {
        var first: String?

        private enum CodingKeys: Int, CodingKey { case first }
    }

    /// A struct that always fails to decode, with the decoded text as the reason.
    private struct Own: Codable {
        init() {}

        init(from decoder: any Decoder) throws {
            let words = try decoder.singleValueContainer().decode(String.self)
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: words)
            throw words.isEmpty
                ? DecodingError.dataCorrupted(context) : DecodingError.typeMismatch(String.self, context)
        }
    }

    private struct Many: RawRepresentable, Codable, CaseIterable {
        static var allCases: LazyMapSequence<ClosedRange<Int>, Many> { (0...Int.max - 1).lazy.map(Many.init) }
        var rawValue: Int
    }

    private func encode(_ value: some Encodable) -> JSONWriter {
        var writer = JSONWriter()
        CodableJSON.encode(value, into: &writer)
        return writer
    }

    @Test func `a Codable value is written with ordered keys and reads back`() throws {
        let created = try Date(jsonBytes: Array(#""2026-11-21T05:34:12.25Z""#.utf8))
        let note = Note(text: "a/b", size: 1.5, created: created, data: Data([0xFB, 0xFF]))
        let text = #"{"created":"2026-11-21T05:34:12.250Z","data":"+/8=","size":1.5,"text":"a/b"}"#
        #expect(String(decoding: encode(note).bytes, as: UTF8.self) == text)
        var reader = JSONReader(Array(text.utf8))
        #expect(try CodableJSON.decode(Note.self, from: &reader) == note)
        try reader.finish()
    }

    @Test func `the schema of a Codable type follows from its cases`() {
        func keywords(_ type: any Codable.Type) -> String {
            let keywords = CodableJSON.jsonSchema(of: type).document.members?.dropFirst() ?? []
            return keywords.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
        }
        let kind = #"{"type":"string","enum":["tea","coffee"]}"#
        #expect(keywords(Kind.self) == #"type "string", enum ["tea","coffee"]"#)
        #expect(keywords(Kind?.self) == #"anyOf [\#(kind),{"type":"null"}]"#)
        #expect(keywords([[Kind]].self) == #"type "array", items {"type":"array","items":\#(kind)}"#)
        #expect(keywords([String: Kind].self) == #"type "object", additionalProperties \#(kind)"#)
        #expect(keywords(Size.self) == #"type "integer", enum [1,18446744073709551615]"#)
        #expect(keywords(Loud.self) == #"type "string", enum ["A","B"]"#)
        #expect(keywords(Bare.self) == #"type "string""#)
        #expect(keywords(Many.self) == #"type "integer", format "int64""#)
        for type: any Codable.Type in [Shape.self, Note.self, [Note].self, Note?.self, [Int: Kind].self] {
            #expect(keywords(type) == "", "\(type)")
        }
    }

    @Test func `the error of an unknown value lists the known values`() {
        var reader = JSONReader(Array(#"["tea","juice"]"#.utf8))
        let error = #expect(throws: JSONError.self) { _ = try CodableJSON.decode([Kind].self, from: &reader) }
        #expect(error?.detail.hasSuffix(#"; use one of "tea", "coffee""#) == true)
        #expect(error?.pointer == "/1")
    }

    @Test func `a path leads to a part of a value by its written form`() throws {
        func part(_ path: String, of value: some Encodable) throws -> String? {
            var writer = JSONWriter()
            let isThere = CodableJSON.encode(value, at: try JSONPointer(parsing: path).tokens[...], into: &writer)
            return isThere ? String(decoding: writer.bytes, as: UTF8.self) : nil
        }
        #expect(try part("", of: Kind.tea) == #""tea""#)
        #expect(try part("/0", of: Kind.tea) == nil)
        #expect(try part("/1", of: [Kind.tea, .coffee]) == #""coffee""#)
        #expect(try part("/a~1b", of: ["a/b": Loud.a]) == #""A""#)
        #expect(try part("/2", of: [Kind.tea, .coffee]) == nil)
    }

    @Test func `a Codable value is an element of a larger text`() {
        var writer = JSONWriter()
        writer.beginArray()
        CodableJSON.encode(1, into: &writer)
        CodableJSON.encode(["x"], into: &writer)
        writer.endArray()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"[1,["x"]]"#)
    }

    @Test func `a value that JSON cannot carry is written as null and reported`() {
        let writer = encode(Note(text: "", size: .nan, created: Date(timeIntervalSince1970: 0), data: nil))
        #expect(writer.bytes == Array("null".utf8))
        #expect(writer.hasUnrepresentableNumber)
        #expect(encode(Date.distantFuture.addingTimeInterval(1e12)).hasUnrepresentableNumber)
    }

    @Test(arguments: [
        (#"[{"size":1,"created":"2026-11-21T05:34:12Z"}]"#, JSONError.Kind.missing, "/0", 1),
        (#"[{"text":1,"size":1,"created":"2026-11-21T05:34:12Z"}]"#, .mismatch, "/0/text", 9),
        (#"[{"text":"","size":1,"created":"yesterday"}]"#, .mismatch, "/0/created", 31),
        (#"[{"text":"","size":1,]"#, .malformed, "/0/size", 21),
        (#"[{"text":"","text":""}]"#, .duplicateKey, "/0/text", 12),
    ])
    func `an error has its pointer and offset`(text: String, kind: JSONError.Kind, pointer: String, offset: Int) {
        var reader = JSONReader(Array(text.utf8))
        let error = #expect(throws: JSONError.self) {
            try reader.array { (_, reader) throws(JSONError) in _ = try CodableJSON.decode(Note.self, from: &reader) }
        }
        #expect(error?.kind == kind)
        #expect(error?.pointer == pointer)
        #expect(error?.offset == offset)
    }

    @Test(arguments: [
        (#"{"text":5}"#, "/text", "5", "expected a string, found a number"),
        (#"{"flag": "5"}"#, "/flag", #""5""#, "expected a boolean, found a string"),
        (#"{"flag":0,"small":1}"#, "/flag", "0", "expected a boolean, found a number"),
        (#"{"small":true}"#, "/small", "true", "expected an integer, found a boolean"),
        (#"{"small":300}"#, "", "{", "a value in it cannot be read, such as a number that does not fit its type"),
        (#"{"size":[1]}"#, "/size", "[1]", "expected a number, found an array"),
        (#"{"amount":"1.10"}"#, "/amount", #""1.10""#, "expected a number, found a string"),
        (#"{"list":[[1], [2 , null]]}"#, "/list/1/1", "null", "expected an integer, found null"),
        (#"{"list":[[1], {"0":2}]}"#, "/list/1", #"{"0""#, "expected an array, found an object"),
        (#"{"map":[1]}"#, "/map", "[", "expected an object, found an array"),
        (
            #"{"map":{"a/b":{"sped":5}}}"#, "/map/a~1b", #"{"sped""#,
            "expected an object with one key, the name of a case of Command"
        ),
        (#"{"map":{"a":{"speed":5}}}"#, "/map/a/speed", "5}", "expected an object, found a number"),
        (#"{"map":{"a":{"speed":{}}}}"#, "/map/a/speed", "{}", #"the key "_0" is missing"#),
        (#"{"range":[5]}"#, "/range/1", "{", "the array has too few elements"),
        (#"{"own":"\u0061 fault"}"#, "/own", #""\u0061"#, "a fault"),
        (#"{"own":""}"#, "/own", #"""}"#, "its type does not accept this value"),
        (#"{"dated":["1970-01-01T00:00:00Z",0]}"#, "/dated/1", "0]", "expected a string, found a number"),
        (#"{"parts":{"first":1}}"#, "/parts/first", "1", "expected a string, found a number"),
        ("5", "", "5", "expected an object, found a number"),
    ])
    func `an error of Foundation has the reader's detail, pointer and offset`(
        text: String,
        pointer: String,
        fault: String,
        detail: String
    ) {
        let body = "[null, \(text)]"
        var reader = JSONReader(Array(body.utf8))
        let error = #expect(throws: JSONError.self) {
            try reader.array { (index, reader) throws(JSONError) in
                if index == 1 { _ = try CodableJSON.decode(Mix.self, from: &reader) }
            }
        }
        #expect(error?.detail == detail)
        #expect(error?.pointer == "/1" + pointer)
        let rest = body.utf8.dropFirst(error?.offset ?? 0)
        #expect(rest.starts(with: fault.utf8), "\(String(rest) ?? "")")
    }

    @Test(arguments: [
        ("2026-11-21T05:34:12Z", 1_795_239_252.0, "2026-11-21T05:34:12Z"),
        ("2026-11-21t06:34:12.123+01:00", 1_795_239_252.123, "2026-11-21T05:34:12.123Z"),
        ("2026-11-20T22:04:12.123456-07:30", 1_795_239_252.123456, "2026-11-21T05:34:12.123456Z"),
        ("1970-01-01T00:00:00z", 0.0, "1970-01-01T00:00:00Z"),
        ("1969-12-31T23:59:59.5Z", -0.5, "1969-12-31T23:59:59.500Z"),
        ("2000-02-29T00:00:00Z", 951_782_400.0, "2000-02-29T00:00:00Z"),
        ("0000-01-01T00:00:00Z", -62_167_219_200.0, "0000-01-01T00:00:00Z"),
        ("0000-03-01T00:00:00Z", -62_162_035_200.0, "0000-03-01T00:00:00Z"),
        ("9999-12-31T23:59:59Z", 253_402_300_799.0, "9999-12-31T23:59:59Z"),
        ("2001-01-01T00:00:00.000000001Z", 978_307_200.0, "2001-01-01T00:00:00.000000001Z"),
    ])
    func `dates are read with any zone and written in UTC`(text: String, since1970: Double, normal: String) throws {
        let date = try Date(jsonBytes: Array("\"\(text)\"".utf8))
        #expect(abs(date.timeIntervalSince1970 - since1970) < 1e-6)
        #expect(String(decoding: date.jsonBytes(), as: UTF8.self) == "\"\(normal)\"")
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T05:34:12", "2026-11-21 05:34:12Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2016-12-31T23:59:60Z",
        "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00Zx", "+2026-01-01T00:00:00Z", "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01",
        "2026-1-01T00:00:00Z",
    ])
    func `texts in other forms are refused as dates`(text: String) {
        let error = #expect(throws: JSONError.self) { _ = try Date(jsonBytes: Array("\"\(text)\"".utf8)) }
        #expect(error?.kind == .mismatch)
    }

    @Test func `a UUID is read in any case and written in lower case`() throws {
        let text = "3f2b1c4d-aaaa-4bbb-8ccc-0123456789ab"
        for spelling in [text, text.uppercased()] {
            let uuid = try UUID(jsonBytes: Array("\"\(spelling)\"".utf8))
            #expect(String(decoding: uuid.jsonBytes(), as: UTF8.self) == "\"\(text)\"")
        }
        let error = #expect(throws: JSONError.self) { _ = try UUID(jsonBytes: Array(#""3f2b""#.utf8)) }
        #expect(error?.detail == #"expected a UUID, found "3f2b""#)
        #expect(
            UUID.jsonSchema.document == [
                "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string", "format": "uuid",
            ]
        )
    }

    @Test func `every day of eight centuries reads back`() throws {
        for day in stride(from: -150_000, to: 150_000, by: 7) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 3_599)
            #expect(try Date(jsonBytes: date.jsonBytes()) == date)
        }
    }

    @Test func `random dates read back exactly`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<10_000 {
            let date = Date(timeIntervalSinceReferenceDate: Double.random(in: 1e8...2e9, using: &random))
            #expect(try Date(jsonBytes: date.jsonBytes()) == date)
        }
    }

    @Test func `many texts are read together, and all are refused if one of them is wrong`() {
        func read(_ texts: String...) -> [[Int]]? {
            CodableJSON.decode([Int].self, fromEach: texts.map { Array($0.utf8) })
        }
        #expect(read() == [])
        #expect(read("[1]", " [] ", "[2,3]") == [[1], [], [2, 3]])
        #expect(read("[1]", "true") == nil)
        #expect(read("[1]", "") == nil)
        // The joined texts would be two arrays.
        #expect(read("[1", "2],[3]") == nil)
    }

    @Test func `data is base64`() throws {
        #expect(String(decoding: Data([1, 2, 3, 4]).jsonBytes(), as: UTF8.self) == #""AQIDBA==""#)
        #expect(try Data(jsonBytes: Array(#""AQIDBA==""#.utf8)) == Data([1, 2, 3, 4]))
        #expect(throws: JSONError(kind: .mismatch, detail: "expected base64 text")) {
            _ = try Data(jsonBytes: Array(#""AQI*""#.utf8))
        }
    }

    @Test func `the schemas of dates and data have their formats`() {
        #expect(Date.jsonSchema.document["format"] == "date-time")
        #expect(Data.jsonSchema.document["contentEncoding"] == "base64")
    }
}
