import RivuletEventLoop

/// Writes the fields of a message to another node.
///
/// Numbers are unsigned LEB128. Source: <https://protobuf.dev/programming-guides/encoding/>.
struct RelayWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(byte: UInt8) { bytes.append(byte) }

    mutating func add(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func add(count: Int) { add(UInt64(count)) }

    mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func add(_ text: String) {
        add(count: text.utf8.count)
        bytes += text.utf8
    }

    mutating func add(_ content: some Collection<UInt8>) {
        add(count: content.count)
        bytes += content
    }

    mutating func add(_ content: SharedBytes) {
        add(count: content.count)
        content.append(to: &bytes)
    }

    mutating func add(_ text: String?) { add(optional: text) { $0.add($1) } }

    mutating func add<Value>(optional value: Value?, _ body: (inout Self, Value) -> Void) {
        add(value != nil)
        if let value { body(&self, value) }
    }
}

/// Reads the fields of a message, which may be any bytes.
struct RelayReader {
    private let source: ArraySlice<UInt8>
    private var offset: Int

    init(_ bytes: ArraySlice<UInt8>) { (source, offset) = (bytes, bytes.startIndex) }

    var remaining: Int { source.endIndex - offset }

    var isAtEnd: Bool { remaining == 0 }

    mutating func byte() throws(RelayError) -> UInt8 {
        guard offset < source.endIndex else { throw RelayError("a field ends too early, at byte \(offset)") }
        defer { offset += 1 }
        return source[offset]
    }

    mutating func number() throws(RelayError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { break }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw RelayError("the number before byte \(offset) is too long")
    }

    /// Reads a number that is at most `max`.
    mutating func number(atMost max: Int) throws(RelayError) -> Int {
        let number = try number()
        guard number <= UInt64(max) else { throw RelayError("\(number) before byte \(offset) is over \(max)") }
        return Int(number)
    }

    /// Reads the number of things that follow, each of which has at least one byte.
    mutating func count() throws(RelayError) -> Int {
        let number = try number()
        guard number <= UInt64(remaining) else {
            throw RelayError("\(number) things are to follow byte \(offset), but only \(remaining) bytes do")
        }
        return Int(number)
    }

    mutating func flag() throws(RelayError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        case let byte: throw RelayError("the flag before byte \(offset) is \(byte)")
        }
    }

    mutating func bytes() throws(RelayError) -> ArraySlice<UInt8> {
        let count = try count()
        defer { offset += count }
        return source[offset..<offset + count]
    }

    mutating func text() throws(RelayError) -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self) else {
            throw RelayError("the text before byte \(offset) is not UTF-8")
        }
        return text
    }

    mutating func optionalText() throws(RelayError) -> String? {
        try optional { reader throws(RelayError) in try reader.text() }
    }

    mutating func optional<Value>(
        _ body: (inout Self) throws(RelayError) -> Value
    ) throws(RelayError) -> Value? {
        try flag() ? try body(&self) : nil
    }

    mutating func list<Value>(
        _ body: (inout Self) throws(RelayError) -> Value
    ) throws(RelayError) -> [Value] {
        var values: [Value] = []
        // A wrong count must not take memory, so the array grows with its elements.
        for _ in 0..<(try count()) { values.append(try body(&self)) }
        return values
    }

    /// Reads a text that is one of a type's raw values.
    mutating func choice<Choice: RawRepresentable<String>>(of type: Choice.Type) throws(RelayError) -> Choice {
        let text = try text()
        guard let choice = Choice(rawValue: text) else { throw RelayError("there is no \(type) \"\(text)\"") }
        return choice
    }
}

/// The reason why a message of another node cannot be read.
struct RelayError: Error, Hashable, Sendable {
    let detail: String

    init(_ detail: String) { self.detail = detail }
}
