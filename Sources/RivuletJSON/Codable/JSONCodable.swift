/// A type that reads, writes and describes itself as JSON without Foundation.
public protocol JSONCodable {
    /// Writes exactly one value.
    func encodeJSON(into writer: inout JSONWriter)

    /// Reads exactly one value.
    ///
    /// - Throws: ``JSONError`` with the place: malformed text, or a value that this type cannot take.
    init(json reader: inout JSONReader) throws(JSONError)

    /// The JSON Schema of the values that this type writes.
    static var jsonSchema: JSONSchema { get }

    /// Writes the value at `path` below this one; an empty path is this value itself.
    ///
    /// Tokens are unescaped, array indices count from 0. Returns false, with nothing written, when there is no such
    /// value.
    func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool

    /// What a missing key means; nil: it is an error.
    static var jsonAbsent: Self? { get }
}

extension JSONCodable {
    /// Writes this value when the path is empty: it has nothing below it.
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
    /// - Throws: ``JSONError`` with the place, also when anything but white space follows the value.
    @inlinable
    public init(jsonBytes bytes: [UInt8]) throws(JSONError) {
        var reader = JSONReader(bytes)
        let value = try Self(json: &reader)
        try reader.finish()
        self = value
    }
}
