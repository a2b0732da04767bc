// This file writes and reads the standard library's single values as JSON.

extension Bool: JSONCodable {
    /// Writes `true` or `false`.
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.bool(self)
    }

    /// Reads `true` or `false`.
    public init(json reader: inout JSONReader) throws(JSONError) {
        self = try reader.bool()
    }

    /// A boolean.
    public static var jsonSchema: JSONSchema { .boolean }
}

extension String: JSONCodable {
    /// Writes a string.
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.string(self)
    }

    /// Reads a string.
    public init(json reader: inout JSONReader) throws(JSONError) {
        self = try reader.string()
    }

    /// A string.
    public static var jsonSchema: JSONSchema { .string() }
}

extension Double: JSONCodable {
    /// Writes the shortest number that reads back as this one; NaN and infinities become `null`.
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.double(self)
    }

    /// Reads a number.
    public init(json reader: inout JSONReader) throws(JSONError) {
        self = try reader.double()
    }

    /// A number of format `double`.
    public static var jsonSchema: JSONSchema { .number(format: "double") }
}

extension Float: JSONCodable {
    /// Writes the shortest number that reads back as this one; NaN and infinities become `null`.
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.float(self)
    }

    /// Reads a number.
    public init(json reader: inout JSONReader) throws(JSONError) {
        self = try reader.float()
    }

    /// A number of format `float`.
    public static var jsonSchema: JSONSchema { .number(format: "float") }
}

extension JSONCodable where Self: FixedWidthInteger & Sendable {
    /// Writes an exact number.
    @inlinable
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.integer(self)
    }

    /// Reads a whole number that fits this type.
    @inlinable
    public init(json reader: inout JSONReader) throws(JSONError) {
        self = try reader.integer(Self.self)
    }

    /// An integer with the type's format.
    ///
    /// The schema has only the bounds that a `Double` represents exactly.
    public static var jsonSchema: JSONSchema {
        .integer(
            minimum: bitWidth <= 32 || !isSigned ? Int128(truncatingIfNeeded: min) : nil,
            maximum: bitWidth <= 32 ? Int128(truncatingIfNeeded: max) : nil,
            format: bitWidth <= 64 ? "\(isSigned ? "int" : "uint")\(bitWidth)" : nil
        )
    }
}

extension Int: JSONCodable {}
extension Int8: JSONCodable {}
extension Int16: JSONCodable {}
extension Int32: JSONCodable {}
extension Int64: JSONCodable {}
extension Int128: JSONCodable {}
extension UInt: JSONCodable {}
extension UInt8: JSONCodable {}
extension UInt16: JSONCodable {}
extension UInt32: JSONCodable {}
extension UInt64: JSONCodable {}
extension UInt128: JSONCodable {}

extension JSONCodable where Self: RawRepresentable, RawValue: JSONCodable {
    /// Writes the raw value.
    public func encodeJSON(into writer: inout JSONWriter) {
        rawValue.encodeJSON(into: &writer)
    }

    /// Reads a raw value.
    ///
    /// - Throws: `mismatch`, with the known values, if no value has this raw value.
    public init(json reader: inout JSONReader) throws(JSONError) {
        let offset = reader.offset
        let rawValue = try RawValue(json: &reader)
        guard let value = Self(rawValue: rawValue) else {
            let known = JSONError.known(Self.jsonSchema.knownValues)
            let detail = "there is no \(Self.self) for \(String(reflecting: rawValue))\(known)"
            throw JSONError(kind: .mismatch, offset: offset, pointer: reader.pointer, detail: detail)
        }
        self = value
    }

    /// The raw value's schema.
    public static var jsonSchema: JSONSchema { RawValue.jsonSchema }
}

extension JSONCodable where Self: RawRepresentable & CaseIterable, RawValue == String {
    /// A string that is one of the cases' raw values.
    public static var jsonSchema: JSONSchema { .string(values: allCases.map(\.rawValue)) }
}

extension JSONCodable where Self: RawRepresentable & CaseIterable, RawValue: JSONCodable & FixedWidthInteger {
    /// An integer that is one of the cases' raw values.
    public static var jsonSchema: JSONSchema {
        .integer(values: allCases.map { Int128(truncatingIfNeeded: $0.rawValue) })
    }
}
