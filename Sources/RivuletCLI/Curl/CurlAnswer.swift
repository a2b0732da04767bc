/// An answer that curl prints: its head, and the part of its body that has arrived.
struct CurlAnswer {
    /// The most bytes that are kept; the rest of a long body is dropped.
    static let bytesMax = 1_048_576

    /// The version of HTTP as the status line has it, such as `HTTP/2`; empty before the head is complete.
    private(set) var version = ""
    /// The status; 0 before the head is complete.
    private(set) var status = 0
    /// The fields, with their names in lower case.
    private(set) var fields: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []

    private var head: [UInt8] = []

    /// True if the head has arrived.
    var hasHead: Bool { status != 0 }
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
    /// True if the answer is a problem document, which the server sends and a proxy does not.
    var isProblem: Bool { self["content-type"]?.hasPrefix("application/problem+json") ?? false }

    /// The values of a field, joined by commas; nil without the field.
    subscript(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Adds bytes of curl's output.
    ///
    /// Interim answers, such as 100, are dropped.
    mutating func receive(_ bytes: [UInt8]) {
        guard !hasHead else { return append(bytes[...]) }
        head += bytes.prefix(Self.bytesMax - min(head.count, Self.bytesMax))
        while !hasHead, let end = Self.end(of: head) {
            let rest = head[end...]
            read(String(decoding: head[..<end], as: UTF8.self))
            head = Array(rest)
        }
        if hasHead {
            append(head[...])
            head = []
        }
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        body += bytes.prefix(Self.bytesMax - min(body.count, Self.bytesMax))
    }

    private mutating func read(_ text: String) {
        let lines = text.split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count >= 2, let number = Int(words[1]), number >= 200 else { return }
        (version, status) = (String(words[0]), number)
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (line[..<colon].lowercased(), String(value))
        }
    }

    /// The index after the first empty line.
    private static func end(of bytes: [UInt8]) -> Int? {
        bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
    }
}
