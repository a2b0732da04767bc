// This file reads null, booleans, strings and numbers.

extension JSONReader {
    /// Reads `null`.
    ///
    /// - Throws: `mismatch` for another value, `malformed` for no value.
    public mutating func null() throws(JSONError) {
        guard try peek() == .null else { throw mismatch("null") }
        try literal("null")
    }

    /// Reads `true` or `false`.
    ///
    /// - Throws: `mismatch` for another value, `malformed` for no value.
    public mutating func bool() throws(JSONError) -> Bool {
        guard try peek() == .bool else { throw mismatch("a boolean") }
        skipWhiteSpace()
        let isTrue = bytes[position] == UInt8(ascii: "t")
        try literal(isTrue ? "true" : "false")
        return isTrue
    }

    /// Reads a string.
    ///
    /// - Throws: `mismatch` for another value, `malformed` for no value or an invalid string.
    public mutating func string() throws(JSONError) -> String {
        guard try peek() == .string else { throw mismatch("a string") }
        skipWhiteSpace()
        return try scanString()
    }

    /// Reads a whole number in any notation: `5`, `5.0` and `50e-1` are the same.
    ///
    /// - Throws: `mismatch` for another value or a fraction, `outOfRange` if the type cannot hold the number,
    ///   `malformed` for no value.
    @inlinable
    public mutating func integer<Value: FixedWidthInteger & Sendable>(
        _ type: Value.Type = Value.self
    ) throws(JSONError) -> Value {
        let number = try wholeNumber()
        if let magnitude = Value.Magnitude(exactly: number.magnitude) {
            if !number.isNegative {
                if let value = Value(exactly: magnitude) { return value }
            } else if magnitude <= Value.min.magnitude {
                return 0 &- Value(truncatingIfNeeded: magnitude)
            }
        }
        throw error(.outOfRange, "expected an integer from \(Value.min) to \(Value.max)", at: number.position)
    }

    /// Reads a number as the nearest `Double`.
    ///
    /// - Throws: `mismatch` for another value, `outOfRange` for a number that is too large, `malformed` for no value.
    public mutating func double() throws(JSONError) -> Double {
        let number = try number(expected: "a number")
        if let value = number.exactDouble { return value }
        guard let value = Double(text(of: number)), value.isFinite else {
            throw error(.outOfRange, "the number is too large for a Double", at: number.range.lowerBound)
        }
        return value
    }

    /// Reads a number as the nearest `Float`.
    ///
    /// - Throws: `mismatch` for another value, `outOfRange` for a number that is too large, `malformed` for no value.
    public mutating func float() throws(JSONError) -> Float {
        let number = try number(expected: "a number")
        guard let value = Float(text(of: number)), value.isFinite else {
            throw error(.outOfRange, "the number is too large for a Float", at: number.range.lowerBound)
        }
        return value
    }

    /// Reads a number as it is written.
    ///
    /// - Throws: `mismatch` for another value, `malformed` for no value.
    public mutating func numberText() throws(JSONError) -> String {
        text(of: try number(expected: "a number"))
    }

    mutating func skipNumber() throws(JSONError) {
        _ = try number(expected: "a number")
    }

    @usableFromInline
    mutating func wholeNumber() throws(JSONError) -> (magnitude: UInt128, isNegative: Bool, position: Int) {
        let number = try number(expected: "an integer")
        let start = number.range.lowerBound
        if number.isPlain, number.isExact { return (UInt128(number.significand), number.isNegative, start) }
        // The digits without the zeros at both ends, and the power of ten by which they are multiplied.
        var digits = bytes[number.range].prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter { $0 >= UInt8(ascii: "0") }
        var exponent = number.exponent
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        guard !significant.isEmpty else { return (0, number.isNegative, start) }
        guard exponent >= 0 else { throw error(.mismatch, "expected an integer, found a fraction", at: start) }
        var magnitude: UInt128 = 0
        var overflows = significant.count + exponent > 39
        for index in 0..<(overflows ? 0 : significant.count + exponent) {
            let digit = index < significant.count ? significant[significant.startIndex + index] & 0x0F : 0
            let product = magnitude.multipliedReportingOverflow(by: 10)
            let sum = product.partialValue.addingReportingOverflow(UInt128(digit))
            overflows = overflows || product.overflow || sum.overflow
            magnitude = sum.partialValue
        }
        guard !overflows else { throw error(.outOfRange, "the number is too large for any integer type", at: start) }
        return (magnitude, number.isNegative, start)
    }

    private mutating func number(expected: String) throws(JSONError) -> JSONNumber {
        guard try peek() == .number else { throw mismatch(expected) }
        skipWhiteSpace()
        let number: JSONNumber
        do {
            number = try JSONNumber(scanning: bytes, from: position)
        } catch {
            throw unexpected(error.expected, at: error.position)
        }
        position = number.range.upperBound
        return number
    }

    private func text(of number: JSONNumber) -> String {
        String(decoding: bytes[number.range], as: UTF8.self)
    }

    private mutating func literal(_ text: StaticString) throws(JSONError) {
        skipWhiteSpace()
        for byte in text.description.utf8 {
            guard position < bytes.endIndex, bytes[position] == byte else { throw unexpected("\(text)", at: position) }
            position += 1
        }
    }
}
