// This file owns the tests of texts that the reader accepts, and of its calls for structures.

import RivuletJSON
import Testing

struct JSONReaderTests {
    @Test(arguments: [
        "null", " true ", "\t\r\nfalse", "0", "-0", "-0.0", "10", "0.5", "1e5", "1E+5", "1e-5", "0e0", "-1.25E-2",
        "1e400",
        #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u0000\u00e9\uD83D\uDC4D""#, "\"é\u{7F}\u{2028}👍\"", "[]", "[ ]",
        "{}",
        "{ }", "[1,[2,{}]]", #"{"a":1,"b":[],"":null}"#, #" { "a" : [ 1 , 2 ] , "b" : { } } "#, #"{"é":1,"e":2}"#,
        "123456789012345678901234567890", #"[1e999999999999999999999,0.0000000000000000000000000001]"#,
    ])
    func `valid text is accepted`(text: String) throws {
        try JSONReader.validate(Array(text.utf8))
    }

    @Test func `the exact bytes of a value can be captured`() throws {
        var reader = JSONReader(Array(#" [ {"a" : [1, 2] } , "x" ] "#.utf8))
        var captured: [String] = []
        try reader.array { (_, reader) throws(JSONError) in
            captured.append(String(decoding: try reader.capture(), as: UTF8.self))
        }
        try reader.finish()
        #expect(captured == [#"{"a" : [1, 2] }"#, #""x""#])
    }

    @Test func `the offsets in a slice start at the slice`() throws {
        let bytes = Array("xx[1,2]yy".utf8)
        var reader = JSONReader(bytes[2..<7])
        #expect(try [Int](json: &reader) == [1, 2])
        try reader.finish()
        var faulty = JSONReader(bytes[3...])
        #expect(throws: JSONError(kind: .malformed, offset: 1, detail: #"expected nothing more, found ",""#)) {
            _ = try faulty.integer(Int.self)
            try faulty.finish()
        }
    }

    @Test(arguments: [
        ("null", JSONKind.null), (" true", .bool), ("false", .bool), ("-1", .number), ("7", .number), ("\"", .string),
        ("[", .array),
        ("\n{", .object),
    ])
    func `the kind of a value is known before it is read`(text: String, kind: JSONKind) throws {
        let reader = JSONReader(Array(text.utf8))
        #expect(try reader.peek() == kind)
        #expect(try reader.peek() == kind)
    }

    @Test func `members come in the order of the text`() throws {
        var reader = JSONReader(Array(#"{"b":1,"a":2,"\u0063":3}"#.utf8))
        var members: [String] = []
        try reader.object { (key, reader) throws(JSONError) in
            members.append("\(key)=\(try reader.integer(Int.self))")
        }
        #expect(members == ["b=1", "a=2", "c=3"])
    }

    @Test func `values that a closure leaves unread are skipped`() throws {
        var reader = JSONReader(Array(#"{"a":{"x":[1]},"b":[[],2,"]"],"c":3}"#.utf8))
        var last = 0
        try reader.object { (key, reader) throws(JSONError) in
            switch key {
            case "b": try reader.array { (_, _) throws(JSONError) in }
            case "c": last = try reader.integer()
            default: break
            }
        }
        try reader.finish()
        #expect(last == 3)
    }

    @Test func `unknown keys are skipped or refused`() throws {
        func read(_ unknownKeys: JSONReader.UnknownKeys) throws(JSONError) {
            var reader = JSONReader(Array(#"{"a":{"x":[1]}}"#.utf8))
            reader.unknownKeys = unknownKeys
            try reader.object { (key, reader) throws(JSONError) in try reader.unknownKey(key) }
        }
        try read(.ignore)
        let expected = JSONError(kind: .unknownKey, offset: 5, pointer: "/a", detail: #"the key "a" is not known here"#)
        #expect(throws: expected) { try read(.reject) }
    }

    @Test func `a failed read by a copy does not change the reader`() throws {
        var reader = JSONReader(Array(#"[{"a":"x"}]"#.utf8))
        try reader.array { (_, reader) throws(JSONError) in
            var attempt = reader
            #expect(throws: JSONError.self) { _ = try [String: Int](json: &attempt) }
            #expect(try [String: String](json: &reader) == ["a": "x"])
        }
        try reader.finish()
    }

    @Test func `the deepest nesting is accepted, and one level more is refused`() throws {
        let arrays = { (depth: Int) in
            Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
        }
        try JSONReader.validate(arrays(JSONReader.depthMax))
        let error = #expect(throws: JSONError.self) { try JSONReader.validate(arrays(JSONReader.depthMax + 1)) }
        #expect(error?.kind == .tooDeep)
        #expect(error?.offset == 128)
        let objects = String(repeating: #"{"a":"#, count: 129) + "1" + String(repeating: "}", count: 129)
        #expect(throws: JSONError.self) { try JSONReader.validate(Array(objects.utf8)) }
    }

    @Test func `siblings do not add to the depth`() throws {
        let text = "[" + Array(repeating: "[[{}]]", count: 300).joined(separator: ",") + "]"
        try JSONReader.validate(Array(text.utf8))
    }

    @Test(arguments: [2, 15, 16, 17, 18, 40])
    func `a repeated key is refused among few keys and among many`(count: Int) throws {
        let keys = (0..<count).map { #""k\#($0)":{"k0":0,"k1":[]}"# }
        try JSONReader.validate(Array("{\(keys.joined(separator: ","))}".utf8))
        for repeated in [0, count / 2, count - 1] {
            let text = #"{\#(keys.joined(separator: ",")),"k\#(repeated)":1}"#
            let error = #expect(throws: JSONError.self) { try JSONReader.validate(Array(text.utf8)) }
            #expect(error?.kind == .duplicateKey)
            #expect(error?.detail == #"the key "k\#(repeated)" occurs twice"#)
        }
    }

    @Test func `keys that are equal by escape are duplicates`() {
        let error = #expect(throws: JSONError.self) { try JSONReader.validate(Array(#"{"a":1,"\u0061":2}"#.utf8)) }
        #expect(error?.kind == .duplicateKey)
    }

    @Test(arguments: [0, 40])
    func `keys that Swift compares as equal are two keys if their bytes differ`(others: Int) throws {
        let more = (0..<others).map { #""k\#($0)":0,"# }.joined()
        let text = #"{\#(more)"\u00e9":1,"e\u0301":{"\u00e9":2}}"#
        try JSONReader.validate(Array(text.utf8))
        let value = try JSONValue(parsing: text)
        #expect(value["\u{e9}"] == 1)
        #expect(value[try JSONPointer(parsing: "/e\u{301}/\u{e9}")] == 2)
        #expect(value[try JSONPointer(parsing: "/\u{e9}/\u{e9}")] == nil)
        #expect(value != JSONValue.object((value.members ?? []).dropLast() + [.init(name: "\u{e9}", value: 3)]))
        let twice = #"{\#(more)"\u00e9":1,"e\u0301":2,"e\u0301":3}"#
        let error = #expect(throws: JSONError.self) { try JSONReader.validate(Array(twice.utf8)) }
        #expect(error?.kind == .duplicateKey)
    }

    @Test(arguments: [0, 40])
    func `keys that Swift compares as equal are refused for a Swift dictionary`(others: Int) throws {
        let more = (0..<others).map { #""k\#($0)":0,"# }.joined()
        let text = Array(#"[{\#(more)"\u00e9":1,"e\u0301":2}]"#.utf8)
        let error = #expect(throws: JSONError.self) { try [[String: Int]](jsonBytes: text) }
        #expect(error?.kind == .mismatch)
        #expect(error?.pointer.utf8.elementsEqual("/0/e\u{301}".utf8) == true)
        #expect(error?.detail.contains("write it once") == true)
        var reader = JSONReader(text)
        let codable = #expect(throws: JSONError.self) { try CodableJSON.decode([[String: Int]].self, from: &reader) }
        #expect(codable?.kind == .mismatch)
        #expect(codable?.pointer.utf8.elementsEqual("/0/e\u{301}".utf8) == true)
    }

    @Test func `a dictionary is read at a path by the bytes of its keys`() {
        var writer = JSONWriter()
        #expect(["\u{e9}": 1].encodeJSON(at: ["\u{e9}"], into: &writer))
        #expect(!["\u{e9}": 1].encodeJSON(at: ["e\u{301}"], into: &writer))
    }

    @Test func `pointers are equal when their tokens have the same bytes`() {
        let (composed, decomposed) = (JSONPointer(tokens: ["\u{e9}"]), JSONPointer(tokens: ["e\u{301}"]))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, JSONPointer(tokens: ["\u{e9}"])]).count == 2)
        #expect(!composed.isPrefix(of: decomposed))
        #expect(composed.isPrefix(of: JSONPointer(tokens: ["\u{e9}", "a"])))
    }

    @Test func `every proper prefix of a valid text is malformed`() throws {
        let bytes = Array(#"{"a":[true,false,null,-1.5e+3,"x\u00e9\uD83D\uDC4D\n"],"b":{"c":"é"}}"#.utf8)
        try JSONReader.validate(bytes)
        for count in 0..<bytes.count {
            let error = #expect(throws: JSONError.self) { try JSONReader.validate(Array(bytes.prefix(count))) }
            #expect(error?.kind == .malformed, "cut to \(count)")
        }
    }

    @Test func `no change of one byte makes the reader stop the process`() {
        let bytes = Array(#"{"a":[true,-1.5e+3,"x\u00e9\uD83D\uDC4D\n"],"b":{"c":"é"}}"#.utf8)
        var taken = 0
        for index in bytes.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = bytes
                changed[index] = byte
                do {
                    let value = try JSONValue(parsing: changed)
                    #expect(try JSONValue(parsing: value.jsonBytes()) == value)
                    taken += 1
                } catch {
                    #expect(error.isMalformed)
                }
            }
        }
        #expect(taken > bytes.count)
    }
}
