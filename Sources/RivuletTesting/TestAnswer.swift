public import RivuletJSON

/// The answer to a request of a ``TestClient``.
public struct TestAnswer: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields in their order, with names in lower case.
    public let fields: [(name: String, value: String)]
    /// The content.
    public let body: [UInt8]

    /// The value of the first field with the name, regardless of case; nil if there is no such field.
    public subscript(field name: String) -> String? {
        let name = name.lowercased()
        return fields.first { $0.name == name }?.value
    }

    /// The content as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The content as JSON.
    ///
    /// - Throws: `JSONError` if it is not JSON.
    public func json() throws -> JSONValue { try JSONValue(parsing: body) }

    /// Reads a head, up to the empty line; nil if the bytes are no head.
    init?(head: some Collection<UInt8>) {
        var lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)[
            ...
        ]
        let parts = lines.popFirst()?.split(separator: " ") ?? []
        guard parts.count >= 2, let status = Int(parts[1]) else { return nil }
        self.status = status
        fields = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (line[..<colon].lowercased(), String(value))
        }
        body = []
    }

    /// Creates an answer from its head and its content.
    init(_ head: TestAnswer, body: [UInt8]) {
        status = head.status
        fields = head.fields
        self.body = body
    }
}
