/// Receives the fields of a frame in their order.
///
/// Numbers are unsigned LEB128 with the fewest bytes. Signed numbers are mapped to unsigned ones first (zigzag), so
/// that small numbers are short. Hashes and random numbers have a fixed width, the highest byte first.
/// Source: <https://protobuf.dev/programming-guides/encoding/>
protocol FrameSink {
    mutating func add(byte: UInt8)
    mutating func add(raw bytes: [UInt8])
    mutating func add(raw text: Substring.UTF8View)
}

extension FrameSink {
    mutating func add(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            add(byte: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        add(byte: UInt8(rest))
    }

    mutating func add(signed number: Int64) {
        add(UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    mutating func add(count: Int) { add(UInt64(count)) }

    /// Adds eight bytes.
    mutating func add(fixed number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            add(byte: UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Adds four bytes.
    mutating func add(fixed32 number: UInt32) {
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            add(byte: UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func add(_ bytes: [UInt8]) {
        add(count: bytes.count)
        add(raw: bytes)
    }

    mutating func add(_ text: String) {
        add(count: text.utf8.count)
        add(raw: Substring(text).utf8)
    }

    mutating func add(_ flag: Bool) { add(byte: flag ? 1 : 0) }

    /// Adds a byte that tells if there is a value, and the value.
    mutating func add<Value>(optional value: Value?, _ addValue: (inout Self, Value) -> Void) {
        add(value != nil)
        if let value { addValue(&self, value) }
    }

    mutating func add(optional text: String?) { add(optional: text) { $0.add($1) } }
}

/// Keeps the bytes.
struct FrameWriter: FrameSink {
    private(set) var bytes: [UInt8] = []

    init(reserving byteCount: Int) { bytes.reserveCapacity(byteCount) }

    mutating func add(byte: UInt8) { bytes.append(byte) }

    mutating func add(raw bytes: [UInt8]) { self.bytes.append(contentsOf: bytes) }

    mutating func add(raw text: Substring.UTF8View) { bytes.append(contentsOf: text) }
}

/// Counts the bytes, so that a frame is filled without writing its operations twice.
struct FrameCounter: FrameSink {
    private(set) var byteCount = 0

    mutating func add(byte: UInt8) { byteCount += 1 }

    mutating func add(raw bytes: [UInt8]) { byteCount += bytes.count }

    mutating func add(raw text: Substring.UTF8View) { byteCount += text.count }
}
