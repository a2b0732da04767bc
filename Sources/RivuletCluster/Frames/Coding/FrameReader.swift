/// Reads the fields of a frame from bytes, which may be any bytes.
struct FrameReader {
    private let source: [UInt8]
    private(set) var offset: Int
    private let end: Int

    init(_ bytes: [UInt8]) { self.init(bytes, in: 0..<bytes.count) }

    init(_ bytes: [UInt8], in range: Range<Int>) {
        (source, offset, end) = (bytes, range.lowerBound, range.upperBound)
    }

    var remaining: Int { end - offset }

    mutating func byte() throws(FrameError) -> UInt8 {
        guard offset < end else { throw .damaged("a field ends at byte \(offset), before its end") }
        defer { offset += 1 }
        return source[offset]
    }

    mutating func number() throws(FrameError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { break }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                guard byte > 0 || shift == 0 else { break }
                return number
            }
        }
        throw .damaged("the number that ends at byte \(offset) is not written as numbers are")
    }

    /// Reads a number of a narrower type.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) throws(FrameError) -> Number {
        guard let number = Number(exactly: try number()) else {
            throw .damaged("the number that ends at byte \(offset) is too large for its field")
        }
        return number
    }

    mutating func signed() throws(FrameError) -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func signedInt() throws(FrameError) -> Int { Int(try signed()) }

    /// Reads the number of elements, each of which has at least one byte.
    mutating func count() throws(FrameError) -> Int {
        let count = try number()
        guard count <= UInt64(remaining) else {
            throw .damaged("the count \(count) before byte \(offset) is larger than the rest, \(remaining) bytes")
        }
        return Int(count)
    }

    mutating func fixed() throws(FrameError) -> UInt64 {
        var number: UInt64 = 0
        for _ in 0..<8 { number = number << 8 | UInt64(try byte()) }
        return number
    }

    mutating func fixed32() throws(FrameError) -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 { number = number << 8 | UInt32(try byte()) }
        return number
    }

    mutating func bytes() throws(FrameError) -> [UInt8] { try raw(count()) }

    /// Reads this number of bytes.
    mutating func raw(_ count: Int) throws(FrameError) -> [UInt8] { Array(source[try range(of: count)]) }

    mutating func text() throws(FrameError) -> String {
        let range = try range(of: count())
        guard let text = String(validating: source[range], as: UTF8.self) else {
            throw .damaged("the text at byte \(range.lowerBound) is not UTF-8")
        }
        return text
    }

    mutating func flag() throws(FrameError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw .damaged("the flag before byte \(offset) is neither 0 nor 1")
        }
    }

    mutating func optional<Value>(
        _ value: (inout Self) throws(FrameError) -> Value
    ) throws(FrameError) -> Value? {
        try flag() ? try value(&self) : nil
    }

    mutating func optionalText() throws(FrameError) -> String? {
        try optional { reader throws(FrameError) in try reader.text() }
    }

    mutating func list<Element>(
        _ element: (inout Self) throws(FrameError) -> Element
    ) throws(FrameError) -> [Element] {
        let count = try count()
        // The list grows as its elements are read: a damaged count must not take memory.
        var list: [Element] = []
        for _ in 0..<count { list.append(try element(&self)) }
        return list
    }

    /// Takes this number of bytes out, with a reader of their own.
    mutating func part(_ count: Int) throws(FrameError) -> FrameReader { FrameReader(source, in: try range(of: count)) }

    /// Refuses bytes behind the last field.
    func finish() throws(FrameError) {
        guard remaining == 0 else { throw .damaged("\(remaining) bytes from byte \(offset) belong to no field") }
    }

    private mutating func range(of count: Int) throws(FrameError) -> Range<Int> {
        guard count >= 0, count <= remaining else {
            throw .damaged("\(count) bytes from byte \(offset) are wanted, and \(remaining) are left")
        }
        defer { offset += count }
        return offset..<offset + count
    }
}
