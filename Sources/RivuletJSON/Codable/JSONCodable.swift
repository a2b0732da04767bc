/// A type that reads and writes itself as JSON, and describes its JSON, without Foundation.
public protocol JSONCodable {
    /// Writes exactly one value.
    func encodeJSON(into writer: inout JSONWriter)

    /// Reads exactly one value.
    ///
    /// - Throws: ``JSONError`` with the position, for malformed text or a value that this type cannot take.
    init(json reader: inout JSONReader) throws(JSONError)

    /// The JSON Schema of the values that this type writes.
    static var jsonSchema: JSONSchema { get }

    /// Writes the value at `path` below this one.
    ///
    /// An empty path is this value itself.
    ///
    /// Tokens are unescaped, and array indices count from 0. Returns false and writes nothing if there is no such
    /// value.
    func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool

    /// The value that is read if a key is missing; nil if a missing key is an error.
    static var jsonAbsent: Self? { get }
}

extension JSONCodable {
    /// Writes this value if the path is empty, because it has nothing below it.
    public func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        guard path.isEmpty else { return false }
        encodeJSON(into: &writer)
        return true
    }

    /// A missing key is an error.
    public static var jsonAbsent: Self? { nil }

    /// This value as JSON text.
    @inlinable
    public func jsonBytes(includesTransient: Bool = true) -> [UInt8] {
        var writer = JSONWriter(includesTransient: includesTransient)
        encodeJSON(into: &writer)
        return writer.bytes
    }

    /// Reads a whole JSON text.
    ///
    /// - Throws: ``JSONError`` with the position, also if anything but white space follows the value.
    @inlinable
    public init(jsonBytes bytes: [UInt8]) throws(JSONError) {
        var reader = JSONReader(bytes)
        let value = try Self(json: &reader)
        try reader.finish()
        self = value
    }
}
