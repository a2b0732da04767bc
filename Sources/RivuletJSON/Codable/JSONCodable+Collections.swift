// This file writes and reads optionals, arrays and dictionaries as JSON.

import RivuletBase

extension Optional: JSONCodable where Wrapped: JSONCodable {
    /// Writes the wrapped value, or `null`.
    @inlinable
    public func encodeJSON(into writer: inout JSONWriter) {
        if let self {
            self.encodeJSON(into: &writer)
        } else {
            writer.null()
        }
    }

    /// Reads `null` as nil, anything else as the wrapped type.
    @inlinable
    public init(json reader: inout JSONReader) throws(JSONError) {
        if try reader.peek() == .null {
            try reader.null()
            self = nil
        } else {
            self = try Wrapped(json: &reader)
        }
    }

    /// The wrapped type's schema, or null.
    public static var jsonSchema: JSONSchema { .optional(Wrapped.jsonSchema) }

    /// Writes the value at the path below the wrapped value; the empty path is this value.
    public func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        guard !path.isEmpty else {
            encodeJSON(into: &writer)
            return true
        }
        return self?.encodeJSON(at: path, into: &writer) ?? false
    }

    /// A missing key means nil.
    public static var jsonAbsent: Wrapped?? { .some(nil) }
}

extension Array: JSONCodable where Element: JSONCodable {
    /// Writes an array.
    @inlinable
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.beginArray()
        for element in self { element.encodeJSON(into: &writer) }
        writer.endArray()
    }

    /// Reads an array.
    @inlinable
    public init(json reader: inout JSONReader) throws(JSONError) {
        var elements: [Element] = []
        try reader.array { (_, reader) throws(JSONError) in
            elements.append(try Element(json: &reader))
        }
        self = elements
    }

    /// An array of the element's schema.
    public static var jsonSchema: JSONSchema { .array(Element.jsonSchema) }

    /// Writes the value at the path; the path's first token is an index, digits without a leading zero.
    public func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        guard let token = path.first else {
            encodeJSON(into: &writer)
            return true
        }
        guard let index = JSONPointer.index(token), index < count else { return false }
        return self[index].encodeJSON(at: path.dropFirst(), into: &writer)
    }
}

extension Dictionary: JSONCodable where Key == String, Value: JSONCodable {
    /// Writes an object with its keys in order, so that equal dictionaries give equal bytes.
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.beginObject()
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            writer.key(key)
            value.encodeJSON(into: &writer)
        }
        writer.endObject()
    }

    /// Reads an object of any keys.
    ///
    /// No two keys may be spellings of the same key.
    public init(json reader: inout JSONReader) throws(JSONError) {
        var members: [String: Value] = [:]
        try reader.object { (key, reader) throws(JSONError) in
            members[key] = try Value(json: &reader)
        }
        self = members
    }

    /// An object of any keys with the value's schema.
    public static var jsonSchema: JSONSchema { .dictionary(Value.jsonSchema) }

    /// Writes the value at the path; the path's first token is a key.
    public func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        guard let key = path.first else {
            encodeJSON(into: &writer)
            return true
        }
        // A key with another spelling is another key.
        guard let index = index(forKey: key), self[index].key.hasSameBytes(as: key) else { return false }
        return self[index].value.encodeJSON(at: path.dropFirst(), into: &writer)
    }
}
