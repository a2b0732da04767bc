public import RivuletJSON

extension Generated {
    /// The functions by which generated code writes and reads fields; the field's type selects the overload.
    ///
    /// Types that are ``JSONCodable`` are written directly as bytes. Types that are only Codable take the slow way
    /// through ``CodableJSON``.
    public enum StateCoding {
        /// The error for a path to a field that does not exist.
        public static func noField(_ name: String, _ reader: JSONReader) -> JSONError {
            reader.error(
                .mismatch,
                "the path of the recorded change has \"\(name)\", but there is no such tracked field"
            )
        }

        /// The error for an operation that only elements of keyed collections support.
        static func noOperation(_ operation: StateChange.Operation, _ reader: JSONReader) -> JSONError {
            reader.error(
                .mismatch,
                "a recorded \"\(operation.rawValue)\" has a path that is not the path of a collection's element"
            )
        }

        /// Reads the new value of a change; the operation must be `replace`.
        static func whole<Value: JSONCodable>(
            _ operation: StateChange.Operation,
            json reader: inout JSONReader
        ) throws(JSONError) -> Value {
            guard operation == .replace else { throw noOperation(operation, reader) }
            return try Value(json: &reader)
        }

        /// Writes the JSON form into an encoder of any format.
        static func encode(_ value: some JSONCodable, to encoder: any Encoder) throws {
            var writer = JSONWriter()
            value.encodeJSON(into: &writer)
            guard !writer.hasUnrepresentableNumber else {
                let detail = "the value has a NaN or an infinity, which JSON cannot represent; write a finite number"
                let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: detail)
                throw EncodingError.invalidValue(value, context)
            }
            try JSONValue(parsing: writer.bytes).encode(to: encoder)
        }
    }
}

// Writing.
extension Generated.StateCoding {
    /// Writes the value at a path below a field; returns false, and writes nothing, if there is no such value.
    public static func write<Value: JSONCodable>(
        _ value: Value,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool {
        value.encodeJSON(at: path, into: &writer)
    }

    /// Writes the value at a path below a field that is only Codable.
    @_disfavoredOverload
    public static func write<Value: Codable>(
        _ value: Value,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool {
        CodableJSON.encode(value, at: path, into: &writer)
    }

    /// Writes the value at a path below a field in a wrapper; an omitted field has no value.
    public static func write<Wrapper: ObservableWrapper>(
        wrapper: Wrapper,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool where Wrapper.WrappedValue: JSONCodable {
        !Wrapper.isOmittedFromCoding && write(wrapper.wrappedValue, at: path, into: &writer)
    }

    /// Writes the value at a path below a field that is only Codable, in a wrapper.
    @_disfavoredOverload
    public static func write<Wrapper: ObservableWrapper>(
        wrapper: Wrapper,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool where Wrapper.WrappedValue: Codable {
        !Wrapper.isOmittedFromCoding && write(wrapper.wrappedValue, at: path, into: &writer)
    }
}

// Reading fields without a default. A function from the state to the storage gives the type, and is never called.
extension Generated.StateCoding {
    /// Returns nil: there is no value yet.
    @inlinable
    public static func absent<State, Value>(_ storage: (State) -> Value) -> Value? { nil }

    /// Returns nil: a field in a wrapper has no value yet.
    @inlinable
    public static func absent<State, Wrapper: ObservableWrapper>(
        wrapper storage: (State) -> Wrapper
    ) -> Wrapper.WrappedValue? { nil }

    /// Reads the members of an object: `body` reads the values it knows and returns true; the other members are
    /// returned.
    public static func members(
        of reader: inout JSONReader,
        _ body: (_ name: String, _ reader: inout JSONReader) throws(JSONError) -> Bool
    ) throws(JSONError) -> [(name: String, value: JSONReader)] {
        var others: [(name: String, value: JSONReader)] = []
        try reader.object { (name, reader) throws(JSONError) in
            if try !body(name, &reader) { others.append((name, try reader.value())) }
        }
        return others
    }

    /// Reads a value.
    @inlinable
    public static func read<Value: JSONCodable>(
        into value: inout Value?,
        from reader: inout JSONReader
    ) throws(JSONError) {
        value = try Value(json: &reader)
    }

    /// Reads a value that is only Codable.
    @_disfavoredOverload
    public static func read<Value: Codable>(
        into value: inout Value?,
        from reader: inout JSONReader
    ) throws(JSONError) {
        value = try CodableJSON.decode(Value.self, from: &reader)
    }

    /// Reads the value of a field in a wrapper; the value of an omitted field is skipped.
    public static func read<State, Wrapper: ObservableWrapper>(
        into value: inout Wrapper.WrappedValue?,
        wrapper storage: (State) -> Wrapper,
        from reader: inout JSONReader
    ) throws(JSONError) where Wrapper.WrappedValue: JSONCodable {
        guard !Wrapper.isOmittedFromCoding else { return try reader.skip() }
        try read(into: &value, from: &reader)
    }

    /// Reads the value of a field that is only Codable, in a wrapper; the value of an omitted field is skipped.
    @_disfavoredOverload
    public static func read<State, Wrapper: ObservableWrapper>(
        into value: inout Wrapper.WrappedValue?,
        wrapper storage: (State) -> Wrapper,
        from reader: inout JSONReader
    ) throws(JSONError) where Wrapper.WrappedValue: Codable {
        guard !Wrapper.isOmittedFromCoding else { return try reader.skip() }
        try read(into: &value, from: &reader)
    }

    /// Returns the value that was read for a field without a default, or the type's value for an absent key.
    ///
    /// - Throws: `missing` if the key is absent and the type has no such value.
    public static func require<Value: JSONCodable>(
        _ value: Value?,
        _ name: String,
        in reader: JSONReader
    ) throws(JSONError) -> Value {
        guard let value = value ?? Value.jsonAbsent else { throw missing(name, reader) }
        return value
    }

    /// Returns the value that was read for a field without a default that is only Codable.
    ///
    /// - Throws: `missing` if there was none.
    @_disfavoredOverload
    public static func require<Value: Codable>(
        _ value: Value?,
        _ name: String,
        in reader: JSONReader
    ) throws(JSONError) -> Value {
        guard let value else { throw missing(name, reader) }
        return value
    }

    /// The error for a missing key that is required.
    static func missing(_ name: String, _ reader: JSONReader) -> JSONError {
        reader.error(.missing, "the key \"\(name)\" is missing, and its field has no default")
    }
}
