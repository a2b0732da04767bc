/// The headers of a message, in order; names are compared by their exact bytes.
///
/// Source: <https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-4.md>
package struct NATSHeaders: Hashable, Sendable {
    /// One header.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    /// The status of the first line, such as 503; nil if there is none.
    package let status: Int?
    /// The text after the status.
    package let description: String
    package private(set) var fields: [Field]

    package init(_ fields: KeyValuePairs<String, String> = [:]) {
        (status, description) = (nil, "")
        self.fields = fields.map { Field(name: $0.key, value: $0.value) }
    }

    /// The first value of a header; nil if there is none.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The value of a header as a number; nil if there is none.
    package func number(_ name: String) -> UInt64? { self[name].flatMap { UInt64($0) } }

    /// The bytes before a message's payload; none without headers.
    package var bytes: [UInt8] {
        guard !fields.isEmpty else { return [] }
        var text = "NATS/1.0\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// Reads the bytes before a payload.
    package init(parsing bytes: ArraySlice<UInt8>) throws(NATSProtocolError) {
        let version = "NATS/1.0"
        guard bytes.starts(with: version.utf8), bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) else {
            throw .malformed("a message's headers have no first or no last line")
        }
        var lines: [ArraySlice<UInt8>] = []
        var rest = bytes.dropLast(4)
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
            guard rest.index(after: end) < rest.endIndex, rest[end + 1] == UInt8(ascii: "\n") else {
                throw .malformed("a header has a CR without LF")
            }
            lines.append(rest[..<end])
            rest = rest[(end + 2)...]
        }
        lines.append(rest)
        let first = Self.trimmed(lines[0].dropFirst(version.utf8.count))
        let digits = first.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        status = Int(String(decoding: digits.prefix(9), as: UTF8.self))
        description = String(decoding: Self.trimmed(first[digits.endIndex...]), as: UTF8.self)
        fields = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
                throw .malformed("a header has no name")
            }
            let value = Self.trimmed(line[line.index(after: colon)...])
            fields.append(
                Field(
                    name: String(decoding: line[..<colon], as: UTF8.self),
                    value: String(decoding: value, as: UTF8.self)
                )
            )
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = bytes.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let last = start.lastIndex(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else {
            return start.prefix(0)
        }
        return start[...last]
    }
}
