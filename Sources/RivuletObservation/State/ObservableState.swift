public import RivuletJSON

/// A struct with fields that are tracked, readable and writable by key path.
///
/// Conform by the macro of the same name, never by hand. Every stored `var` is a tracked field and part of the JSON
/// form, under its own name and in the order of declaration. `let`, computed and static members are neither. Members of
/// the type must write `field`, never the storage `_field`: a write to the storage is not tracked, so it reaches
/// neither clients nor the disk. Codable goes through the JSON form: public names, wrappers checked, omitted fields
/// absent.
public protocol ObservableState: StateNode, Codable, SendableMetatype {
    // swift-format-ignore: NoLeadingUnderscores
    /// The record of the writes to this value, and its observers.
    var _$observationRegistrar: ObservationStateRegistrar { get set }

    // swift-format-ignore: NoLeadingUnderscores
    /// The fields in the order of declaration.
    static var _$fields: [StateField] { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// The position of the field `name` among ``_$fields``; nil if there is no such field.
    static func _$position(of name: String) -> Int?

    // swift-format-ignore: NoLeadingUnderscores
    /// Writes the initial value of the field at a position, as the field's wrapper changed it.
    ///
    /// Returns false, and writes nothing, if there is no initial value.
    static func _$encodeDefault(of position: Int, into writer: inout JSONWriter) -> Bool

    // swift-format-ignore: NoLeadingUnderscores
    /// Passes every field of two values to the collector.
    static func _$collect(from old: Self, to new: Self, into collector: inout Generated.ChangeCollector)

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads the field at a position.
    ///
    /// - Throws: an error of the document, or `mismatch` if the edit's path does not exist.
    mutating func _$edit(
        _ position: Int,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError)

    // swift-format-ignore: NoLeadingUnderscores
    /// Passes every field to a selection, which writes the selected fields.
    func _$encode(_ fields: inout Generated.FieldSelection, into writer: inout JSONWriter)
}

extension Generated {
    /// The way in which JSON is read into a field; generated code passes it on.
    public enum StateEdit: Sendable {
        /// A nested state keeps fields that the document does not mention.
        case merge
        /// A recorded change is applied at the path below the field; an empty path is the field.
        case apply(StateChange.Operation, at: ArraySlice<String>, index: Int?)
    }
}

extension ObservableState {
    // swift-format-ignore: NoLeadingUnderscores
    /// Reads a state from an empty document, and writes the field's value.
    ///
    /// This works only if every field has an initial value. For other states, the macro generates a function.
    public static func _$encodeDefault(of position: Int, into writer: inout JSONWriter) -> Bool {
        do throws(JSONError) {
            var reader = JSONReader(Array("{}".utf8))
            return try Self(json: &reader).encodeField(position, at: [], into: &writer)
        } catch {
            return false
        }
    }

    /// Writes an object of the fields; includes transient fields only if the writer does.
    @inlinable
    public func encodeJSON(into writer: inout JSONWriter) {
        _$observationRegistrar.readWhole()
        writer.beginObject()
        var fields = Generated.FieldSelection()
        _$encode(&fields, into: &writer)
        writer.endObject()
    }

    /// Writes the value at a path of names; returns false, and writes nothing, if there is no such value.
    public func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        guard let name = path.first else {
            encodeJSON(into: &writer)
            return true
        }
        guard let position = Self._$position(of: name) else { return false }
        return encodeField(position, at: path.dropFirst(), into: &writer)
    }

    private func encodeField(_ position: Int, at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        var fields = Generated.FieldSelection(position, at: path)
        _$encode(&fields, into: &writer)
        return fields.isWritten
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Takes the serial of this state's location; no field has been written since then.
    @inlinable
    public mutating func _$enter(_ serial: UInt64) {
        _$observationRegistrar.mark = ChangeMark(serial: serial)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// The node at which this value is observed.
    @inlinable public var _$node: Generated.ObservedNode? { _$observationRegistrar.node }

    // swift-format-ignore: NoLeadingUnderscores
    /// Takes the node at which this value is observed.
    @inlinable
    public mutating func _$observe(at node: Generated.ObservedNode) {
        _$observationRegistrar.node = node
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reports the differing fields if this value carries the serial of its location, or if every field is compared.
    @inlinable
    public static func _$collect(
        from old: Self,
        to new: Self,
        serial: UInt64?,
        into collector: inout Generated.ChangeCollector
    ) -> Bool {
        guard serial == nil || new._$observationRegistrar.mark.serial == serial else { return false }
        collector.walk(Self.self, new._$observationRegistrar.mark, comparesAll: serial == nil) {
            _$collect(from: old, to: new, into: &$0)
        }
        return true
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Merges a partial document into this value and its nested states.
    ///
    /// Fields that the document does not have keep their values.
    public mutating func _$merge(json reader: inout JSONReader) throws(JSONError) {
        try reader.object { (name, reader) throws(JSONError) in
            guard let position = Self._$position(of: name) else { return try reader.unknownKey(name) }
            try _$edit(position, .merge, json: &reader)
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Merges the members of a document into this value.
    public mutating func _$merge(_ members: [(name: String, value: JSONReader)]) throws(JSONError) {
        for (name, value) in members {
            var reader = value
            guard let position = Self._$position(of: name) else {
                try reader.unknownKey(name)
                continue
            }
            try _$edit(position, .merge, json: &reader)
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Applies a recorded change at a path below this value; an empty path is this value itself.
    public mutating func _$apply(
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError) {
        if let name = path.first {
            guard let position = Self._$position(of: name) else { throw Generated.StateCoding.noField(name, reader) }
            try _$edit(position, .apply(operation, at: path.dropFirst(), index: index), json: &reader)
        } else {
            self = try Generated.StateCoding.whole(operation, json: &reader)
        }
    }

    /// An object of the fields; the fields of a nested state are looked up on demand.
    public static var jsonSchema: JSONSchema {
        .object(title: "\(Self.self)", identity: ObjectIdentifier(Self.self)) {
            _$fields.filter { !$0.isOmitted }.map { $0.schemaField(of: Self.self) }
        }
    }

    /// Writes the JSON form into an encoder of any format.
    ///
    /// - Throws: `EncodingError.invalidValue` for a NaN or an infinity, and what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try Generated.StateCoding.encode(self, to: encoder)
    }

    /// Reads the JSON form from a decoder of any format.
    ///
    /// - Throws: what the decoder throws, or ``JSONError`` if the value does not fit this type.
    public init(from decoder: any Decoder) throws {
        try self.init(jsonFrom: decoder)
    }
}
