// This file owns the tests of texts that the reader refuses, with the positions and messages of the errors.

import RivuletJSON
import Testing

struct JSONReaderErrorTests {
    private func error(_ text: String) -> JSONError? {
        #expect(throws: JSONError.self) { try JSONReader.validate(Array(text.utf8)) }
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("nul", 3), ("nulL", 3), ("tru ", 3), ("True", 0), ("NaN", 0), ("Infinity", 0),
        ("-Infinity", 1),
        ("'a'", 0), ("01", 1), ("-01", 2), ("00", 1), ("+1", 0), (".5", 0), ("1.", 2), ("1.e5", 2), ("1e", 2),
        ("1e+", 3), ("-", 1),
        ("1 2", 2), ("0x10", 1), ("1_000", 1), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("[1", 2), ("[", 1), ("]", 0),
        ("[1}", 2),
        (#"{"a":1,}"#, 7), ("{,}", 1), (#"{"a"}"#, 4), (#"{"a" 1}"#, 5), (#"{"a":}"#, 5), ("{a:1}", 1), ("{1:1}", 1),
        (#"{"a":1 "b":2}"#, 7), (#"{"a":1]"#, 6), ("{", 1), (#"{"a":"#, 5), ("[]x", 2), ("// c\n1", 0), ("[1/* */]", 2),
        (#""a"#, 2), ("\"a\nb\"", 2), ("\"\u{0}\"", 1), (#""\x""#, 2), (#""\u12G4""#, 5), (#""\u12"#, 5), (#""\"#, 2),
        (#""\uD800""#, 1), (#""\uDC00""#, 1), (#""\uD800\n""#, 1), (#""\uD800\uD800""#, 1), (#""\uD83Dx""#, 1),
        ("\u{FEFF}1", 0), ("1\u{A0}", 1), ("{\"a\":1}\u{0}", 7),
    ])
    func `malformed text is refused with the offset of the error`(text: String, offset: Int) {
        let error = error(text)
        #expect(error?.kind == .malformed)
        #expect(error?.offset == offset, "\(text): \(String(describing: error))")
        #expect(error?.isMalformed == true)
    }

    @Test(arguments: [
        [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22],
        [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], [0x22, 0x80, 0x22], [0x22, 0x5C, 0x6E, 0x80, 0x22],
        [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D],
    ])
    func `text that is not UTF-8 is refused`(bytes: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSONReader.validate(bytes) }
        #expect(error?.kind == .malformed)
        #expect(error?.detail == "the string is not valid UTF-8")
    }

    @Test func `an error describes the byte, the pointer and the found text`() {
        let error = error(#"{"a/b":[0,{"c~":tru}]}"#)
        #expect(
            error
                == JSONError(kind: .malformed, offset: 19, pointer: "/a~1b/1/c~0", detail: #"expected true, found "}""#)
        )
        #expect(error?.description == #"expected true, found "}", at /a~1b/1/c~0 (byte 19)"#)
        #expect(self.error("[1")?.description == #"expected "," or "]", found the end of the text, at /0 (byte 2)"#)
        #expect(self.error("tru")?.description == "expected true, found the end of the text, at byte 3")
        #expect(self.error("[\u{1}]")?.detail == "expected a value, found byte 0x1")
    }

    @Test func `a base pointer precedes the reader's own pointer`() {
        var reader = JSONReader(Array(#"{"x":true}"#.utf8), pointer: "/events/3")
        let expected = JSONError(
            kind: .mismatch,
            offset: 5,
            pointer: "/events/3/x",
            detail: "expected an integer, found a boolean"
        )
        #expect(throws: expected) { _ = try [String: Int](json: &reader) }
    }

    @Test(arguments: ["null", "true", "1", #""s""#, "[]", "{}"])
    func `a value of another kind is a mismatch`(text: String) throws {
        let bytes = Array(text.utf8)
        let kind = try JSONReader(bytes).peek()
        func check(_ wanted: JSONKind, _ expected: String, _ body: (inout JSONReader) throws -> Void) throws {
            var reader = JSONReader(bytes)
            guard kind != wanted else { return try body(&reader) }
            let error = #expect(throws: JSONError.self) { try body(&reader) }
            #expect(error?.kind == .mismatch)
            #expect(error?.isMalformed == false)
            #expect(error?.detail.hasPrefix("expected \(expected), found ") == true)
        }
        try check(.null, "null") { try $0.null() }
        try check(.bool, "a boolean") { _ = try $0.bool() }
        try check(.number, "an integer") { _ = try $0.integer(Int.self) }
        try check(.number, "a number") { _ = try $0.double() }
        try check(.number, "a number") { _ = try $0.float() }
        try check(.string, "a string") { _ = try $0.string() }
        try check(.array, "an array") { try $0.array { (_, _) throws(JSONError) in } }
        try check(.object, "an object") { try $0.object { (_, _) throws(JSONError) in } }
    }

    @Test func `a mismatch is malformed if the text has no value there`() {
        var reader = JSONReader(Array("?".utf8))
        #expect(reader.mismatch("a colour").kind == .malformed)
        #expect(throws: JSONError(kind: .malformed, offset: 0, detail: #"expected a value, found "?""#)) {
            try reader.null()
        }
    }

    @Test(arguments: [
        ("nonsense", JSONError.Kind.malformed, 1), ("5 x", .malformed, 2), (#"[{"a":1,"a":2}]"#, .duplicateKey, 8),
        ("[5]", .mismatch, 0), ("{", .malformed, 1),
    ])
    func `malformed text after a mismatch is the reported error`(text: String, kind: JSONError.Kind, offset: Int) throws
    {
        let bytes = Array(text.utf8)
        let error = #expect(throws: JSONError.self) { _ = try [String: Int](jsonBytes: bytes) }
        let fault = JSONReader.mostSevereError(of: bytes, after: try #require(error))
        #expect(fault.kind == kind)
        #expect(fault.offset == offset)
    }

    @Test func `a missing key is nil for an optional and an error otherwise`() throws {
        let reader = JSONReader(Array("{}".utf8), pointer: "/p")
        #expect(try reader.absent("a", as: Int?.self) == .some(nil))
        #expect(throws: JSONError(kind: .missing, offset: 0, pointer: "/p", detail: #"the key "a" is missing"#)) {
            _ = try reader.absent("a", as: Int.self)
        }
    }

    @Test(arguments: [
        (JSONError.Kind.malformed, true), (.duplicateKey, true), (.tooDeep, true), (.mismatch, false),
        (.missing, false),
        (.unknownKey, false), (.outOfRange, false),
    ])
    func `only errors of the syntax are malformed`(kind: JSONError.Kind, isMalformed: Bool) {
        #expect(JSONError(kind: kind, detail: "").isMalformed == isMalformed)
    }
}
