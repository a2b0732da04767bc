import RivuletBase

/// Any JSON value.
///
/// Numbers keep their text, so that none is rounded. Objects keep their order. Equal values have the same number texts
/// and the same order: `1` does not equal `1.0`.
public indirect enum JSONValue: Hashable, Sendable {
    /// One member of an object.
    public struct Member: Hashable, Sendable {
        /// The key.
        public let name: String
        /// The value under the key.
        public let value: JSONValue

        /// Creates a member.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }

        /// Returns true if both have the same key, by its bytes, and equal values.
        public static func == (left: Member, right: Member) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }

        /// Hashes the bytes of the key, and the value.
        public func hash(into hasher: inout Hasher) {
            name.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number as it is written.
    ///
    /// The text must be a JSON number.
    case number(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    ///
    /// The names must differ.
    case object([Member])

    /// Reads a whole JSON text.
    ///
    /// - Throws: ``JSONError`` with the position, always with a true ``JSONError/isMalformed``.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        try self.init(jsonBytes: bytes)
    }

    /// Reads a whole JSON text.
    ///
    /// - Throws: ``JSONError`` with the position, always with a true ``JSONError/isMalformed``.
    public init(parsing text: String) throws(JSONError) {
        try self.init(jsonBytes: Array(text.utf8))
    }

    /// Creates the JSON of a value.
    ///
    /// - Throws: ``JSONError`` if the type's own encoding is not JSON.
    public init(encoding value: some JSONCodable) throws(JSONError) {
        try self.init(jsonBytes: value.jsonBytes())
    }

    /// The value under a key; nil if this is not an object or has no such key.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.hasSameBytes(as: name) }?.value
    }

    /// The element at an index from 0; nil if this is not an array or has no such element.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The value that a pointer leads to; nil if there is none.
    public subscript(pointer: JSONPointer) -> JSONValue? {
        value(at: pointer.tokens[...])
    }

    /// The boolean; nil if this is not a boolean.
    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The string; nil if this is not a string.
    public var stringValue: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The number as an integer; nil if this is not a number, has a fraction or does not fit.
    public var integerValue: Int? {
        guard case .number(let text) = self else { return nil }
        do {
            return try Int(jsonBytes: Array(text.utf8))
        } catch {
            return nil
        }
    }

    /// The number as the nearest Double; nil if this is not a number or does not fit.
    public var doubleValue: Double? {
        guard case .number(let text) = self else { return nil }
        do {
            return try Double(jsonBytes: Array(text.utf8))
        } catch {
            return nil
        }
    }

    /// The elements; nil if this is not an array.
    public var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members in order; nil if this is not an object.
    public var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    private func value(at path: ArraySlice<String>) -> JSONValue? {
        guard let token = path.first else { return self }
        if case .array = self {
            return JSONPointer.index(token).flatMap { self[$0]?.value(at: path.dropFirst()) }
        }
        return self[token]?.value(at: path.dropFirst())
    }
}

extension JSONValue: CustomStringConvertible {
    /// The compact JSON text.
    public var description: String {
        String(decoding: jsonBytes(), as: UTF8.self)
    }
}

extension JSONValue: JSONCodable {
    /// Writes this value.
    public func encodeJSON(into writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .number(let text): writer.raw(Array(text.utf8))
        case .string(let value): writer.string(value)
        case .array(let elements): elements.encodeJSON(into: &writer)
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(member.name)
                member.value.encodeJSON(into: &writer)
            }
            writer.endObject()
        }
    }

    /// Reads any value.
    public init(json reader: inout JSONReader) throws(JSONError) {
        switch try reader.peek() {
        case .null:
            try reader.null()
            self = .null
        case .bool: self = .bool(try reader.bool())
        case .number: self = .number(try reader.numberText())
        case .string: self = .string(try reader.string())
        case .array: self = .array(try [JSONValue](json: &reader))
        case .object:
            var members: [Member] = []
            try reader.object(keepsSpellings: true) { (name, reader) throws(JSONError) in
                members.append(Member(name: name, value: try JSONValue(json: &reader)))
            }
            self = .object(members)
        }
    }

    /// Any value.
    public static var jsonSchema: JSONSchema { .any }

    /// Writes the value that the path leads to.
    public func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        guard let found = value(at: path) else { return false }
        found.encodeJSON(into: &writer)
        return true
    }
}
