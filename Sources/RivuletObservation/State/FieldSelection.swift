public import RivuletJSON

extension Generated {
    /// The selection of one walk over the fields of a state: all members of the object, or the value at a path below
    /// one field.
    ///
    /// Generated code passes every field in the order of declaration; the field's type selects the overload.
    public struct FieldSelection {
        /// The position of the only selected field; nil for all fields.
        @usableFromInline let position: Int?
        /// The path below that field.
        @usableFromInline let path: ArraySlice<String>
        /// True if the selected value exists and was written.
        @usableFromInline var isWritten = false

        /// Selects every field.
        @inlinable
        init() {
            position = nil
            path = []
        }

        /// Selects the value at a path below the field at a position.
        init(_ position: Int, at path: ArraySlice<String>) {
            self.position = position
            self.path = path
        }

        /// Writes a field.
        @inlinable
        public mutating func write<Value: JSONCodable>(
            _ position: Int,
            _ name: String,
            _ value: Value,
            into writer: inout JSONWriter
        ) {
            if self.position == nil {
                writer.key(name)
                value.encodeJSON(into: &writer)
            } else if self.position == position {
                isWritten = value.encodeJSON(at: path, into: &writer)
            }
        }

        /// Writes a field that is only Codable.
        @_disfavoredOverload
        public mutating func write<Value: Codable>(
            _ position: Int,
            _ name: String,
            _ value: Value,
            into writer: inout JSONWriter
        ) {
            if self.position == nil {
                writer.key(name)
                CodableJSON.encode(value, into: &writer)
            } else if self.position == position {
                isWritten = CodableJSON.encode(value, at: path, into: &writer)
            }
        }

        /// Writes a field in a wrapper, unless it is omitted.
        @inlinable
        public mutating func write<Wrapper: ObservableWrapper>(
            _ position: Int,
            _ name: String,
            wrapper: Wrapper,
            into writer: inout JSONWriter
        ) where Wrapper.WrappedValue: JSONCodable {
            guard !Wrapper.isOmittedFromCoding else {
                return omit(name, into: &writer) { wrapper.wrappedValue.encodeJSON(into: &$0) }
            }
            write(position, name, wrapper.wrappedValue, into: &writer)
        }

        /// Writes a field that is only Codable, in a wrapper, unless the field is omitted.
        @_disfavoredOverload
        public mutating func write<Wrapper: ObservableWrapper>(
            _ position: Int,
            _ name: String,
            wrapper: Wrapper,
            into writer: inout JSONWriter
        ) where Wrapper.WrappedValue: Codable {
            guard !Wrapper.isOmittedFromCoding else {
                return omit(name, into: &writer) { CodableJSON.encode(wrapper.wrappedValue, into: &$0) }
            }
            write(position, name, wrapper.wrappedValue, into: &writer)
        }

        /// Records that the value has an omitted field, and writes the field if the writer includes omitted fields.
        @usableFromInline
        func omit(_ name: String, into writer: inout JSONWriter, _ value: (inout JSONWriter) -> Void) {
            writer.hasOmittedFields = true
            guard writer.includesOmitted, position == nil else { return }
            writer.key(name)
            value(&writer)
        }
    }
}
