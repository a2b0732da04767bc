// This file owns the tests of the writer: exact bytes.

import RivuletJSON
import Testing

struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `commas are between members and elements only`() {
        let text = text { writer in
            writer.beginObject()
            writer.key("a")
            writer.beginArray()
            writer.integer(1)
            writer.null()
            writer.beginArray()
            writer.endArray()
            writer.beginObject()
            writer.endObject()
            writer.endArray()
            writer.key("b")
            writer.bool(true)
            writer.key("c")
            writer.raw(Array("[1, 2]".utf8))
            writer.key("d")
            writer.raw(Array("xfalse".utf8).dropFirst())
            writer.key("e")
            writer.string("")
            writer.endObject()
        }
        #expect(text == #"{"a":[1,null,[],{}],"b":true,"c":[1, 2],"d":false,"e":""}"#)
    }

    @Test(arguments: [
        ("plain", #""plain""#), ("", #""""#), ("\"", #""\"""#), ("a\"b\\c", #""a\"b\\c""#), ("\\", #""\\""#),
        ("\u{8}\u{C}\n\r\t", #""\b\f\n\r\t""#), ("\u{0}\u{1}\u{1F}x", #""\u0000\u0001\u001fx""#),
        ("/\u{7F}é\u{2028}👍🏽", "\"/\u{7F}é\u{2028}👍🏽\""), ("é\n👍\"", #""é\n👍\"""#),
        (
            "a long text that is not stored inline\n, whichever its end\t",
            #""a long text that is not stored inline\n, whichever its end\t""#
        ),
    ])
    func `strings escape quotes, backslashes and controls only`(value: String, expected: String) {
        #expect(text { $0.string(value) } == expected)
    }

    @Test(arguments: 0..<20)
    func `a character to escape is found at any position`(offset: Int) {
        let before = String(repeating: "é", count: offset / 2) + String(repeating: "!", count: offset % 2)
        for (text, escaped) in [
            ("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("\u{1F}", "\\u001f"), (" #[]\u{7F}", " #[]\u{7F}"),
        ] {
            var writer = JSONWriter()
            writer.string(before + text + before)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\(before)\(escaped)\(before)\"")
        }
    }

    @Test func `key(known:) writes the same bytes as key(_:)`() {
        let (known, other) = (
            text { writer in
                writer.beginObject()
                for _ in 0..<2 {
                    writer.key(known: "version")
                    writer.integer(1)
                }
                writer.endObject()
            },
            text { writer in
                writer.beginObject()
                for _ in 0..<2 {
                    writer.key("version")
                    writer.integer(1)
                }
                writer.endObject()
            }
        )
        #expect(known == other)
    }

    @Test func `keys are escaped as strings are`() {
        let text = text { writer in
            writer.beginObject()
            writer.key("a\"\n/~")
            writer.null()
            writer.endObject()
        }
        #expect(text == #"{"a\"\n/~":null}"#)
    }

    @Test func `integers are exact at their limits`() {
        #expect(text { $0.integer(0) } == "0")
        #expect(text { $0.integer(-7) } == "-7")
        #expect(text { $0.integer(Int8.min) } == "-128")
        #expect(text { $0.integer(Int64.min) } == "-9223372036854775808")
        #expect(text { $0.integer(Int64.max) } == "9223372036854775807")
        #expect(text { $0.integer(UInt64.max) } == "18446744073709551615")
        #expect(text { $0.integer(Int128.min) } == "-170141183460469231731687303715884105728")
        #expect(text { $0.integer(UInt128.max) } == "340282366920938463463374607431768211455")
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "-0.0"), (1.0, "1"), (-3.0, "-3"), (0.1, "0.1"), (-2.5, "-2.5"), (1e16, "1e+16"),
        (9_007_199_254_740_991.0, "9007199254740991"), (9_007_199_254_740_992.0, "9007199254740992.0"),
        (.leastNonzeroMagnitude, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
        (0.30000000000000004, "0.30000000000000004"),
    ])
    func `doubles are written as their shortest text`(value: Double, expected: String) {
        #expect(text { $0.double(value) } == expected)
    }

    @Test func `floats are written as their own shortest text`() {
        #expect(text { $0.float(0.1) } == "0.1")
        #expect(text { $0.float(16_777_215) } == "16777215")
        #expect(text { $0.float(3.4028235e38) } == "3.4028235e+38")
        #expect(text { $0.float(-0.0) } == "-0.0")
    }

    @Test func `numbers that JSON cannot carry are written as null and reported`() {
        var writer = JSONWriter()
        writer.beginArray()
        writer.double(1.5)
        #expect(!writer.hasUnrepresentableNumber)
        writer.double(.nan)
        #expect(writer.hasUnrepresentableNumber)
        writer.double(-.infinity)
        writer.float(.infinity)
        writer.unrepresentable()
        writer.endArray()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[1.5,null,null,null,null]")
    }

    @Test func `an emptied writer writes a new text`() {
        var writer = JSONWriter(capacity: 8, includesTransient: false)
        writer.double(.nan)
        writer.removeAll(keepingCapacity: true)
        #expect(writer.bytes.isEmpty)
        #expect(!writer.hasUnrepresentableNumber)
        #expect(!writer.includesTransient)
        writer.bool(false)
        #expect(writer.bytes == Array("false".utf8))
    }
}
