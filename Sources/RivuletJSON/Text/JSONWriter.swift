/// Writes compact JSON text into a byte array.
///
/// The writer places commas. The caller must balance braces, brackets and keys, which is not checked. The same calls
/// give the same bytes. Text is UTF-8; only quotes, backslashes and control characters are escaped.
/// Source: RFC 8259.
public struct JSONWriter: Sendable {
    /// The text written so far.
    public private(set) var bytes: [UInt8]

    /// True if transient fields are written: true for state as clients see it, false for data on disk.
    public var includesTransient: Bool

    /// True if a value that JSON cannot represent (NaN, an infinity) was written as `null`; the caller answers 422.
    public private(set) var hasUnrepresentableNumber = false
    /// True if an element of a keyed collection has an id that no URL can contain.
    ///
    /// Its text is valid JSON nevertheless.
    package var hasUnaddressableID = false

    /// True if a value was written without all of its fields, so that equal texts do not mean equal values.
    public var hasOmittedFields = false

    /// True if omitted fields are written too.
    ///
    /// Only for comparisons: such text never leaves the process.
    package var includesOmitted = false

    /// True if equal values have equal texts in every process.
    ///
    /// Unordered content is then written as a canonical text, which cannot be read back.
    package var isCanonical = false

    /// True if unordered content was written as a canonical text.
    package internal(set) var hasOtherText = false

    /// The positions of keyed collections; nil if no caller needs them, which is the usual case.
    package internal(set) var keyedRecords: KeyedRecords?

    /// True if the open container has a value, so that a comma precedes the next value or key.
    private var needsComma = false

    /// Creates a writer with capacity for `capacity` bytes.
    public init(capacity: Int = 256, includesTransient: Bool = true) {
        bytes = []
        if capacity > 0 { bytes.reserveCapacity(capacity) }
        self.includesTransient = includesTransient
    }

    /// Opens an object.
    public mutating func beginObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    /// Closes the innermost object.
    public mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Opens an array.
    public mutating func beginArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Closes the innermost array.
    public mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes a member's name; its value must follow.
    public mutating func key(_ name: String) {
        quote(name, isKey: true)
        needsComma = false
    }

    /// Writes a member's name that is a constant of the program.
    ///
    /// It takes a quarter of the time of ``key(_:)``. The name must need no escape, which is not checked.
    package mutating func key(known name: StaticString) {
        name.withUTF8Buffer { text in unsafe append(quoted: text, isKey: true) }
        needsComma = false
    }

    /// Writes the constant beginning of an object, from its brace to the colon after a name.
    ///
    /// The name's value must follow.
    package mutating func beginObject(known beginning: StaticString) {
        beginning.withUTF8Buffer { text in
            unsafe append(atMost: text.count + 1) { end in unsafe Self.put(text, at: &end) }
        }
        needsComma = false
    }

    /// Writes `null`.
    public mutating func null() {
        literal("null")
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) {
        literal(value ? "true" : "false")
    }

    /// Writes an integer of any size as an exact JSON number.
    @inlinable
    public mutating func integer(_ value: some FixedWidthInteger) {
        if value.bitWidth > 64 {
            literal(String(value))
        } else {
            digits(of: UInt64(truncatingIfNeeded: value.magnitude), isNegative: value < 0)
        }
    }

    /// Writes the shortest number that reads back as the same `Double`; NaN and infinities become `null`.
    public mutating func double(_ value: Double) {
        guard value.isFinite else { return unrepresentable() }
        // Whole numbers below 2^53 are exact integers. A negative zero keeps its sign only in the text form.
        if value.magnitude < 9_007_199_254_740_992, value == value.rounded(.towardZero),
            value != 0 || value.sign == .plus
        {
            digits(of: UInt64(value.magnitude), isNegative: value < 0)
        } else {
            literal(value.description)
        }
    }

    /// Writes the shortest number that reads back as the same `Float`; NaN and infinities become `null`.
    public mutating func float(_ value: Float) {
        guard value.isFinite else { return unrepresentable() }
        // Whole numbers below 2^24 are exact integers.
        if value.magnitude < 16_777_216, value == value.rounded(.towardZero), value != 0 || value.sign == .plus {
            digits(of: UInt64(value.magnitude), isNegative: value < 0)
        } else {
            literal(value.description)
        }
    }

    /// Writes a string.
    public mutating func string(_ value: String) {
        quote(value, isKey: false)
        needsComma = true
    }

    /// The offset at which the text of the next value begins.
    var nextOffset: Int { bytes.count + (needsComma ? 1 : 0) }

    /// Copies one whole value that is JSON text already.
    ///
    /// The text is not checked.
    public mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Copies one whole value that is JSON text already.
    ///
    /// The text is not checked.
    public mutating func raw(_ json: ArraySlice<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Writes `null` for a value that JSON cannot represent, and sets ``hasUnrepresentableNumber``.
    public mutating func unrepresentable() {
        hasUnrepresentableNumber = true
        null()
    }

    /// Returns the written bytes without a copy.
    ///
    /// The writer has no capacity afterwards.
    package mutating func takeBytes() -> [UInt8] {
        defer { removeAll() }
        return exchange(&bytes, with: [])
    }

    /// Reserves this many bytes.
    ///
    /// Does nothing if the capacity suffices.
    package mutating func reserveCapacity(_ capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Removes everything written, so that the writer can be used again.
    public mutating func removeAll(keepingCapacity: Bool = false) {
        if !bytes.isEmpty { bytes.removeAll(keepingCapacity: keepingCapacity) }
        needsComma = false
        hasUnrepresentableNumber = false
        hasUnaddressableID = false
        hasOmittedFields = false
        hasOtherText = false
    }

    /// Writes one whole value: ASCII text that is JSON already.
    ///
    /// The text is not checked.
    @usableFromInline
    package mutating func literal(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    /// Writes a decimal integer.
    @usableFromInline
    mutating func digits(of magnitude: UInt64, isNegative: Bool) {
        let count = Self.digitCount(of: magnitude)
        unsafe append(atMost: count + 2) { end in
            if isNegative { unsafe Self.put(UInt8(ascii: "-"), at: &end) }
            // SAFETY: there is space for this many digits; the last digit is written first.
            unsafe end += count
            var digit = unsafe end
            var rest = magnitude
            while rest >= 10 {
                let tenth = rest / 10
                unsafe digit -= 1
                unsafe digit.initialize(to: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest &- tenth &* 10))
                rest = tenth
            }
            unsafe digit -= 1
            unsafe digit.initialize(to: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest))
        }
        needsComma = true
    }

    /// The number of digits of the largest integer.
    private static let digitsMax = 20

    @inline(__always)
    private static func digitCount(of magnitude: UInt64) -> Int {
        // Most numbers are small.
        if magnitude < 10 { return 1 }
        if magnitude < 100 { return 2 }
        var count = 3
        var bound: UInt64 = 1_000
        while magnitude >= bound, count < digitsMax {
            count &+= 1
            bound &*= 10
        }
        return count
    }

    /// Writes a comma if one is needed, and then the output of `body`.
    ///
    /// There is space for `count` bytes in all.
    @inline(__always)
    private mutating func append(atMost count: Int, _ body: (inout UnsafeMutablePointer<UInt8>) -> Void) {
        let isSeparated = needsComma
        bytes.append(addingCapacity: count) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                guard let start = buffer.baseAddress else { return }
                // SAFETY: the bytes after `count` are free.
                var end = unsafe start + count
                if isSeparated { unsafe Self.put(UInt8(ascii: ","), at: &end) }
                unsafe body(&end)
                unsafe count = end - start
            }
        }
    }

    @inline(__always)
    private static func put(_ byte: UInt8, at end: inout UnsafeMutablePointer<UInt8>) {
        unsafe end.initialize(to: byte)
        unsafe end += 1
    }

    @inline(__always)
    private static func put(_ text: UnsafeBufferPointer<UInt8>, at end: inout UnsafeMutablePointer<UInt8>) {
        guard let first = text.baseAddress else { return }
        // SAFETY: the caller has reserved space for the text.
        unsafe end.initialize(from: first, count: text.count)
        unsafe end += text.count
    }

    /// Writes a text in quotes that needs no escapes, and a colon after it if it is a key.
    @inline(__always)
    private mutating func append(quoted text: UnsafeBufferPointer<UInt8>, isKey: Bool) {
        unsafe append(atMost: text.count + 4) { end in
            unsafe Self.put(UInt8(ascii: "\""), at: &end)
            unsafe Self.put(text, at: &end)
            unsafe Self.put(UInt8(ascii: "\""), at: &end)
            if isKey { unsafe Self.put(UInt8(ascii: ":"), at: &end) }
        }
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    /// Writes the text in quotes, with a comma before it if one is needed, and a colon after it if it is a key.
    private mutating func quote(_ text: String, isKey: Bool) {
        let utf8 = text.utf8
        let span = utf8.span
        guard span.firstEscaped() == span.count else { return quoteEscaping(utf8, isKey: isKey) }
        unsafe span.withUnsafeBufferPointer { text in unsafe append(quoted: text, isKey: isKey) }
    }

    /// Writes a text in quotes that needs escapes.
    private mutating func quoteEscaping(_ utf8: String.UTF8View, isKey: Bool) {
        let span = utf8.span
        separate()
        bytes.append(UInt8(ascii: "\""))
        var run = 0
        while true {
            let offset = span.firstEscaped(from: run)
            append(utf8, run..<offset)
            guard offset < span.count else { break }
            escape(span[offset])
            run = offset + 1
        }
        bytes.append(UInt8(ascii: "\""))
        if isKey { bytes.append(UInt8(ascii: ":")) }
    }

    private mutating func append(_ text: String.UTF8View, _ offsets: Range<Int>) {
        let start = text.index(text.startIndex, offsetBy: offsets.lowerBound)
        bytes.append(contentsOf: text[start..<text.index(start, offsetBy: offsets.count)])
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x00..<0x20:
            let low = byte & 0x0F
            bytes.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")])
            bytes.append(UInt8(ascii: "0") + byte >> 4)
            bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        default: bytes.append(byte)
        }
    }
}
