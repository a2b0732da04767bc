// This file owns the tests of numbers, read and written.

import RivuletJSON
import SeededRandom
import Testing

struct JSONNumberTests {
    @Test(arguments: [
        ("0", 0), ("-0", 0), ("5", 5), ("-5", -5), ("5.0", 5), ("50e-1", 5), ("5e2", 500), ("0.5e1", 5),
        ("0e999999999", 0),
        ("1.20e1", 12), ("1000000000000000000000e-21", 1), ("9223372036854775807", .max),
        ("-9223372036854775808", .min),
        ("9223372036854775807.000", .max), ("0.000000000000000000000000000000", 0),
        ("1.0000000000000000000000000000000000000000000", 1),
    ])
    func `whole numbers are read in every notation`(text: String, value: Int) throws {
        #expect(try Int(jsonBytes: Array(text.utf8)) == value)
    }

    @Test(arguments: ["0.5", "1.5e0", "15e-1", "1e-1", "1e-999999999999", "123456789012345678901.5"])
    func `a fraction is no integer`(text: String) {
        let expected = JSONError(kind: .mismatch, detail: "expected an integer, found a fraction")
        #expect(throws: expected) { _ = try Int(jsonBytes: Array(text.utf8)) }
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "1e19", "1e999999999",
        "99999999999999999999999999999999999999999",
    ])
    func `an integer that does not fit is out of range`(text: String) {
        let error = #expect(throws: JSONError.self) { _ = try Int(jsonBytes: Array(text.utf8)) }
        #expect(error?.kind == .outOfRange)
    }

    @Test func `each integer type has its own range`() throws {
        func check<Value: JSONCodable & FixedWidthInteger & Sendable>(_ type: Value.Type) throws {
            for value in [Value.min, Value.max, 0, 1] {
                #expect(try Value(jsonBytes: value.jsonBytes()) == value)
            }
            for text in ["\(Value.max)0", "-\(Value.max)0"] {
                let error = #expect(throws: JSONError.self) { _ = try Value(jsonBytes: Array(text.utf8)) }
                #expect(error?.kind == .outOfRange)
            }
        }
        try check(Int8.self)
        try check(Int16.self)
        try check(Int32.self)
        try check(Int64.self)
        try check(Int.self)
        try check(Int128.self)
        try check(UInt8.self)
        try check(UInt16.self)
        try check(UInt32.self)
        try check(UInt64.self)
        try check(UInt.self)
        try check(UInt128.self)
        let below = JSONError(kind: .outOfRange, offset: 1, pointer: "/0", detail: "expected an integer from 0 to 255")
        #expect(throws: below) { _ = try [UInt8](jsonBytes: Array("[-1]".utf8)) }
        #expect(throws: JSONError.self) { _ = try Int8(jsonBytes: Array("-129".utf8)) }
    }

    @Test(arguments: [
        "0", "-0", "0.1", "1e22", "1e23", "1e-22", "1e-23", "9007199254740993", "9007199254740991e22",
        "123456789012345678901234567890",
        "2.2250738585072011e-308", "4.9e-324", "1e-400", "1.7976931348623157e308", "0.000000000000000000000001",
        "179769313486231570000e288",
    ])
    func `doubles are the nearest to their text`(text: String) throws {
        let value = try Double(jsonBytes: Array(text.utf8))
        let expected = try #require(Double(text))
        #expect(value.bitPattern == expected.bitPattern)
    }

    @Test func `floats are rounded once`() throws {
        // As a Double, the number is half way between two floats. The written number is above the middle.
        #expect(try Float(jsonBytes: Array("1.000000059604644775390626".utf8)) == Float(1).nextUp)
        #expect(try Float(jsonBytes: Array("1e-60".utf8)) == 0)
    }

    @Test func `random texts read as the standard library reads them`() throws {
        var random = SeededGenerator(seed: 42)
        for _ in 0..<20_000 {
            let digits = String(
                UInt64.random(in: 0...UInt64.max, using: &random) >> UInt64.random(in: 0..<64, using: &random)
            )
            let text =
                "-\(digits).\(UInt32.random(in: 0...99, using: &random))e\(Int.random(in: -30...30, using: &random))"
            let value = try Double(jsonBytes: Array(text.utf8))
            let expected = try #require(Double(text))
            #expect(value.bitPattern == expected.bitPattern, "\(text)")
        }
    }

    @Test func `random doubles and floats read back with the same bits`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            let double = Double(bitPattern: random.next())
            if double.isFinite {
                #expect(try Double(jsonBytes: double.jsonBytes()).bitPattern == double.bitPattern)
            }
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            if float.isFinite {
                #expect(try Float(jsonBytes: float.jsonBytes()).bitPattern == float.bitPattern)
            }
        }
    }

    @Test func `a number beyond the largest is out of range`() {
        #expect(throws: JSONError(kind: .outOfRange, detail: "the number is too large for a Double")) {
            _ = try Double(jsonBytes: Array("1e400".utf8))
        }
        #expect(
            throws: JSONError(
                kind: .outOfRange,
                offset: 1,
                pointer: "/0",
                detail: "the number is too large for a Float"
            )
        ) {
            _ = try [Float](jsonBytes: Array("[-1e39]".utf8))
        }
    }

    @Test func `a number's own text can be kept`() throws {
        var reader = JSONReader(Array("[1.50e+2]".utf8))
        try reader.array { (_, reader) throws(JSONError) in #expect(try reader.numberText() == "1.50e+2") }
    }
}
