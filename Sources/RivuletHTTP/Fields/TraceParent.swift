/// A W3C trace context: the trace that a request is a part of, and the sender's part in it.
///
/// Source: <https://www.w3.org/TR/trace-context-1/#traceparent-header>
package struct TraceParent: Hashable, Sendable {
    /// The name of the field, in lower case.
    package static let fieldName = "traceparent"
    /// The number of bytes of the four fields of version 00.
    private static let bytes = 55

    private let high: UInt64
    private let low: UInt64
    private let parent: UInt64
    private let isSampled: Bool

    /// Reads the trace context of a request's header lines; nil if there is none, there are several, or it is not
    /// valid.
    package init?(_ headers: HTTPHeaders) {
        guard let value = headers.bytes(of: Self.fieldName) else { return nil }
        guard headers.values(of: Self.fieldName).count == 1 else { return nil }
        self.init(value)
    }

    /// Reads a field value; nil if it is not valid and must be ignored.
    ///
    /// A later version than 00 may have more fields after the four known ones.
    init?(_ value: ArraySlice<UInt8>) {
        let text = Array(value)
        let dash = UInt8(ascii: "-")
        guard text.count >= Self.bytes, text[2] == dash, text[35] == dash, text[52] == dash else { return nil }
        guard let version = Self.number(text[0..<2]), version != 0xFF else { return nil }
        guard text.count == Self.bytes || (version > 0 && text[Self.bytes] == dash) else { return nil }
        guard let high = Self.number(text[3..<19]), let low = Self.number(text[19..<35]), high | low != 0,
            let parent = Self.number(text[36..<52]), parent != 0, let flags = Self.number(text[53..<55])
        else { return nil }
        self.init(high: high, low: low, parent: parent, isSampled: flags & 1 == 1)
    }

    private init(high: UInt64, low: UInt64, parent: UInt64, isSampled: Bool) {
        (self.high, self.low, self.parent, self.isSampled) = (high, low, parent, isSampled)
    }

    /// Makes a new trace.
    package static func random() -> TraceParent {
        TraceParent(
            high: .random(in: 1 ... .max),
            low: .random(in: 0 ... .max),
            parent: .random(in: 1 ... .max),
            isSampled: false
        )
    }

    /// Returns the same trace, with a new part in place of the sender's part.
    package func child() -> TraceParent {
        TraceParent(high: high, low: low, parent: .random(in: 1 ... .max), isSampled: isSampled)
    }

    /// The trace's 32 hexadecimal digits.
    package var traceID: String { Self.digits(high) + Self.digits(low) }

    /// The field's value in version 00; of the flags only "sampled" is passed on.
    package var text: String { "00-\(traceID)-\(Self.digits(parent))-0\(isSampled ? 1 : 0)" }

    /// Parses hexadecimal digits; only lower case is valid.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard let value = ASCII.hexValue(digit), digit == ASCII.lowercased(digit) else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
