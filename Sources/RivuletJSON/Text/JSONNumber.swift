/// A number in JSON text: its range and its digits.
///
/// Source: RFC 8259 section 6.
struct JSONNumber {
    /// The error of a number that breaks the grammar.
    struct GrammarError: Error {
        let expected: String
        let position: Int
    }

    /// The largest exponent that is kept as it is; with any larger exponent, a number is infinite or zero.
    private static let exponentMax = 1_000_000_000

    /// The powers of ten that a Double holds exactly.
    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    private(set) var range: Range<Int>
    private(set) var isNegative = false
    /// True if there is neither a fraction nor an exponent.
    private(set) var isPlain = true
    /// True if `significand` has all digits.
    private(set) var isExact = true
    /// All digits as one integer, to be multiplied by ten to the power of `exponent`.
    private(set) var significand: UInt64 = 0
    private(set) var exponent = 0

    /// Reads the number that begins at `start`.
    init(scanning bytes: ArraySlice<UInt8>, from start: Int) throws(GrammarError) {
        range = start..<start
        var position = start
        if bytes[position] == UInt8(ascii: "-") {
            isNegative = true
            position += 1
        }
        let integerStart = position
        try scanDigits(of: bytes, at: &position)
        if bytes[integerStart] == UInt8(ascii: "0"), position > integerStart + 1 {
            throw GrammarError(expected: "no digit after a leading zero", position: integerStart + 1)
        }
        if position < bytes.endIndex, bytes[position] == UInt8(ascii: ".") {
            isPlain = false
            position += 1
            let fractionStart = position
            try scanDigits(of: bytes, at: &position)
            exponent = fractionStart - position
        }
        if position < bytes.endIndex, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isPlain = false
            position += 1
            try scanExponent(of: bytes, at: &position)
        }
        range = start..<position
    }

    /// The nearest `Double`, if one multiplication or division of two exact numbers gives it; otherwise nil.
    ///
    /// One operation on exact numbers rounds correctly. Several operations may not.
    var exactDouble: Double? {
        guard isExact, significand <= 1 << 53, exponent.magnitude < Self.exactPowers.count else { return nil }
        let power = Self.exactPowers[Int(exponent.magnitude)]
        let magnitude = exponent < 0 ? Double(significand) / power : Double(significand) * power
        return isNegative ? -magnitude : magnitude
    }

    private mutating func scanDigits(of bytes: ArraySlice<UInt8>, at position: inout Int) throws(GrammarError) {
        let start = position
        while position < bytes.endIndex, let digit = Self.digit(bytes[position]) {
            let product = significand.multipliedReportingOverflow(by: 10)
            let sum = product.partialValue.addingReportingOverflow(UInt64(digit))
            isExact = isExact && !product.overflow && !sum.overflow
            significand = sum.partialValue
            position += 1
        }
        guard position > start else { throw GrammarError(expected: "a digit", position: position) }
    }

    private mutating func scanExponent(of bytes: ArraySlice<UInt8>, at position: inout Int) throws(GrammarError) {
        var isBelowOne = false
        if position < bytes.endIndex, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
            isBelowOne = bytes[position] == UInt8(ascii: "-")
            position += 1
        }
        let start = position
        var power = 0
        while position < bytes.endIndex, let digit = Self.digit(bytes[position]) {
            power = min(power * 10 + Int(digit), Self.exponentMax)
            position += 1
        }
        guard position > start else { throw GrammarError(expected: "a digit", position: position) }
        exponent += isBelowOne ? -power : power
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        let digit = byte &- UInt8(ascii: "0")
        return digit < 10 ? digit : nil
    }
}
