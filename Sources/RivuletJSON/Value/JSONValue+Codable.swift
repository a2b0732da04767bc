// This file encodes and decodes JSON values with any other coder.

extension JSONValue: Codable {
    /// Writes this value to any encoder: whole numbers as integers if they fit 64 bits, other numbers as Double.
    ///
    /// - Throws: The error of the encoder, or `EncodingError` for a number that fits neither type.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .number(let text): try Self.encodeNumber(text, to: encoder)
        case .string(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for member in members { try container.encode(member.value, forKey: Name(stringValue: member.name)) }
        }
    }

    /// Reads a value from any decoder.
    ///
    /// Objects have the order of their keys, because decoders have no order.
    ///
    /// - Throws: The error of the decoder, or `DecodingError` for a value that JSON does not have.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Name.self) {
            let names = container.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(
                try names.map { Member(name: $0.stringValue, value: try container.decode(JSONValue.self, forKey: $0)) }
            )
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            self = try Self.scalar(from: decoder.singleValueContainer())
        }
    }

    /// A key that is any text.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }

    private static func encodeNumber(_ text: String, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let value = JSONValue.number(text)
        if let integer = value.integerValue {
            try container.encode(integer)
        } else if let integer = UInt64(text) {
            try container.encode(integer)
        } else if let double = value.doubleValue {
            try container.encode(double)
        } else {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "\(text) is no number that fits 64 bits"
            )
            throw EncodingError.invalidValue(text, context)
        }
    }

    /// Returns the decoder's value as the first scalar type that it can be.
    private static func scalar(from container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Int64.self) { return .number(String(value)) }
        if let value = try? container.decode(UInt64.self) { return .number(String(value)) }
        let value = try container.decode(Double.self)
        guard value.isFinite else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "JSON has no number for \(value)")
        }
        return try JSONValue(encoding: value)
    }
}
